//! A tensor's elements in device memory.

use hip_safe::{AnyBits, DeviceBuffer, DeviceView, DeviceViewMut};

use super::HipDevice;
use super::device::wrap;
use crate::cpu::{self, CpuStorage};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::scalar::Scalar;

/// `len` elements of a dtype, as bytes in the memory of a device, bound to the device's stream.
pub struct HipStorage {
    device: HipDevice,
    dtype: DType,
    len: usize,
    buffer: DeviceBuffer<u8>,
}

impl HipStorage {
    /// Memory for `len` elements.
    ///
    /// # Safety
    /// Every element is written, by work on the device's stream, before it is read.
    #[inline]
    pub(super) unsafe fn uninit(
        device: &HipDevice,
        dtype: DType,
        len: usize,
        operation: &'static str,
    ) -> Result<Self> {
        let bytes = bytes(dtype, len, operation)?;
        // SAFETY: S15: the caller's promise.
        let buffer = unsafe { device.stream().alloc_uninit(bytes) }.map_err(wrap(operation))?;
        Ok(Self { device: device.clone(), dtype, len, buffer })
    }

    /// `len` zeros.
    pub(crate) fn zeros(
        device: &HipDevice,
        dtype: DType,
        len: usize,
        operation: &'static str,
    ) -> Result<Self> {
        let bytes = bytes(dtype, len, operation)?;
        let buffer = device.stream().alloc_zeros(bytes).map_err(wrap(operation))?;
        Ok(Self { device: device.clone(), dtype, len, buffer })
    }

    /// A copy of a host storage.
    pub(crate) fn from_cpu(device: &HipDevice, source: &CpuStorage, operation: &'static str) -> Result<Self> {
        let buffer = device.stream().upload(source.as_bytes()).map_err(wrap(operation))?;
        Ok(Self { device: device.clone(), dtype: source.dtype(), len: source.len(), buffer })
    }

    /// The elements `start..start + len`, read back; or the error of an earlier operation that met a wrong id.
    pub(crate) fn to_cpu(&self, start: usize, len: usize, operation: &'static str) -> Result<CpuStorage> {
        let size = self.dtype.size_in_bytes();
        let mut host = cpu::ops::fill::full(self.dtype, len, Scalar::Int(0))?;
        let view = self.buffer.slice(start * size..(start + len) * size).map_err(wrap(operation))?;
        let stream = self.device.stream();
        stream.copy_to_host(&view, host.as_bytes_mut()).map_err(wrap(operation))?;
        self.device.look_for_faults(operation)?;
        Ok(host)
    }

    /// The device.
    pub fn device(&self) -> &HipDevice {
        &self.device
    }

    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The bytes from element `start` on, to read.
    #[inline(always)]
    pub(super) fn tail(&self, start: usize, operation: &'static str) -> Result<DeviceView<'_, u8>> {
        if start == 0 {
            return Ok(self.buffer.view());
        }
        let range = start.min(self.len) * self.dtype.size_in_bytes()..;
        self.buffer.slice(range).map_err(wrap(operation))
    }

    /// The elements from `start` on as those of a library's type, which has the size of the dtype.
    pub(super) fn tail_of<T: AnyBits>(&self, start: usize) -> hip_safe::Result<DeviceView<'_, T>> {
        self.buffer.slice(start.min(self.len) * self.dtype.size_in_bytes()..)?.recast()
    }

    /// Whether element `start` lies at a multiple of so many bytes of the device's addresses.
    pub(super) fn begins_at(&self, start: usize, bytes: usize) -> bool {
        let first = self.buffer.device_ptr().addr();
        (first + start * self.dtype.size_in_bytes()).is_multiple_of(bytes)
    }

    /// As [`HipStorage::tail_of`], to write.
    pub(super) fn tail_mut_of<T: AnyBits>(&mut self, start: usize) -> hip_safe::Result<DeviceViewMut<'_, T>> {
        self.buffer.slice_mut(start.min(self.len) * self.dtype.size_in_bytes()..)?.recast()
    }

    /// The bytes from element `start` on, to write.
    #[inline(always)]
    pub(super) fn tail_mut(
        &mut self,
        start: usize,
        operation: &'static str,
    ) -> Result<DeviceViewMut<'_, u8>> {
        if start == 0 {
            return Ok(self.buffer.view_mut());
        }
        let range = start.min(self.len) * self.dtype.size_in_bytes()..;
        self.buffer.slice_mut(range).map_err(wrap(operation))
    }

    /// The device, and the bytes from element `start` on, to write.
    pub(super) fn split_tail_mut(
        &mut self,
        start: usize,
        operation: &'static str,
    ) -> Result<(&HipDevice, DeviceViewMut<'_, u8>)> {
        let range = start.min(self.len) * self.dtype.size_in_bytes()..;
        let tail = self.buffer.slice_mut(range).map_err(wrap(operation))?;
        Ok((&self.device, tail))
    }
}

fn bytes(dtype: DType, len: usize, operation: &'static str) -> Result<usize> {
    len.checked_mul(dtype.size_in_bytes()).ok_or_else(|| overflow(len, operation))
}

#[cold]
fn overflow(len: usize, operation: &'static str) -> Error {
    Error::new(operation, ErrorKind::Overflow { shape: len.into() })
}

impl std::fmt::Debug for HipStorage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HipStorage({} x {} on {})", self.len, self.dtype, self.device)
    }
}
