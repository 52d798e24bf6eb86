//! MIOpen's C functions over cuDNN 9, which is found at run time: the MIOpen of the platform hip-nvidia.
//!
//! miopen-safe uses this crate if its feature `nvidia` is on; C's functions are in [`library()`]'s table.
//!
//! ```
//! match hip_nvidia_miopen::library() {
//!     Ok(miopen) => println!("{}, as MIOpen {} does it", miopen.library().display(), miopen.version()),
//!     Err(missing) => println!("{missing}"),
//! }
//! ```
//!
//! Tensors, convolutions, activations and the like are values of this crate behind handles. cuDNN's descriptor of one is made when it is
//! first used, and kept, so that a call looks its objects up and calls cuDNN once. If cuDNN cannot compute a call, it returns
//! `miopenStatusUnsupportedOp`; a function that is missing returns `miopenStatusNotImplemented`. `COVERAGE.md` of miopen-safe lists
//! those, and `docs/platforms/nvidia.md` lists the differences.
//!
//! Convolutions of immediate mode use the engines of cuDNN's backend, with plans that a handle keeps, and cuDNN's older algorithms
//! where the backend offers none. With `HIPSTACK_CUDNN_BACKEND=0`, which is read once, all use the older ones.

mod activation;
mod batchnorm;
mod convert;
mod convolution;
mod ctc;
mod descriptor;
mod dropout;
mod entry;
mod factor;
mod fusion;
mod handle;
mod library;
mod lrn;
mod ops;
mod pooling;
mod raw;
#[cfg(test)]
mod real;
mod reduce;
mod rnn;
mod softmax;
mod table;
mod tensor;

pub use hip_nvidia::library::serves;

use hip_sys::miopen::miopenStatus_t;
use hip_sys::{LoadError, Miopen, Version};

/// The version of MIOpen whose behaviour this follows.
const VERSION: Version = Version { major: 3, minor: 4, patch: 0 };

type Status = miopenStatus_t;
/// The outcome of a call, before it becomes a status.
type Outcome<T = ()> = Result<T, Status>;

const BAD: Status = Status::miopenStatusBadParm;
const UNSUPPORTED: Status = Status::miopenStatusUnsupportedOp;
const NO_MEMORY: Status = Status::miopenStatusAllocFailed;
const NOT_IMPLEMENTED: Status = Status::miopenStatusNotImplemented;

/// The library. A function that it lacks returns `miopenStatusNotImplemented`.
///
/// # Errors
/// As [`hip_nvidia::platform`], and [`LoadError::NotFound`] with the names that were tried if there is no cuDNN.
pub fn library() -> Result<Miopen, LoadError> {
    hip_nvidia::driver_version()?;
    let cudnn = library::open()?;
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    Ok(unsafe { Miopen::from_table(VERSION, cudnn.file.clone(), table::table()) })
}
