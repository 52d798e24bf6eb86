//! rocBLAS's C functions over cuBLAS, which is found at run time: the rocBLAS of the platform hip-nvidia.
//!
//! rocblas-safe uses this crate if its feature `nvidia` is on; C's functions are in [`library()`]'s table.
//!
//! ```
//! match hip_nvidia_rocblas::library() {
//!     Ok(rocblas) => println!("{}, as rocBLAS {} does it", rocblas.library().display(), rocblas.version()),
//!     Err(missing) => println!("{missing}"),
//! }
//! ```
//!
//! cuBLAS takes HIP's device pointers unchanged. A call checks its arguments as rocBLAS does, makes its handle's device current and
//! calls cuBLAS once, or cuBLASLt for products of f16 and bf16 that sum in f32. A function that cuBLAS lacks returns `not_implemented`. `COVERAGE.md` of rocblas-safe lists those, and
//! `docs/platforms/nvidia.md` lists the differences.

mod above;
mod adapt;
mod check;
mod convert;
mod ex;
mod functions;
mod gemm;
mod gemm_ex;
mod gemv;
mod half_vectors;
mod handle;
mod held;
mod hgemm;
mod level1;
mod level2;
mod level3;
mod library;
mod move_matrix;
mod proof;
mod rotg;
mod scalar;
mod settings;
mod table;
mod trsm_ex;

pub use above::{Above, with_handle};
pub use hip_nvidia::library::serves;

use hip_sys::{LoadError, Rocblas, RocblasTable, Version};

/// The version of rocBLAS whose behaviour this follows.
const VERSION: Version = Version { major: 4, minor: 4, patch: 0 };

/// The library. A function that it lacks returns `rocblas_status_not_implemented`.
///
/// # Errors
/// As [`hip_nvidia::platform`], and [`LoadError::NotFound`] with the names that were tried if there is no cuBLAS.
pub fn library() -> Result<Rocblas, LoadError> {
    let file = library::open()?.file().to_path_buf();
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    Ok(unsafe { Rocblas::from_table(VERSION, file, functions()) })
}

fn functions() -> RocblasTable {
    let mut table = RocblasTable::not_implemented();
    settings::fill(&mut table);
    gemm::fill(&mut table);
    gemm_ex::fill(&mut table);
    hgemm::fill(&mut table);
    level1::fill(&mut table);
    rotg::fill(&mut table);
    level2::fill(&mut table);
    gemv::fill(&mut table);
    level3::fill(&mut table);
    ex::fill(&mut table);
    half_vectors::fill(&mut table);
    trsm_ex::fill(&mut table);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use hip_sys::rocblas::{rocblas_datatype, rocblas_gemm_algo, rocblas_operation, rocblas_status};
    use std::ffi::CStr;
    use std::ptr::{null, null_mut};

    const HANDLE: rocblas_status = rocblas_status::rocblas_status_invalid_handle;
    const NONE: rocblas_operation = rocblas_operation::rocblas_operation_none;
    const F32: rocblas_datatype = rocblas_datatype::rocblas_datatype_f32_r;

    #[test]
    fn a_handle_that_was_never_made_is_refused_first() {
        let table = functions();
        let (x, y) = (null(), null_mut());
        let standard = rocblas_gemm_algo::rocblas_gemm_algo_standard;
        // SAFETY: S1: none of the calls gets further than the handle.
        unsafe {
            let handle = null_mut();
            assert_eq!((table.rocblas_destroy_handle)(handle), HANDLE);
            assert_eq!((table.rocblas_create_handle)(null_mut()), HANDLE);
            assert_eq!((table.rocblas_set_stream)(handle, null_mut()), HANDLE);
            assert_eq!((table.rocblas_set_workspace)(handle, null_mut(), 0), HANDLE);
            assert!(!(table.rocblas_is_managing_device_memory)(handle));
            assert_eq!((table.rocblas_saxpy)(handle, 1, x, x, 1, y, 1), HANDLE);
            assert_eq!((table.rocblas_saxpy_64.get().unwrap())(handle, 1, x, x, 1, y, 1), HANDLE);
            assert_eq!((table.rocblas_snrm2_strided_batched)(handle, 1, x, 1, 1, 1, y), HANDLE);
            assert_eq!((table.rocblas_srotg)(handle, y, y, y, y), HANDLE);
            assert_eq!((table.rocblas_sgemv)(handle, NONE, 1, 1, x, x, 1, x, 1, x, y, 1), HANDLE);
            assert_eq!((table.rocblas_sgemm)(handle, NONE, NONE, 1, 1, 1, x, x, 1, x, 1, x, y, 1), HANDLE);
            let (a, c) = (null(), null_mut());
            assert_eq!((table.rocblas_hgemm)(handle, NONE, NONE, 1, 1, 1, a, a, 1, a, 1, a, c, 1), HANDLE);
            let (a, d) = (null(), null_mut());
            let answer = (table.rocblas_gemm_ex)(
                handle, NONE, NONE, 1, 1, 1, a, a, F32, 1, a, F32, 1, a, a, F32, 1, d, F32, 1, F32, standard,
                0, 0,
            );
            assert_eq!(answer, HANDLE);
            assert_eq!((table.rocblas_dot_ex)(handle, 1, a, F32, 1, a, F32, 1, d, F32, F32), HANDLE);
        }
    }

    #[test]
    fn functions_that_cublas_lacks_are_not_implemented() {
        let table = functions();
        // SAFETY: S1: a function of the table's that only answers.
        let answer = unsafe { (table.rocblas_saxpy_batched)(null_mut(), 1, null(), null(), 1, null(), 1, 1) };
        assert_eq!(answer, rocblas_status::rocblas_status_not_implemented);
        assert!(!table.rocblas_saxpy_batched_64.is_present());
        assert!(table.rocblas_strsm_batched_64.is_present() && table.rocblas_set_math_mode.is_present());
    }

    #[test]
    fn statuses_have_names() {
        let table = functions();
        let name = |number| {
            // SAFETY: S1: a number; the text lives as long as the program.
            unsafe { CStr::from_ptr((table.rocblas_status_to_string)(rocblas_status(number))) }
        };
        assert_eq!(name(3), c"rocblas_status_invalid_pointer");
        assert_eq!(name(99), c"<undefined rocblas_status value>");
    }
}
