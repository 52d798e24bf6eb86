//! rocSOLVER's C functions on the threads of the CPU: the rocSOLVER of the platform hip-host.
//!
//! rocsolver-safe uses this crate if its feature `host` is on; C's functions are in [`library()`]'s table. They take the handles of
//! hip-host-rocblas.
//!
//! ```
//! use hip_sys::hip::hipMemcpyKind;
//! use hip_sys::rocblas::rocblas_status;
//! use std::ptr::null_mut;
//!
//! let hip = hip_host::platform();
//! let (blas, solver) = (hip_host_rocblas::library(), hip_host_rocsolver::library());
//! // [[4, 2], [2, 10]], of which the lower triangle is read.
//! let (mut handle, mut memory, mut matrix) = (null_mut(), null_mut(), [4.0_f32, 2.0, 0.0, 10.0]);
//! let lower = hip_sys::rocblas::rocblas_fill::rocblas_fill_lower;
//! // SAFETY: S1, S11: live out-pointers, memory of four numbers and of `info` behind them, and a handle that is destroyed last.
//! unsafe {
//!     let hip = hip.hip();
//!     assert_eq!((hip.hipMalloc)(&mut memory, 20).0, 0);
//!     assert_eq!((hip.hipMemcpy)(memory, matrix.as_ptr().cast(), 16, hipMemcpyKind::hipMemcpyHostToDevice).0, 0);
//!     assert_eq!((blas.table().rocblas_create_handle)(&mut handle), rocblas_status::rocblas_status_success);
//!     let info = memory.cast::<i32>().add(4);
//!     let done = (solver.table().rocsolver_spotrf)(handle, lower, 2, memory.cast(), 2, info);
//!     assert_eq!(done, rocblas_status::rocblas_status_success);
//!     assert_eq!((hip.hipMemcpy)(matrix.as_mut_ptr().cast(), memory, 16, hipMemcpyKind::hipMemcpyDeviceToHost).0, 0);
//!     (blas.table().rocblas_destroy_handle)(handle);
//!     (hip.hipFree)(memory);
//! }
//! assert_eq!(matrix, [2.0, 1.0, 0.0, 3.0]);
//! ```
//!
//! A function works on a copy of each matrix and stores the results. Factors are those of LAPACK's unblocked algorithms; eigenvalues and
//! singular values come from the crate faer. The members of a batch are computed one after another, on one thread.
#![allow(clippy::too_many_arguments, reason = "LAPACK's arguments")]

mod call;
mod cholesky;
mod lu;
mod matrix;
mod qr;
mod scalar;
mod solver;
mod spectral;

pub use hip_host::library::serves;

use hip_sys::rocblas::rocblas_status;
use hip_sys::{Rocsolver, RocsolverTable, Version, provider};
use std::ffi::c_char;

/// The version of rocSOLVER whose behaviour this follows.
const VERSION: Version = Version { major: 3, minor: 32, patch: 0 };

/// The library.
pub fn library() -> Rocsolver {
    let table =
        RocsolverTable { rocsolver_get_version_string, ..provider::rocsolver_table::<solver::Host>() };
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    unsafe { Rocsolver::from_table(VERSION, "hip-host".into(), table) }
}

unsafe extern "C" fn rocsolver_get_version_string(out: *mut c_char, len: usize) -> rocblas_status {
    // SAFETY: S11: the caller's buffer has `len` bytes.
    unsafe { provider::give_version(c"3.32.0.hip-host", out, len) }
}
