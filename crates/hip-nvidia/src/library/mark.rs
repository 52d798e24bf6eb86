//! Times on a stream.

use super::{RawStream, opened};
use crate::context::{check, driver};
use crate::driver::{Code, Event};
use hip_sys::hip::hipError_t;
use std::ptr::null_mut;

/// A point in a stream that has a time: an event of the driver.
#[derive(Debug)]
pub struct Mark(Event);

impl Mark {
    /// A new mark on the device whose context is current. It is not recorded yet.
    ///
    /// # Errors
    /// The driver refuses.
    ///
    /// # Safety
    /// The device is not reset while the mark lives, because a reset destroys its event.
    pub unsafe fn new() -> Result<Self, hipError_t> {
        let mut event = null_mut();
        // SAFETY: S1: a live variable for the result.
        check(unsafe { (opened()?.driver.cuEventCreate)(&mut event, 0) })?;
        Ok(Self(event))
    }

    /// Records the mark behind the work that the stream has.
    ///
    /// # Errors
    /// The driver refuses.
    ///
    /// # Safety
    /// The stream is a live one of the mark's device.
    pub unsafe fn set(&self, stream: RawStream) -> Result<(), hipError_t> {
        // SAFETY: S11: a live event, and the caller's stream.
        check(unsafe { (driver().cuEventRecord)(self.0, stream) })
    }

    /// Milliseconds from this mark to a later one. Waits for the later one.
    ///
    /// # Errors
    /// One of them was not recorded, or work before it failed.
    pub fn until(&self, later: &Self) -> Result<f32, hipError_t> {
        let mut time = 0.0;
        // SAFETY: S1, S11: a live event.
        check(unsafe { (driver().cuEventSynchronize)(later.0) })?;
        // SAFETY: S1, S11: live events, and a live variable.
        check(unsafe { (driver().cuEventElapsedTime)(&mut time, self.0, later.0) })?;
        Ok(time)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        // SAFETY: S4: the only owner ends. It may: an event that still waits is ended by the driver when it is reached.
        let _: Code = unsafe { (driver().cuEventDestroy)(self.0) };
    }
}
