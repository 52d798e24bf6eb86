//! Memory for the work of one call.

use super::{RawStream, opened};
use crate::context::check;
use hip_sys::hip::hipError_t;

/// Memory of a stream's device in the order of the stream: its drop frees it after the work that was submitted before.
pub struct Temporary {
    address: u64,
    stream: RawStream,
}

impl Temporary {
    /// So many bytes, with any contents.
    ///
    /// # Errors
    /// The driver refuses.
    ///
    /// # Safety
    /// The stream is live until the drop, and its device's context current then too.
    pub unsafe fn new(bytes: usize, stream: RawStream) -> Result<Self, hipError_t> {
        let mut address = 0;
        // SAFETY: S1, S11: a live place; the caller vouches for the stream.
        check(unsafe { (opened()?.driver.cuMemAllocAsync)(&mut address, bytes.max(1), stream) })?;
        Ok(Self { address, stream })
    }

    /// Its address.
    pub fn at<T>(&self) -> *mut T {
        self.address as *mut T
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Ok(cuda) = opened() {
            // SAFETY: S4, S11: it was allocated on this stream, and nobody else has it. What it answers nobody waits for.
            unsafe { (cuda.driver.cuMemFreeAsync)(self.address, self.stream) };
        }
    }
}
