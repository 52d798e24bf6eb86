//! Views: parts of buffers with the borrowing rules of slices.

use super::allocation::Allocation;
use crate::handle::Handle;
use crate::{AnyBits, DeviceBuffer, DeviceRepr, Error, Result, Stream};
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, Range, RangeBounds};
use std::sync::Arc;

/// Elements of a buffer, to read. Copying it copies the reference.
pub struct DeviceView<'a, T> {
    address: Handle<c_void>,
    len: usize,
    stream: &'a Stream,
    owner: &'a Arc<Allocation>,
    elements: PhantomData<&'a [T]>,
}

/// Elements of a buffer, to read and to write: the only reference to them while it lives.
pub struct DeviceViewMut<'a, T> {
    address: Handle<c_void>,
    len: usize,
    stream: &'a Stream,
    owner: &'a Arc<Allocation>,
    /// Whether the whole buffer is borrowed exclusively, so that there is no view of any other part.
    exclusive: bool,
    elements: PhantomData<&'a mut [T]>,
}

/// Other crates cannot implement the traits. An implementation could return different views for the check of a launch and for its use.
pub(crate) mod sealed {
    pub trait Sealed {}
}

/// What can be read as elements in device memory: buffers and views. No other crate implements it.
pub trait DeviceSlice: sealed::Sealed {
    /// The type of its elements.
    type Item: DeviceRepr;

    /// All of it, to read.
    fn as_view(&self) -> DeviceView<'_, Self::Item>;
}

/// What can be written as elements in device memory: buffers and writable views. No other crate implements it.
pub trait DeviceSliceMut: DeviceSlice {
    /// All of it, to write.
    fn as_view_mut(&mut self) -> DeviceViewMut<'_, Self::Item>;
}

impl<'a, T: DeviceRepr> DeviceView<'a, T> {
    pub(crate) fn new(
        address: Handle<c_void>,
        len: usize,
        stream: &'a Stream,
        owner: &'a Arc<Allocation>,
    ) -> Self {
        Self { address, len, stream, owner, elements: PhantomData }
    }

    pub(crate) fn owner(&self) -> &'a Arc<Allocation> {
        self.owner
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

    /// The stream that its buffer is bound to.
    pub fn stream(&self) -> &'a Stream {
        self.stream
    }

    /// Whether launches of a graph write the buffer that it is of: see [`DeviceBuffer::is_written_by_graphs`].
    pub fn is_written_by_graphs(&self) -> bool {
        self.owner.is_written_by_graphs(self.stream)
    }

    /// The address of its first element on the device.
    pub fn device_ptr(&self) -> *const T {
        self.address.raw().cast()
    }

    /// A range of it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the range does not lie inside.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let range = range_of(range, self.len)?;
        Ok(Self::new(self.address.offset(range.start * size_of::<T>()), range.len(), self.stream, self.owner))
    }

    /// Two parts, before and from `mid`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if `mid` is past the end.
    pub fn split_at(&self, mid: usize) -> Result<(Self, Self)> {
        Ok((self.slice(..mid)?, self.slice(mid..)?))
    }

    /// The same bytes as elements of another type.
    ///
    /// # Errors
    /// [`Error::Recast`] if they are no whole number of such elements, or not aligned for them.
    pub fn recast<U: AnyBits>(&self) -> Result<DeviceView<'a, U>> {
        let len = recast_len::<U>(self.address, self.byte_len())?;
        Ok(DeviceView::new(self.address, len, self.stream, self.owner))
    }
}

impl<'a, T: DeviceRepr> DeviceViewMut<'a, T> {
    pub(crate) fn new(
        address: Handle<c_void>,
        len: usize,
        stream: &'a Stream,
        owner: &'a Arc<Allocation>,
    ) -> Self {
        Self { address, len, stream, owner, exclusive: false, elements: PhantomData }
    }

    /// The view of a buffer that is borrowed exclusively as a whole.
    ///
    /// # Safety
    /// While the view lives there is no other view of any part of the buffer, and no other use of the reference to its memory.
    pub(crate) unsafe fn exclusive(self) -> Self {
        Self { exclusive: true, ..self }
    }

    pub(crate) fn is_exclusive(&self) -> bool {
        self.exclusive
    }

    pub(crate) fn owner(&self) -> &'a Arc<Allocation> {
        self.owner
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

    /// The stream that its buffer is bound to.
    pub fn stream(&self) -> &'a Stream {
        self.stream
    }

    /// The address of its first element on the device.
    pub fn device_ptr_mut(&mut self) -> *mut T {
        self.address.raw().cast()
    }

    /// All of it, to read, while this view is borrowed.
    pub fn view(&self) -> DeviceView<'_, T> {
        DeviceView::new(self.address, self.len, self.stream, self.owner)
    }

    /// All of it, to write, while this view is borrowed.
    pub fn reborrow(&mut self) -> DeviceViewMut<'_, T> {
        DeviceViewMut { ..*self }
    }

    /// A range of it, to write, while this view is borrowed.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the range does not lie inside.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceViewMut<'_, T>> {
        self.reborrow().into_slice(range)
    }

    /// A range of it, for as long as the buffer is borrowed.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the range does not lie inside.
    pub fn into_slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
        let range = range_of(range, self.len)?;
        Ok(Self { address: self.address.offset(range.start * size_of::<T>()), len: range.len(), ..self })
    }

    /// Two parts, before and from `mid`, to write, while this view is borrowed.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if `mid` is past the end.
    pub fn split_at_mut(&mut self, mid: usize) -> Result<(DeviceViewMut<'_, T>, DeviceViewMut<'_, T>)> {
        self.reborrow().into_split_at(mid)
    }

    /// Two parts, before and from `mid`, for as long as the buffer is borrowed.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if `mid` is past the end.
    pub fn into_split_at(self, mid: usize) -> Result<(Self, Self)> {
        let Self { address, len, stream, owner, .. } = self;
        let Range { start, end } = range_of(mid.., len)?;
        Ok((
            Self::new(address, start, stream, owner),
            Self::new(address.offset(start * size_of::<T>()), end - start, stream, owner),
        ))
    }

    /// The same bytes as elements of another type.
    ///
    /// # Errors
    /// [`Error::Recast`] if they are no whole number of such elements, or not aligned for them.
    pub fn recast<U: AnyBits>(self) -> Result<DeviceViewMut<'a, U>>
    where
        T: AnyBits,
    {
        let len = recast_len::<U>(self.address, self.byte_len())?;
        let Self { address, stream, owner, exclusive, .. } = self;
        Ok(DeviceViewMut { address, len, stream, owner, exclusive, elements: PhantomData })
    }
}

/// The range in numbers, if it lies inside `len` elements.
pub(crate) fn range_of(range: impl RangeBounds<usize>, len: usize) -> Result<Range<usize>> {
    let start = match range.start_bound() {
        Bound::Unbounded => Some(0),
        Bound::Included(&start) => Some(start),
        Bound::Excluded(&before) => before.checked_add(1),
    };
    let end = match range.end_bound() {
        Bound::Unbounded => Some(len),
        Bound::Included(&last) => last.checked_add(1),
        Bound::Excluded(&end) => Some(end),
    };
    match (start, end) {
        (Some(start), Some(end)) if start <= end && end <= len => Ok(start..end),
        _ => {
            Err(Error::OutOfRange { start: start.unwrap_or(usize::MAX), end: end.unwrap_or(usize::MAX), len })
        }
    }
}

fn recast_len<U>(address: Handle<c_void>, bytes: usize) -> Result<usize> {
    let (size, align, address) = (size_of::<U>(), align_of::<U>(), address.raw().addr());
    if bytes == 0 {
        return Ok(0);
    }
    if size == 0 || !bytes.is_multiple_of(size) || !address.is_multiple_of(align) {
        return Err(Error::Recast { bytes, address, size, align });
    }
    Ok(bytes / size)
}

impl<T> Clone for DeviceView<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DeviceView<'_, T> {}

impl<T> sealed::Sealed for DeviceView<'_, T> {}
impl<T> sealed::Sealed for DeviceViewMut<'_, T> {}
impl<T: DeviceRepr> sealed::Sealed for DeviceBuffer<T> {}

impl<T: DeviceRepr> DeviceSlice for DeviceView<'_, T> {
    type Item = T;

    fn as_view(&self) -> DeviceView<'_, T> {
        *self
    }
}

impl<T: DeviceRepr> DeviceSlice for DeviceViewMut<'_, T> {
    type Item = T;

    fn as_view(&self) -> DeviceView<'_, T> {
        self.view()
    }
}

impl<T: DeviceRepr> DeviceSliceMut for DeviceViewMut<'_, T> {
    fn as_view_mut(&mut self) -> DeviceViewMut<'_, T> {
        self.reborrow()
    }
}

impl<T: DeviceRepr> DeviceSlice for DeviceBuffer<T> {
    type Item = T;

    fn as_view(&self) -> DeviceView<'_, T> {
        self.view()
    }
}

impl<T: DeviceRepr> DeviceSliceMut for DeviceBuffer<T> {
    fn as_view_mut(&mut self) -> DeviceViewMut<'_, T> {
        self.view_mut()
    }
}

impl<T> fmt::Debug for DeviceView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceView<{}>[{}] on {}", std::any::type_name::<T>(), self.len, self.stream)
    }
}

impl<T> fmt::Debug for DeviceViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceViewMut<{}>[{}] on {}", std::any::type_name::<T>(), self.len, self.stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_lie_inside() {
        assert_eq!(range_of(.., 5).ok(), Some(0..5));
        assert_eq!(range_of(2..=4, 5).ok(), Some(2..5));
        assert_eq!(range_of(5.., 5).ok(), Some(5..5));
        assert_eq!(range_of((Bound::Excluded(1), Bound::Unbounded), 5).ok(), Some(2..5));
        assert_eq!(range_of(0..0, 0).ok(), Some(0..0));
    }

    #[test]
    #[allow(clippy::reversed_empty_ranges)]
    fn ranges_that_do_not_lie_inside() {
        for range in [3..6, 6..6, 3..2, usize::MAX..usize::MAX] {
            let named = (range.start, range.end);
            match range_of(range, 5) {
                Err(Error::OutOfRange { start, end, len: 5 }) => assert_eq!((start, end), named),
                other => panic!("{named:?}: {other:?}"),
            }
        }
        assert!(range_of(0..=usize::MAX, 5).is_err());
    }

    #[cfg(not(loom))]
    #[test]
    fn a_view_is_exclusive_unless_the_buffer_was_split() {
        let stream = crate::Device::new(&hip_host::platform(), 0).unwrap().new_stream().unwrap();
        let mut buffer = stream.alloc_zeros::<u32>(8).unwrap();
        assert!(buffer.view_mut().is_exclusive() && buffer.slice_mut(2..).unwrap().is_exclusive());
        assert!(buffer.view_mut().reborrow().is_exclusive());
        assert!(buffer.view_mut().recast::<u8>().unwrap().is_exclusive());
        let (mut left, right) = buffer.split_at_mut(4).unwrap();
        assert!(!left.is_exclusive() && !right.is_exclusive());
        assert!(!left.reborrow().is_exclusive() && !left.slice_mut(..2).unwrap().is_exclusive());
        assert!(!left.recast::<u8>().unwrap().is_exclusive());
    }
}
