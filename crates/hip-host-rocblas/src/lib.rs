//! rocBLAS's C functions on the threads of the CPU: the rocBLAS of the platform hip-host.
//!
//! rocblas-safe uses this crate if its feature `host` is on; C's functions are in [`library()`]'s table.
//!
//! ```
//! use hip_sys::hip::hipMemcpyKind;
//! use hip_sys::rocblas::rocblas_status;
//! use std::ptr::null_mut;
//!
//! let hip = hip_host::platform();
//! let blas = hip_host_rocblas::library();
//! let (mut handle, mut x, mut norm, numbers) = (null_mut(), null_mut(), 0.0_f32, [3.0_f32, -3.0]);
//! let to_device = hipMemcpyKind::hipMemcpyHostToDevice;
//! // SAFETY: S1, S11: live variables, memory of two floats that are set, and a handle that is destroyed last.
//! unsafe {
//!     assert_eq!((hip.hip().hipMalloc)(&mut x, 8).0, 0);
//!     assert_eq!((hip.hip().hipMemcpy)(x, numbers.as_ptr().cast(), 8, to_device).0, 0);
//!     let table = blas.table();
//!     assert_eq!((table.rocblas_create_handle)(&mut handle), rocblas_status::rocblas_status_success);
//!     assert_eq!((table.rocblas_sasum)(handle, 2, x.cast(), 1, &mut norm), rocblas_status::rocblas_status_success);
//!     (table.rocblas_destroy_handle)(handle);
//!     (hip.hip().hipFree)(x);
//! }
//! assert_eq!(norm, 6.0);
//! ```
//!
//! A function checks its arguments as rocBLAS does, looks up its operands' memory, and submits one operation to its handle's
//! stream. The addresses in a batch's array are looked up when the operation runs. An invalid one is a device error, as
//! on a GPU. Sums of f16 and bf16 are computed in f32 and rounded once.
#![allow(clippy::too_many_arguments, reason = "BLAS's arguments")]

mod c;
mod check;
mod handle;
mod level1;
mod level2;
mod level3;
mod operand;
mod parallel;
mod scalar;
pub mod sums;

pub use hip_host::library::serves;

use hip_host::library::Uses;
use hip_sys::rocblas::{rocblas_handle, rocblas_status};
use hip_sys::{Rocblas, RocblasTable, Version};

/// The version of rocBLAS whose behaviour this follows.
const VERSION: Version = Version { major: 4, minor: 4, patch: 0 };

/// Submits a call of a library that takes rocBLAS's handles, such as rocSOLVER: `body` runs in the order of the handle's stream.
///
/// # Errors
/// The status that the library's function returns: the handle is none, or [`Uses::submit`] failed. `rocblas_status_size_unchanged` if the
/// handle is asked for sizes of workspaces: no call needs one.
///
/// # Safety
/// As [`Uses::submit`].
pub unsafe fn submit(
    handle: rocblas_handle,
    name: &'static str,
    uses: Uses,
    body: impl Fn() + Send + Sync + 'static,
) -> Result<(), rocblas_status> {
    let call = handle::begin(handle, name)?;
    let act = move || {
        body();
        Ok(())
    };
    // SAFETY: S11: the caller vouches for the body.
    unsafe { call.submit(uses, Box::new(act)) }
}

/// The library. A function that it lacks returns `rocblas_status_not_implemented`.
pub fn library() -> Rocblas {
    let mut table = RocblasTable::not_implemented();
    c::fill(&mut table);
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    unsafe { Rocblas::from_table(VERSION, "hip-host".into(), table) }
}
