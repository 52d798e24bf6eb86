//! The streams and the devices of calls.

use crate::graph::capture;
use crate::table::stream_of;
use crate::{check, context, device, stream};
use hip_sys::hip::{hipError_t, hipStream_t};
use std::sync::Arc;

/// A stream.
pub struct Stream(Arc<stream::Stream>);

/// A device.
#[derive(Clone, Copy)]
pub struct Device(&'static device::Device);

impl Stream {
    /// The stream that a handle means to the calling thread; null means that of the current device.
    ///
    /// # Errors
    /// There is no such stream, or none any more.
    pub fn of(handle: hipStream_t) -> Result<Self, hipError_t> {
        stream_of(handle).map(Self)
    }

    /// Its device.
    pub fn device(&self) -> Device {
        Device(self.0.device())
    }

    /// Before a call that will wait for the stream.
    ///
    /// # Errors
    /// The stream, or the thread, captures.
    pub fn may_wait(&self) -> Result<(), hipError_t> {
        capture::forbid_wait(&self.0)
    }

    /// Waits until the stream has done all that it was given.
    ///
    /// # Errors
    /// As [`Stream::may_wait`]; or the device is broken.
    pub fn wait(&self) -> Result<(), hipError_t> {
        self.may_wait()?;
        let known = check::of_stream(&self.0);
        stream::wait_for_all(&self.0.pending());
        check::learn(known);
        self.0.device().healthy()
    }
}

impl Device {
    /// The current device of the calling thread.
    pub fn current() -> Self {
        Self(context::current())
    }

    /// Does something with this device current.
    pub fn while_current<R>(self, act: impl FnOnce() -> R) -> R {
        let before = context::current().ordinal;
        // There is a device of each of these numbers.
        let _ = context::set_current(self.0.ordinal as i32);
        let result = act();
        let _ = context::set_current(before as i32);
        result
    }

    /// Breaks the device, as a kernel's fault does: every later call on it answers the code, and the message is told. The first fault
    /// counts.
    pub fn fail(self, code: hipError_t, message: &str) {
        self.0.poison(code.0, message);
    }
}
