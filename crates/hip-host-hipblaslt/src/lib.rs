//! hipBLASLt's C functions on the threads of the CPU: the hipBLASLt of the platform hip-host.
//!
//! rocblas-safe's module `lt` uses this crate if its feature `host` is on; C's functions are in [`library()`]'s table.
//!
//! ```
//! use hip_sys::hip::hipMemcpyKind;
//! use hip_sys::hipblaslt::*;
//! use std::ptr::{from_ref, null, null_mut};
//!
//! let (hip, lt) = (hip_host::platform(), hip_host_hipblaslt::library());
//! let (mut handle, mut product, mut layout, mut memory) = (null_mut(), null_mut(), null_mut(), null_mut());
//! // Columns of two: [1 2] and [3 4].
//! let (mut numbers, [alpha, beta]) = ([1.0_f32, 2.0, 3.0, 4.0], [1.0_f32, 0.0]);
//! // SAFETY: S1, S11: live out-pointers, memory of two matrices, and objects that are destroyed last.
//! unsafe {
//!     let (hip, table) = (hip.hip(), lt.table());
//!     assert_eq!((hip.hipMalloc)(&mut memory, 32).0, 0);
//!     assert_eq!((hip.hipMemcpy)(memory, numbers.as_ptr().cast(), 16, hipMemcpyKind::hipMemcpyHostToDevice).0, 0);
//!     assert_eq!((table.hipblasLtCreate)(&mut handle).0, 0);
//!     let (compute, f32) = (hipblasComputeType_t::HIPBLAS_COMPUTE_32F, hipDataType::HIP_R_32F);
//!     assert_eq!((table.hipblasLtMatmulDescCreate)(&mut product, compute, f32).0, 0);
//!     assert_eq!((table.hipblasLtMatrixLayoutCreate)(&mut layout, f32, 2, 2, 2).0, 0);
//!     let result = memory.wrapping_byte_add(16);
//!     let (alpha, beta) = (from_ref(&alpha).cast(), from_ref(&beta).cast());
//!     let status = (table.hipblasLtMatmul)(
//!         handle, product, alpha, memory, layout, memory, layout, beta, result, layout, result, layout, null(),
//!         null_mut(), 0, null_mut(),
//!     );
//!     assert_eq!(status, hipblasStatus_t::HIPBLAS_STATUS_SUCCESS);
//!     let back = hipMemcpyKind::hipMemcpyDeviceToHost;
//!     assert_eq!((hip.hipMemcpy)(numbers.as_mut_ptr().cast(), result, 16, back).0, 0);
//!     (table.hipblasLtMatrixLayoutDestroy)(layout);
//!     (table.hipblasLtMatmulDescDestroy)(product);
//!     (table.hipblasLtDestroy)(handle);
//!     (hip.hipFree)(memory);
//! }
//! assert_eq!(numbers, [7.0, 10.0, 15.0, 22.0]);
//! ```
//!
//! It has one algorithm, which needs no work memory. Types are f32, f16, bf16, the four kinds of 8-bit floats, and i8 with results of i32; the sums
//! of floats are in f32, rounded once when a result is stored. Matrices are column-major. What it refuses with
//! `HIPBLAS_STATUS_NOT_SUPPORTED`: alpha and beta in device memory, factors that are vectors or blocks, the largest absolute value of the result,
//! gradients, and the activations swish, clamp and sigmoid.

mod elements;
mod float8;
mod problem;
mod run;
mod status;
mod table;

pub use hip_host::library::serves;

use hip_sys::{Hipblaslt, HipblasltTable, Version};

/// The version of hipBLASLt whose behaviour this follows.
const VERSION: Version = Version { major: 1, minor: 2, patch: 2 };

/// The library. A function that it lacks returns `HIPBLAS_STATUS_NOT_SUPPORTED`.
pub fn library() -> Hipblaslt {
    let mut table = HipblasltTable::not_implemented();
    table::fill(&mut table);
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    unsafe { Hipblaslt::from_table(VERSION, "hip-host".into(), table) }
}
