//! A range of device memory and who frees it. Buffers put a type and a length on top.

use crate::handle::Handle;
use crate::raw::{self, Failure};
use crate::{Device, Error, Result, Stream};
use hip_sys::Platform;
use hip_sys::hip::hipError_t;
use std::ffi::c_void;

/// Device memory bound to a stream. The last use of it is on that stream, so waiting for the stream before freeing is
/// enough.
pub(crate) struct Allocation {
    address: Handle<c_void>,
    stream: Stream,
}

impl Allocation {
    /// Allocates `bytes` bytes of undefined content; none at all, and without a call, for 0.
    pub(crate) fn new(stream: &Stream, bytes: usize) -> Result<Self> {
        let address = if bytes == 0 { Handle::null() } else { allocate(stream.device(), bytes)? };
        Ok(Self { address, stream: stream.clone() })
    }

    pub(crate) fn address(&self) -> Handle<c_void> {
        self.address
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Binds it to another stream of its device, once its work on the former one is complete.
    pub(crate) fn rebind(&mut self, stream: &Stream) -> Result<()> {
        if self.stream == *stream {
            return Ok(());
        }
        stream.device().check_same("the buffer", self.stream.device())?;
        self.stream.wait_for(self.stream.submitted())?;
        self.stream = stream.clone();
        Ok(())
    }

    /// Frees it, after the work that may use it. If that cannot be waited for, the memory stays allocated.
    pub(crate) fn release(&mut self) -> Result<()> {
        let address = self.address.take();
        if address.is_null() {
            return Ok(());
        }
        self.stream.wait_to_release(self.stream.submitted())?;
        // SAFETY: S1, S3, S4: it is ours alone, and every submission that used it is complete.
        self.stream.device().run(|| "freeing device memory".into(), |p| unsafe { raw::free(p, address) })
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let device = self.stream.device().clone();
        device.release_in_drop(|| self.release());
    }
}

/// The bytes of `count` elements of `T`.
pub(crate) fn byte_length<T>(count: usize) -> Result<usize> {
    let element_bytes = size_of::<T>();
    match count.checked_mul(element_bytes) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(bytes),
        _ => Err(Error::SizeOverflow { count, element_bytes }),
    }
}

/// Memory, or the figures that say why there is none.
fn allocate(device: &Device, bytes: usize) -> Result<Handle<c_void>> {
    // SAFETY: S1, S3: the device is current.
    let attempt = |p: &Platform| match unsafe { raw::malloc(p, bytes) } {
        Ok(address) if address.is_null() => Ok(None),
        Ok(address) => Ok(Some(address)),
        Err(Failure { code: hipError_t::hipErrorOutOfMemory, .. }) => Ok(None),
        Err(failure) => Err(failure),
    };
    if let Some(address) = device.run(|| format!("allocating {bytes} bytes on {device}"), attempt)? {
        return Ok(address);
    }
    let info = device.memory_info()?;
    Err(Error::OutOfMemory { device: device.label(), requested: bytes, free: info.free, total: info.total })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_in_bytes_are_checked() {
        assert_eq!(byte_length::<u64>(3).ok(), Some(24));
        assert_eq!(byte_length::<()>(usize::MAX).ok(), Some(0));
        assert_eq!(byte_length::<u8>(isize::MAX as usize).ok(), Some(isize::MAX as usize));
        for count in [(1 << 61) + 1, 1 << 61, 1 << 60, usize::MAX] {
            match byte_length::<u64>(count) {
                Err(Error::SizeOverflow { count: named, element_bytes: 8 }) => assert_eq!(named, count),
                other => panic!("{count} elements: {other:?}"),
            }
        }
    }
}
