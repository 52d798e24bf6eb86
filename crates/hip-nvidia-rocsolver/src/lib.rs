//! rocSOLVER's C functions over cuSOLVER, which is found at run time: the rocSOLVER of the platform hip-nvidia.
//!
//! rocsolver-safe uses this crate if its feature `nvidia` is on; C's functions are in [`library()`]'s table.
//!
//! ```
//! match hip_nvidia_rocsolver::library() {
//!     Ok(rocsolver) => println!("{}, as rocSOLVER {} does it", rocsolver.library().display(), rocsolver.version()),
//!     Err(missing) => println!("{missing}"),
//! }
//! ```
//!
//! The functions take the handles of hip-nvidia-rocblas, their streams and workspaces. Each calls cuSOLVER's dense function for every member of
//! a batch, one after the other. cuSOLVER has no `getri`, `gels` and `gesvd` of a matrix with more columns than rows: these are several calls of
//! cuSOLVER and cuBLAS, with memory of the driver's pool.
#![allow(clippy::too_many_arguments, reason = "LAPACK's arguments")]

mod blas;
mod call;
mod compound;
mod functions;
mod library;
mod solver;

pub use hip_nvidia::library::serves;

use hip_sys::rocblas::rocblas_status;
use hip_sys::{LoadError, Rocsolver, RocsolverTable, Version, provider};
use std::ffi::c_char;

/// The version of rocSOLVER whose behaviour this follows.
const VERSION: Version = Version { major: 3, minor: 32, patch: 0 };

/// The library. A function that it lacks returns `rocblas_status_not_implemented`.
///
/// # Errors
/// As [`hip_nvidia::platform`], and [`LoadError::NotFound`] with the names that were tried if there is no cuSOLVER.
pub fn library() -> Result<Rocsolver, LoadError> {
    let file = library::open()?.file().to_path_buf();
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    Ok(unsafe { Rocsolver::from_table(VERSION, file, functions()) })
}

fn functions() -> RocsolverTable {
    RocsolverTable { rocsolver_get_version_string, ..provider::rocsolver_table::<solver::Nvidia>() }
}

unsafe extern "C" fn rocsolver_get_version_string(out: *mut c_char, len: usize) -> rocblas_status {
    // SAFETY: S11: the caller's buffer has `len` bytes.
    unsafe { provider::give_version(c"3.32.0.hip-nvidia", out, len) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    #[test]
    fn a_handle_that_was_never_made_is_refused() {
        let table = functions();
        // SAFETY: S1: the call gets no further than the handle.
        let status =
            unsafe { (table.rocsolver_dgetrf)(null_mut(), 1, 1, null_mut(), 1, null_mut(), null_mut()) };
        assert_eq!(status, rocblas_status::rocblas_status_invalid_handle);
    }
}
