//! MIOpen's C functions over cuDNN.
//!
//! Tensors, convolutions, activations and the like are values of our own behind handles; cuDNN's descriptor of
//! one is made when it is
//! used first and kept, so that a call looks its objects up and calls cuDNN once. What cuDNN cannot do answers
//! `miopenStatusUnsupportedOp`; functions
//! that are not here answer that they are not implemented.

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

pub(crate) use handle::forget_device;

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
pub(crate) fn library() -> Result<Miopen, LoadError> {
    let cudnn = library::open()?;
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    Ok(unsafe { Miopen::from_table(VERSION, cudnn.file.clone(), table::table()) })
}
