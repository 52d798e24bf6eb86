//! The calling thread's capture mode.

use super::opened;
use hip_sys::hip::hipStreamCaptureMode;
use std::marker::PhantomData;

/// While this value lives, its thread may load kernels and allocate memory although a stream captures. It must not be used to submit work.
#[derive(Debug)]
pub struct RelaxedCapture {
    former: u32,
    /// The mode belongs to the thread, so the value must be dropped on the thread that made it.
    _of_thread: PhantomData<*const ()>,
}

impl RelaxedCapture {
    /// Starts now.
    pub fn begin() -> Self {
        Self {
            former: exchange(hipStreamCaptureMode::hipStreamCaptureModeRelaxed.0),
            _of_thread: PhantomData,
        }
    }
}

impl Drop for RelaxedCapture {
    fn drop(&mut self) {
        exchange(self.former);
    }
}

/// Sets the thread's mode and returns the previous one.
fn exchange(mode: u32) -> u32 {
    let Ok(cuda) = opened() else { return mode };
    let mut exchanged = mode;
    // SAFETY: S1: a live variable with one of the driver's modes.
    let code = unsafe { (cuda.driver.cuThreadExchangeStreamCaptureMode)(&mut exchanged) };
    if code == 0 { exchanged } else { mode }
}
