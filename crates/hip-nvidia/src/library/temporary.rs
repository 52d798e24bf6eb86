//! Memory for the work of one call, and memory that stays until later ones.

use super::{Device, RawStream, opened};
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
        // SAFETY: S1, S11: a live variable; the caller vouches for the stream.
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

/// Memory of a device. Its drop waits for the device's work.
pub struct Lasting {
    address: u64,
    device: &'static Device,
}

impl Lasting {
    /// So many bytes, with any contents.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn new(bytes: usize, device: &'static Device) -> Result<Self, hipError_t> {
        device.enter()?;
        let mut address = 0;
        // SAFETY: S1: a live variable; the device's context is current.
        check(unsafe { (opened()?.driver.cuMemAlloc)(&mut address, bytes.max(1)) })?;
        Ok(Self { address, device })
    }

    /// Its address.
    pub fn at<T>(&self) -> *mut T {
        self.address as *mut T
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        if let (Ok(cuda), Ok(_)) = (opened(), self.device.enter()) {
            // SAFETY: S4, S11: it was allocated on this device, and nobody else has it. What it answers nobody waits for.
            unsafe { (cuda.driver.cuMemFree)(self.address) };
        }
    }
}
