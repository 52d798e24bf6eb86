//! What a thread may do while a stream captures.

use super::opened;
use hip_sys::hip::hipStreamCaptureMode;

/// While this lives, the thread may load kernels although a stream captures: what is done meanwhile submits nothing.
#[derive(Debug)]
pub struct RelaxedCapture {
    former: u32,
}

impl RelaxedCapture {
    /// From now on.
    pub fn begin() -> Self {
        Self { former: exchange(hipStreamCaptureMode::hipStreamCaptureModeRelaxed.0) }
    }
}

impl Drop for RelaxedCapture {
    fn drop(&mut self) {
        exchange(self.former);
    }
}

/// Sets the thread's mode and gives the former one.
fn exchange(mode: u32) -> u32 {
    let Ok(cuda) = opened() else { return mode };
    let mut place = mode;
    // SAFETY: S1: a live place with one of the driver's modes.
    let code = unsafe { (cuda.driver.cuThreadExchangeStreamCaptureMode)(&mut place) };
    if code == 0 { place } else { mode }
}
