//! rocSPARSE's C functions on the threads of the CPU: the rocSPARSE of the platform hip-host.
//!
//! rocsparse-safe uses this crate if its feature `host` is on; C's functions are in [`library()`]'s table.
//!
//! ```
//! use hip_sys::rocsparse::rocsparse_status;
//! use std::ptr::null_mut;
//!
//! let rocsparse = hip_host_rocsparse::library();
//! let (mut handle, mut version) = (null_mut(), 0);
//! // SAFETY: S1, S11: live out-pointers, and a handle that is destroyed last.
//! unsafe {
//!     let table = rocsparse.table();
//!     assert_eq!((table.rocsparse_create_handle)(&mut handle), rocsparse_status::rocsparse_status_success);
//!     (table.rocsparse_get_version)(handle, &mut version);
//!     assert_eq!((table.rocsparse_destroy_handle)(handle), rocsparse_status::rocsparse_status_success);
//! }
//! assert_eq!(version, 400_200);
//! ```
//!
//! Each operation is a plain loop over the entries of its matrix, in the order in which they are stored, on one thread: [`library()`] is meant to be
//! correct and easy to read, not fast. Indices start at 0. What rocSPARSE does not have, such as the transpose of a matrix in blocks, is
//! answered with `rocsparse_status_not_implemented` here too.

mod convert;
mod handle;
mod number;
mod operand;
mod product;
mod solve;
mod sort;
mod table;
mod vector;

pub use hip_host::library::serves;

use hip_sys::provider::sparse;
use hip_sys::{Rocsparse, Version};

/// The library.
pub fn library() -> Rocsparse {
    // SAFETY: S1, S11: the functions are this crate's and hip-sys', and check what a library checks.
    unsafe {
        Rocsparse::from_table(Version::from_rocrand(sparse::VERSION), "hip-host".into(), table::functions())
    }
}
