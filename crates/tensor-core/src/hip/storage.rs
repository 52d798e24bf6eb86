//! A tensor's elements in device memory.

use std::ops::Range;

use hip_safe::{AnyBits, DeviceBuffer, DeviceView, DeviceViewMut};

use super::device::wrap;
use super::{HipDevice, Staging};
use crate::cpu::{self, CpuStorage};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, On, Result};
use crate::storage::Fill;

/// `len` elements of a dtype, as bytes of device memory, bound to the device's stream.
pub struct HipStorage {
    device: HipDevice,
    dtype: DType,
    len: usize,
    /// The error if the elements could not be copied: see [`HipStorage::part`].
    buffer: Result<DeviceBuffer<u8>, Box<hip_safe::Error>>,
}

impl HipStorage {
    /// Allocates `len` uninitialised elements.
    ///
    /// # Safety
    /// Every element is written, by work on the device's stream or ordered before it, before it is read.
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
        Ok(Self { device: device.clone(), dtype, len, buffer: Ok(buffer) })
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
        Ok(Self { device: device.clone(), dtype, len, buffer: Ok(buffer) })
    }

    /// Copies a host storage to the device.
    pub(crate) fn from_cpu(device: &HipDevice, source: &CpuStorage, operation: &'static str) -> Result<Self> {
        let bytes = Self::from_bytes(device, source.as_bytes(), operation)?;
        Ok(Self { dtype: source.dtype(), len: source.len(), ..bytes })
    }

    /// Copies bytes to the device, as `u8` elements.
    pub(crate) fn from_bytes(device: &HipDevice, bytes: &[u8], operation: &'static str) -> Result<Self> {
        let buffer = device.stream().upload(bytes).map_err(wrap(operation))?;
        Ok(Self { device: device.clone(), dtype: DType::U8, len: bytes.len(), buffer: Ok(buffer) })
    }

    /// `len` elements, whose bytes `fill` writes piece by piece: see [`crate::Storage::staged`].
    pub(crate) fn filled(
        staging: &mut Staging,
        dtype: DType,
        len: usize,
        operation: &'static str,
        fill: Fill<'_>,
    ) -> Result<Self> {
        let device = Device::Hip(staging.device().clone());
        // SAFETY: S15: the copies below write every byte, and all later work comes behind them, also that of other
        // streams; or nobody gets the storage.
        let mut storage = unsafe { Self::uninit(staging.device(), dtype, len, operation) }.on(&device)?;
        let (bytes, most) = (storage.all(operation)?.byte_len(), staging.piece());
        for start in (0..bytes).step_by(most) {
            let range = start..bytes.min(start + most);
            let target = all_mut(&mut storage.buffer, operation)?.slice_mut(range);
            let mut target = target.map_err(wrap(operation)).on(&device)?;
            staging.bring(&mut target, operation, |piece| fill(start, piece))?;
        }
        Ok(storage)
    }

    /// Reads back the elements `start..start + len`. Also returns the error of an earlier operation with a wrong id.
    pub(crate) fn to_cpu(&self, start: usize, len: usize, operation: &'static str) -> Result<CpuStorage> {
        let size = self.dtype.size_in_bytes();
        let mut host = cpu::zeroed(self.dtype, len, operation)?;
        let view = self.all(operation)?.slice(start * size..(start + len) * size).map_err(wrap(operation))?;
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

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The bytes from element `start` on, to read.
    #[inline(always)]
    pub(super) fn tail(&self, start: usize, operation: &'static str) -> Result<DeviceView<'_, u8>> {
        if start == 0 {
            return Ok(self.all(operation)?.view());
        }
        let range = start.min(self.len) * self.dtype.size_in_bytes()..;
        self.all(operation)?.slice(range).map_err(wrap(operation))
    }

    /// The elements from `start` on, as a library's type of the dtype's size.
    pub(super) fn tail_of<T: AnyBits>(&self, start: usize) -> hip_safe::Result<DeviceView<'_, T>> {
        let buffer = self.buffer.as_ref().map_err(|lost| (**lost).clone())?;
        buffer.slice(start.min(self.len) * self.dtype.size_in_bytes()..)?.recast()
    }

    /// Whether the device address of element `start` is a multiple of `bytes`.
    pub(super) fn begins_at(&self, start: usize, bytes: usize) -> bool {
        let first = self.buffer.as_ref().map_or(0, |buffer| buffer.device_ptr().addr());
        (first + start * self.dtype.size_in_bytes()).is_multiple_of(bytes)
    }

    /// As [`HipStorage::tail_of`], to write.
    pub(super) fn tail_mut_of<T: AnyBits>(&mut self, start: usize) -> hip_safe::Result<DeviceViewMut<'_, T>> {
        let range = start.min(self.len) * self.dtype.size_in_bytes()..;
        let buffer = self.buffer.as_mut().map_err(|lost| (**lost).clone())?;
        buffer.slice_mut(range)?.recast()
    }

    /// The bytes from element `start` on, to write.
    #[inline(always)]
    pub(super) fn tail_mut(
        &mut self,
        start: usize,
        operation: &'static str,
    ) -> Result<DeviceViewMut<'_, u8>> {
        if start == 0 {
            return Ok(all_mut(&mut self.buffer, operation)?.view_mut());
        }
        let range = start.min(self.len) * self.dtype.size_in_bytes()..;
        all_mut(&mut self.buffer, operation)?.slice_mut(range).map_err(wrap(operation))
    }

    /// The device, and the bytes from element `start` on, to write.
    pub(super) fn split_tail_mut(
        &mut self,
        start: usize,
        operation: &'static str,
    ) -> Result<(&HipDevice, DeviceViewMut<'_, u8>)> {
        let range = start.min(self.len) * self.dtype.size_in_bytes()..;
        let tail = all_mut(&mut self.buffer, operation)?.slice_mut(range).map_err(wrap(operation))?;
        Ok((&self.device, tail))
    }

    /// Names the memory in lists of live buffers.
    pub(crate) fn set_name(&self, name: &dyn std::fmt::Display) {
        if let Ok(buffer) = &self.buffer {
            buffer.set_name(name);
        }
    }

    #[inline(always)]
    fn all(&self, operation: &'static str) -> Result<&DeviceBuffer<u8>> {
        self.buffer.as_ref().map_err(|lost| not_copied(operation, lost))
    }
}

/// Use by graphs.
impl HipStorage {
    /// Whether graph launches write this memory: see [`DeviceBuffer::is_written_by_graphs`].
    #[inline]
    pub(crate) fn is_written_by_graphs(&self) -> bool {
        self.buffer.as_ref().is_ok_and(DeviceBuffer::is_written_by_graphs)
    }

    /// Whether graph launches read or write this memory.
    pub(crate) fn is_used_by_graphs(&self) -> bool {
        self.buffer.as_ref().is_ok_and(DeviceBuffer::is_used_by_graphs)
    }

    /// A copy of the elements in `range`. On failure the storage keeps the error, and every later use returns it.
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        let (dtype, len, size) = (self.dtype, range.len(), self.dtype.size_in_bytes());
        let copy = |buffer: &DeviceBuffer<u8>| {
            self.device.stream().clone_of(&buffer.slice(range.start * size..range.end * size)?)
        };
        let buffer = self.buffer.as_ref().map_err(Box::clone);
        let buffer = buffer.and_then(|buffer| copy(buffer).map_err(Box::new));
        Self { device: self.device.clone(), dtype, len, buffer }
    }

    /// The error, if [`HipStorage::part`] failed.
    pub(crate) fn lost(&self) -> Option<&hip_safe::Error> {
        self.buffer.as_ref().err().map(|lost| &**lost)
    }
}

#[inline(always)]
fn all_mut<'a>(
    buffer: &'a mut Result<DeviceBuffer<u8>, Box<hip_safe::Error>>,
    operation: &'static str,
) -> Result<&'a mut DeviceBuffer<u8>> {
    buffer.as_mut().map_err(|lost| not_copied(operation, lost))
}

#[cold]
#[inline(never)]
fn not_copied(operation: &'static str, lost: &hip_safe::Error) -> Error {
    Error::new(operation, ErrorKind::CloneFailed(lost.clone()))
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
