//! rocRAND's C functions over cuRAND, which is found at run time: the rocRAND of the platform hip-nvidia.
//!
//! rocrand-safe uses this crate if its feature `nvidia` is on; C's functions are in [`library()`]'s table.
//!
//! ```
//! match hip_nvidia_rocrand::library() {
//!     Ok(rocrand) => println!("{}, as rocRAND {} does it", rocrand.library().display(), rocrand.version()),
//!     Err(missing) => println!("{missing}"),
//! }
//! ```
//!
//! A call makes its generator's device current and calls cuRAND once. What cuRAND lacks answers `ROCRAND_STATUS_TYPE_ERROR`: the kinds
//! Threefry, MRG31k3p and LFSR113, and uniform numbers of f16. Bytes and numbers of 16 bits are the words of a pseudo-random generator, so their
//! count must fill whole words. An odd number of normal numbers from a pseudo-random generator answers `ROCRAND_STATUS_LENGTH_NOT_MULTIPLE`.
//!
//! A seed, an offset, an ordering and dimensions start the sequence, as rocRAND's do: cuRAND would go on with it.

mod convert;
mod functions;
mod generator;
mod library;
mod table;

pub use hip_nvidia::library::serves;

use hip_sys::{LoadError, Rocrand, Version};

/// The version of rocRAND whose behaviour this follows.
const VERSION: Version = Version { major: 4, minor: 2, patch: 0 };

/// The library.
///
/// # Errors
/// As [`hip_nvidia::platform`], and [`LoadError::NotFound`] with the names that were tried if there is no cuRAND.
pub fn library() -> Result<Rocrand, LoadError> {
    let file = library::open()?.file().to_path_buf();
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    Ok(unsafe { Rocrand::from_table(VERSION, file, table::functions()) })
}
