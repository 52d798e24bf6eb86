//! rocFFT's C functions over cuFFT, which is found at run time: the rocFFT of the platform hip-nvidia.
//!
//! rocfft-safe uses this crate if its feature `nvidia` is on; C's functions are in [`library()`]'s table.
//!
//! ```
//! match hip_nvidia_rocfft::library() {
//!     Ok(rocfft) => println!("{}, as rocFFT {} does it", rocfft.library().display(), rocfft.version()),
//!     Err(missing) => println!("{missing}"),
//! }
//! ```
//!
//! A plan is a plan of cuFFT; an execution binds its stream and its work buffer, and calls cuFFT once. What cuFFT cannot express is refused when
//! the plan is made: a factor other than 1, half precision, offsets, planar arrays, and strides of which an outer one is no multiple of the next.
//! Callbacks and the cache of compiled kernels answer `rocfft_status_failure`.

mod description;
mod functions;
mod library;
mod plan;
mod status;
mod table;

pub use hip_nvidia::library::serves;

use hip_sys::{LoadError, Rocfft, Version};

/// The version of rocFFT whose behaviour this follows.
const VERSION: Version = Version { major: 1, minor: 0, patch: 36 };

/// The library.
///
/// # Errors
/// As [`hip_nvidia::platform`], and [`LoadError::NotFound`] with the names that were tried if there is no cuFFT.
pub fn library() -> Result<Rocfft, LoadError> {
    let file = library::open()?.file().to_path_buf();
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    Ok(unsafe { Rocfft::from_table(VERSION, file, table::functions()) })
}
