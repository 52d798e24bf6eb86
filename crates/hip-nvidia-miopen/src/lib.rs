//! MIOpen's C functions over cuDNN 9, found at run time: MIOpen for the platform that hip-nvidia is.
//!
//! miopen-safe with its feature `nvidia` uses this crate by itself; C's functions are in [`library()`]'s table.
//!
//! ```
//! match hip_nvidia_miopen::library() {
//!     Ok(miopen) => println!("{}, as MIOpen {} does it", miopen.library().display(), miopen.version()),
//!     Err(missing) => println!("{missing}"),
//! }
//! ```
//!
//! Tensors, convolutions, activations and the like are values of our own behind handles; cuDNN's descriptor of one is made when it is
//! used first and kept, so that a call looks its objects up and calls cuDNN once. What cuDNN cannot do answers
//! `miopenStatusUnsupportedOp`; functions that are not here answer that they are not implemented. `COVERAGE.md` of miopen-safe lists them,
//! and `docs/platforms/nvidia.md` what differs.
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

/// The library: what it does not do answers that it is not implemented.
///
/// # Errors
/// As [`hip_nvidia::platform`], and [`LoadError::NotFound`] with the names that were tried where there is no cuDNN.
pub fn library() -> Result<Miopen, LoadError> {
    hip_nvidia::driver_version()?;
    let cudnn = library::open()?;
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    Ok(unsafe { Miopen::from_table(VERSION, cudnn.file.clone(), table::table()) })
}
