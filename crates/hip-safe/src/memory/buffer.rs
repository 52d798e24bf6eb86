//! A buffer in device memory: one owner, one stream.

use super::allocation::{self, Allocation, byte_length};
use super::view::range_of;
use crate::{AnyBits, Device, DeviceRepr, DeviceView, DeviceViewMut, Result, Stream};
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::sync::Arc;

/// `len` elements of `T` in device memory, for work on any stream of the device.
///
/// Work that uses it is ordered across streams. It has one owner. [`DeviceBuffer::try_clone`] copies the elements;
/// [`SharedBuffer`](crate::SharedBuffer) shares them. The drop never waits: the memory returns to the device's pool, and its next owner comes
/// after the work that uses it. A buffer of no elements has no memory and makes no calls.
pub struct DeviceBuffer<T: DeviceRepr> {
    allocation: Arc<Allocation>,
    /// The stream that it was bound to after its allocation.
    rebound: Option<Stream>,
    len: usize,
    elements: PhantomData<T>,
}

impl Stream {
    /// Allocates `len` elements whose bytes are all zero.
    ///
    /// # Errors
    /// [`Error::SizeOverflow`](crate::Error::SizeOverflow), [`Error::OutOfMemory`](crate::Error::OutOfMemory), or
    /// the driver's error.
    #[doc(alias = "hipMalloc")]
    #[doc(alias = "hipMemset")]
    pub fn alloc_zeros<T: AnyBits>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        // SAFETY: S15: every byte is set before any read can be submitted.
        let mut buffer = unsafe { self.alloc_uninit(len) }?;
        self.memset(&mut buffer, 0)?;
        Ok(buffer)
    }

    /// Allocates `len` elements of undefined content.
    ///
    /// # Errors
    /// As [`Stream::alloc_zeros`].
    ///
    /// # Safety
    /// Every element is written before it is read.
    #[doc(alias = "hipMalloc")]
    pub unsafe fn alloc_uninit<T: DeviceRepr>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        Ok(DeviceBuffer::of_allocation(Allocation::new(self, byte_length::<T>(len)?)?, len))
    }
}

impl<T: DeviceRepr> DeviceBuffer<T> {
    /// A buffer of `len` elements. The allocation is large enough.
    pub(crate) fn of_allocation(allocation: Arc<Allocation>, len: usize) -> Self {
        Self { allocation, rebound: None, len, elements: PhantomData }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its size in bytes.
    pub fn byte_len(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The stream that it was allocated on, or bound to since.
    pub fn stream(&self) -> &Stream {
        self.rebound.as_ref().unwrap_or_else(|| self.allocation.stream())
    }

    /// Whether a graph writes it when it is launched. This ends when the graph and its executable graphs are dropped. The graph that this
    /// thread captures from the buffer's stream does not count, because its writes are in the order of the capture.
    #[inline]
    pub fn is_written_by_graphs(&self) -> bool {
        self.allocation.is_written_by_graphs(self.stream())
    }

    /// Whether a graph reads or writes it when it is launched. An active capture counts as a graph.
    pub fn is_used_by_graphs(&self) -> bool {
        self.allocation.is_used_by_graphs()
    }

    /// Names it in lists of live buffers: see [`MemoryCheck`](crate::MemoryCheck). While that is off, nothing is done.
    pub fn set_name(&self, name: impl fmt::Display) {
        self.allocation.set_name(name);
    }

    /// The buffer itself, named by [`DeviceBuffer::set_name`].
    #[must_use]
    pub fn named(self, name: impl fmt::Display) -> Self {
        self.set_name(name);
        self
    }

    /// The device it is on.
    pub fn device(&self) -> &Device {
        self.stream().device()
    }

    /// Its address on the device; null if it has no bytes.
    pub fn device_ptr(&self) -> *const T {
        self.allocation.address().raw().cast()
    }

    /// Its address on the device, for writing; null if it has no bytes.
    pub fn device_ptr_mut(&mut self) -> *mut T {
        self.allocation.address().raw().cast()
    }

    /// All of it, to read.
    pub fn view(&self) -> DeviceView<'_, T> {
        DeviceView::new(self.allocation.address(), self.len, self.stream(), &self.allocation)
    }

    /// All of it, to write.
    pub fn view_mut(&mut self) -> DeviceViewMut<'_, T> {
        let view = DeviceViewMut::new(self.allocation.address(), self.len, self.stream(), &self.allocation);
        // SAFETY: S4: the buffer is borrowed exclusively for as long.
        unsafe { view.exclusive() }
    }

    /// A range of it, to read.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) if the range does not lie inside.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceView<'_, T>> {
        self.view().slice(range)
    }

    /// A range of it, to write.
    ///
    /// # Errors
    /// As [`DeviceBuffer::slice`].
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceViewMut<'_, T>> {
        let range = range_of(range, self.len)?;
        self.view_mut().into_slice(range)
    }

    /// Two parts, before and from `mid`, to read.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) if `mid` is past the end.
    pub fn split_at(&self, mid: usize) -> Result<(DeviceView<'_, T>, DeviceView<'_, T>)> {
        self.view().split_at(mid)
    }

    /// Two parts, before and from `mid`, to write.
    ///
    /// # Errors
    /// As [`DeviceBuffer::split_at`].
    pub fn split_at_mut(&mut self, mid: usize) -> Result<(DeviceViewMut<'_, T>, DeviceViewMut<'_, T>)> {
        self.view_mut().into_split_at(mid)
    }

    /// A copy of the elements in memory of its own, on the same stream.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), or the driver's error.
    pub fn try_clone(&self) -> Result<Self> {
        self.stream().clone_of(self)
    }

    /// Binds it to another stream of its device, without waiting. [`DeviceBuffer::try_clone`] copies on that stream, and the pool gets the
    /// memory back there.
    ///
    /// # Errors
    /// [`Error::WrongDevice`](crate::Error::WrongDevice) for a stream of another device.
    pub fn rebind(&mut self, stream: &Stream) -> Result<()> {
        stream.device().check_same("the buffer", self.device())?;
        self.allocation.set_release_stream(stream);
        self.rebound = Some(stream.clone());
        Ok(())
    }

    /// Leaves the order of its uses to the caller: no event is recorded for it, and no use waits.
    ///
    /// # Safety
    /// The caller orders work on several streams by events of its own. When the buffer is dropped, all work that uses it comes before later
    /// work on [`DeviceBuffer::stream`].
    pub unsafe fn untracked(&mut self) {
        self.allocation.leave_order();
    }

    /// Returns the memory to the pool without waiting, and returns the error of that.
    ///
    /// # Errors
    /// [`Error::Poisoned`](crate::Error::Poisoned) after a sticky error. Where buffers come directly from the driver, the error of the wait,
    /// and then the memory stays allocated, or that of the free.
    #[doc(alias = "hipFree")]
    pub fn close(self) -> Result<()> {
        allocation::close(self.allocation)
    }
}

impl<T: DeviceRepr> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceBuffer<{}>[{}] on {}", std::any::type_name::<T>(), self.len, self.stream())
    }
}
