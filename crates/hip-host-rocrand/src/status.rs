//! Statuses of calls.

use hip_sys::hip::hipError_t;
use hip_sys::rocrand::rocrand_status;

pub(crate) use hip_sys::provider::ensure;

pub(crate) type Status = rocrand_status;

/// The outcome of a call: success, or another status.
pub(crate) type Outcome<T = ()> = Result<T, Status>;

pub(crate) const SUCCESS: Status = Status::ROCRAND_STATUS_SUCCESS;
pub(crate) const NOT_CREATED: Status = Status::ROCRAND_STATUS_NOT_CREATED;
pub(crate) const ALLOCATION_FAILED: Status = Status::ROCRAND_STATUS_ALLOCATION_FAILED;
pub(crate) const TYPE_ERROR: Status = Status::ROCRAND_STATUS_TYPE_ERROR;
pub(crate) const OUT_OF_RANGE: Status = Status::ROCRAND_STATUS_OUT_OF_RANGE;
pub(crate) const NOT_MULTIPLE: Status = Status::ROCRAND_STATUS_LENGTH_NOT_MULTIPLE;
pub(crate) const LAUNCH_FAILURE: Status = Status::ROCRAND_STATUS_LAUNCH_FAILURE;
pub(crate) const INTERNAL: Status = Status::ROCRAND_STATUS_INTERNAL_ERROR;

/// HIP's error as rocRAND's status.
pub(crate) fn failure(error: hipError_t) -> Status {
    match error {
        hipError_t::hipErrorOutOfMemory => ALLOCATION_FAILED,
        hipError_t::hipErrorInvalidValue => LAUNCH_FAILURE,
        _ => INTERNAL,
    }
}

/// Turns an outcome into the status that a function returns.
pub(crate) fn status(outcome: Outcome) -> Status {
    outcome.err().unwrap_or(SUCCESS)
}
