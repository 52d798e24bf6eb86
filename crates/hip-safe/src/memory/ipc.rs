//! IPC: device memory that processes share.

use super::allocation::{Allocation, byte_length};
use super::check::BufferKind;
use super::unpooled::Unpooled;
use crate::raw::{self, Failure};
use crate::{Device, DeviceBuffer, DeviceRepr, Error, Result, Stream};
use hip_sys::Platform;
use hip_sys::hip::{hipError_t, hipIpcMemHandle_t};
use std::ffi::c_char;
use std::fmt;
use std::sync::Arc;

/// A name of a buffer for other processes: see [`DeviceBuffer::ipc_handle`].
///
/// It can be sent as plain bytes, through a pipe or a socket: see [`IpcHandle::to_bytes`].
#[doc(alias = "hipIpcMemHandle_t")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct IpcHandle {
    /// The driver's name for the allocation.
    allocation: [u8; 64],
    /// The offset of the buffer in the allocation: buffers are pieces of larger allocations.
    offset: u64,
    bytes: u64,
}

impl IpcHandle {
    /// The size of its bytes.
    pub const BYTES: usize = 80;

    /// The size of the buffer in bytes.
    pub fn byte_len(&self) -> u64 {
        self.bytes
    }

    /// The handle as bytes.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..64].copy_from_slice(&self.allocation);
        bytes[64..72].copy_from_slice(&self.offset.to_le_bytes());
        bytes[72..].copy_from_slice(&self.bytes.to_le_bytes());
        bytes
    }

    /// The handle from the bytes of [`IpcHandle::to_bytes`], in this process or another.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let part = |at: usize| std::array::from_fn(|i| bytes[at + i]);
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        Self { allocation: part(0), offset: number(64), bytes: number(72) }
    }
}

impl<T: DeviceRepr> DeviceBuffer<T> {
    /// A name by which another process on this machine can open the buffer with [`Stream::open_ipc`]. The buffer must stay alive while it is open
    /// there.
    ///
    /// # Errors
    /// [`Error::NotOffered`] where the platform cannot share memory, [`Error::OutOfRange`] for a buffer of no bytes, or
    /// the driver's error.
    #[doc(alias = "hipIpcGetMemHandle")]
    pub fn ipc_handle(&self) -> Result<IpcHandle> {
        let (address, bytes) = (self.device_ptr().cast_mut().cast(), self.byte_len());
        if bytes == 0 {
            return Err(Error::OutOfRange { start: 0, end: 1, len: 0 });
        }
        // SAFETY: S1, S2, S3: the buffer is live and its device current.
        let export = |p: &Platform| unsafe {
            let base = raw::memory::allocation_base(p, address)?;
            let handle = offered(raw::memory::ipc_get(p, base))?;
            Ok(handle.map(|handle| (base, handle)))
        };
        let exported = self.device().run(|| format!("sharing {bytes} bytes with other processes"), export)?;
        let (base, handle) = exported.ok_or_else(|| not_offered(self.device()))?;
        let allocation = handle.reserved.map(|char| char.to_ne_bytes()[0]);
        let offset = address.addr() - base.raw().addr();
        Ok(IpcHandle { allocation, offset: offset as u64, bytes: bytes as u64 })
    }
}

impl Stream {
    /// Opens another process' buffer on this stream's device: the same memory, not a copy. The drop waits for the work of this process that uses
    /// it and closes it. The other process still owns the memory.
    ///
    /// # Errors
    /// [`Error::NotOffered`] where the platform cannot share memory, [`Error::Recast`] if the bytes are no whole number of
    /// elements, or not aligned for them, or the driver's error: a process cannot open its own.
    ///
    /// # Safety
    /// The handle comes from [`DeviceBuffer::ipc_handle`] of a live process, for this device. The buffer there stays alive until this one is
    /// dropped and its work is complete. The processes order conflicting work among themselves. Its bytes are values of `T`.
    #[doc(alias = "hipIpcOpenMemHandle")]
    #[doc(alias = "hipIpcCloseMemHandle")]
    pub unsafe fn open_ipc<T: DeviceRepr>(&self, handle: &IpcHandle) -> Result<DeviceBuffer<T>> {
        let (device, size, align) = (self.device(), size_of::<T>(), align_of::<T>());
        let of_bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let (bytes, offset) = (of_bytes(handle.bytes), of_bytes(handle.offset));
        let refuse = |address| Error::Recast { bytes, address, size, align };
        if size == 0 || !bytes.is_multiple_of(size) {
            return Err(refuse(offset));
        }
        let len = bytes / size;
        byte_length::<T>(len)?;
        let reserved = handle.allocation.map(|byte| c_char::from_ne_bytes([byte]));
        // SAFETY: S1, S3: the device is current; the caller vouches for the handle.
        let open =
            |p: &Platform| unsafe { offered(raw::memory::ipc_open(p, hipIpcMemHandle_t { reserved })) };
        let opened = device.run(|| format!("opening another process' memory on {device}"), open)?;
        let base = opened.ok_or_else(|| not_offered(device))?;
        // SAFETY: S4: it was just opened, and this is how it is closed.
        let memory =
            unsafe { Unpooled::new(base, offset, raw::memory::ipc_close, "closing another process' memory") };
        let allocation = Allocation::of_unpooled(self, memory, BufferKind::Foreign, bytes);
        let address = allocation.address().raw().addr();
        if !address.is_multiple_of(align) {
            return Err(refuse(address));
        }
        Ok(DeviceBuffer::of_allocation(Arc::new(allocation), len))
    }
}

/// `None` if the platform does not support it.
fn offered<R>(answer: Result<R, Failure>) -> Result<Option<R>, Failure> {
    match answer {
        Err(Failure { code: hipError_t::hipErrorNotSupported, .. }) => Ok(None),
        answer => answer.map(Some),
    }
}

fn not_offered(device: &Device) -> Error {
    Error::NotOffered { device: device.label(), what: "memory that processes share" }
}

impl fmt::Debug for IpcHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IpcHandle({} bytes at {} of an allocation)", self.bytes, self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_travel_as_bytes() {
        let allocation = std::array::from_fn(|i| u8::try_from(i).unwrap_or(0));
        let handle = IpcHandle { allocation, offset: 0x0102_0304_0506_0708, bytes: 512 };
        let bytes = handle.to_bytes();
        assert_eq!((bytes[5], bytes[64], bytes[71], bytes[73]), (5, 8, 1, 2));
        assert_eq!(IpcHandle::from_bytes(&bytes), handle);
    }
}
