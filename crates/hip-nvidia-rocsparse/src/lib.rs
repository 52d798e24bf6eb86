//! rocSPARSE's C functions over cuSPARSE, which is found at run time: the rocSPARSE of the platform hip-nvidia.
//!
//! rocsparse-safe uses this crate if its feature `nvidia` is on; C's functions are in [`library()`]'s table.
//!
//! ```
//! match hip_nvidia_rocsparse::library() {
//!     Ok(rocsparse) => println!("{}, as rocSPARSE {} does it", rocsparse.library().display(), rocsparse.version()),
//!     Err(missing) => println!("{missing}"),
//! }
//! ```
//!
//! Descriptors are hip-sys' own; a call makes cuSPARSE's of them. Those of a triangular system and of a conversion from a dense matrix are kept with the
//! matrix from one stage to the next. A product of two sparse matrices keeps its columns with the result until that has memory. Not here are matrices
//! in blocks and in ELL, and products of two sparse matrices with indices of 64 bits; and sampled products are of CSR alone. They answer
//! `rocsparse_status_not_implemented`.

mod convert;
mod descriptor;
mod factor;
mod functions;
mod handle;
mod kept;
mod library;
mod product;
mod solve;
mod spgemm;
mod table;

pub use hip_nvidia::library::serves;

use hip_sys::provider::sparse;
use hip_sys::{LoadError, Rocsparse, Version};

/// The library.
///
/// # Errors
/// As [`hip_nvidia::platform`], and [`LoadError::NotFound`] with the names that were tried if there is no cuSPARSE.
pub fn library() -> Result<Rocsparse, LoadError> {
    let file = library::open()?.file().to_path_buf();
    // SAFETY: S1, S11: the functions are this crate's and hip-sys', and check what a library checks.
    Ok(unsafe { Rocsparse::from_table(Version::from_rocrand(sparse::VERSION), file, table::functions()) })
}
