//! Statuses of calls.

use hip_sys::hip::hipError_t;
use hip_sys::hipblaslt::hipblasStatus_t;

pub(crate) use hip_sys::provider::ensure;

pub(crate) type Status = hipblasStatus_t;

/// The outcome of a call: success, or another status.
pub(crate) type Outcome<T = ()> = Result<T, Status>;

pub(crate) const SUCCESS: Status = Status::HIPBLAS_STATUS_SUCCESS;
pub(crate) const HANDLE: Status = Status::HIPBLAS_STATUS_NOT_INITIALIZED;
pub(crate) const VALUE: Status = Status::HIPBLAS_STATUS_INVALID_VALUE;
pub(crate) const UNSUPPORTED: Status = Status::HIPBLAS_STATUS_NOT_SUPPORTED;

/// Turns an outcome into the status that a function returns.
pub(crate) fn status(outcome: Outcome) -> Status {
    outcome.err().unwrap_or(SUCCESS)
}

/// HIP's error as a status.
pub(crate) fn failure(error: hipError_t) -> Status {
    match error {
        hipError_t::hipErrorOutOfMemory => Status::HIPBLAS_STATUS_ALLOC_FAILED,
        hipError_t::hipErrorInvalidHandle | hipError_t::hipErrorContextIsDestroyed => VALUE,
        _ => Status::HIPBLAS_STATUS_EXECUTION_FAILED,
    }
}
