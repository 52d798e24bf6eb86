//! Statuses of calls.

pub(super) use hip_sys::provider::ensure;
use hip_sys::rocfft::rocfft_status;

pub(super) type Status = rocfft_status;

/// The outcome of a call: success, or another status.
pub(super) type Outcome<T = ()> = Result<T, Status>;

pub(super) const FAILURE: Status = Status::rocfft_status_failure;
pub(super) const VALUE: Status = Status::rocfft_status_invalid_arg_value;
pub(super) const DIMENSIONS: Status = Status::rocfft_status_invalid_dimensions;
pub(super) const ARRAY: Status = Status::rocfft_status_invalid_array_type;
pub(super) const STRIDES: Status = Status::rocfft_status_invalid_strides;
pub(super) const OFFSET: Status = Status::rocfft_status_invalid_offset;
pub(super) const WORK: Status = Status::rocfft_status_invalid_work_buffer;

/// Turns an outcome into the status that a function returns.
pub(super) fn status(outcome: Outcome) -> Status {
    outcome.err().unwrap_or(Status::rocfft_status_success)
}

/// cuFFT's status as an outcome.
pub(super) fn done(code: u32) -> Outcome {
    match code {
        0 => Ok(()),
        // CUFFT_INVALID_TYPE, CUFFT_INVALID_VALUE, CUFFT_INVALID_SIZE
        3 | 4 | 8 => Err(VALUE),
        _ => Err(FAILURE),
    }
}
