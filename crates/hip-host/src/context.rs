//! The state that HIP keeps for each thread: the current device and the last error.

use crate::device::{self, Device};
use hip_sys::hip::hipError_t;
use hip_sys::provider::LastError;
use std::cell::Cell;

/// The result of a call, before it becomes a status.
pub(crate) type Outcome = Result<(), hipError_t>;

thread_local! {
    static DEVICE: Cell<usize> = const { Cell::new(0) };
    static LAST: LastError = const { LastError::new() };
}

/// Ends an entry point: turns the outcome into a status and stores an error as the thread's last error.
pub(crate) fn status(outcome: Outcome) -> hipError_t {
    LAST.with(|last| last.status(outcome))
}

/// Returns and clears the last error of this thread.
pub(crate) fn take_last_error() -> hipError_t {
    LAST.with(LastError::take)
}

/// The last error of this thread.
pub(crate) fn last_error() -> hipError_t {
    LAST.with(LastError::get)
}

/// The current device of this thread; device 0 unless the thread chose another.
pub(crate) fn current() -> &'static Device {
    &device::all()[DEVICE.get()]
}

/// Makes a device current for this thread.
pub(crate) fn set_current(ordinal: i32) -> Outcome {
    DEVICE.set(device::get(ordinal)?.ordinal);
    Ok(())
}
