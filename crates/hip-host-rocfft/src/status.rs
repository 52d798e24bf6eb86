//! Statuses of calls.

use hip_sys::rocfft::rocfft_status;

pub(crate) use hip_sys::provider::ensure;

pub(crate) type Status = rocfft_status;

/// The outcome of a call: success, or another status.
pub(crate) type Outcome<T = ()> = Result<T, Status>;

pub(crate) const SUCCESS: Status = Status::rocfft_status_success;
pub(crate) const FAILURE: Status = Status::rocfft_status_failure;
pub(crate) const VALUE: Status = Status::rocfft_status_invalid_arg_value;
pub(crate) const DIMENSIONS: Status = Status::rocfft_status_invalid_dimensions;
pub(crate) const ARRAY: Status = Status::rocfft_status_invalid_array_type;
pub(crate) const STRIDES: Status = Status::rocfft_status_invalid_strides;

/// Turns an outcome into the status that a function returns.
pub(crate) fn status(outcome: Outcome) -> Status {
    outcome.err().unwrap_or(SUCCESS)
}
