//! hipBLASLt's C functions over cuBLASLt, which is found at run time: the hipBLASLt of the platform hip-nvidia.
//!
//! rocblas-safe's module `lt` uses this crate if its feature `nvidia` is on; C's functions are in [`library()`]'s table.
//!
//! ```
//! match hip_nvidia_hipblaslt::library() {
//!     Ok(lt) => println!("{}, as hipBLASLt {} does it", lt.library().display(), lt.version()),
//!     Err(missing) => println!("{missing}"),
//! }
//! ```
//!
//! Descriptors are kept here, and become cuBLASLt's for each call. What differs from AMD's library is refused with `HIPBLAS_STATUS_NOT_SUPPORTED`:
//! the auxiliary output of ReLU, which is a mask of bits there; 8-bit floats of the kinds of CDNA 3; and swish, clamp and sigmoid. cuBLASLt
//! multiplies 8-bit floats only with a transposed a and a plain b, and has no algorithm for other products of them.

mod above;
mod convert;
mod functions;
mod handle;
mod library;
mod matmul;
mod problem;
mod product;
mod search;
mod table;

pub use above::{Gemm, GemmPlans, Operands};
pub use hip_nvidia::library::serves;

use hip_sys::{Hipblaslt, HipblasltTable, LoadError, Version};

/// The version of hipBLASLt whose behaviour this follows.
const VERSION: Version = Version { major: 1, minor: 2, patch: 2 };

/// The library. A function that it lacks returns `HIPBLAS_STATUS_NOT_SUPPORTED`.
///
/// # Errors
/// As [`hip_nvidia::platform`], and [`LoadError::NotFound`] with the names that were tried if there is no cuBLASLt.
pub fn library() -> Result<Hipblaslt, LoadError> {
    let file = library::open()?.file().to_path_buf();
    let mut table = HipblasltTable::not_implemented();
    table::fill(&mut table);
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    Ok(unsafe { Hipblaslt::from_table(VERSION, file, table) })
}
