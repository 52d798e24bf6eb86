//! Shared buffers: reference-counted, and copied on write.

use crate::{AnyBits, DeviceBuffer, DeviceRepr, DeviceSlice, DeviceView, Result, Stream};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A reference-counted [`DeviceBuffer`]. Cloning it copies a reference; the last owner frees the memory. It dereferences to the buffer for
/// reading, and [`SharedBuffer::make_mut`] gives write access by copy-on-write. A graph that was captured while there was one owner writes the
/// buffer for all later owners: if [`DeviceBuffer::is_written_by_graphs`] is true, copy it with [`Stream::clone_of`] instead of cloning it.
pub struct SharedBuffer<T: DeviceRepr> {
    buffer: Arc<DeviceBuffer<T>>,
}

impl<T: DeviceRepr> SharedBuffer<T> {
    /// Shares a buffer. The elements stay where they are.
    pub fn new(buffer: DeviceBuffer<T>) -> Self {
        Self { buffer: Arc::new(buffer) }
    }

    /// How many owners the buffer has.
    pub fn strong_count(&self) -> usize {
        Arc::strong_count(&self.buffer)
    }

    /// Whether two owners own the same buffer.
    pub fn same_buffer(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.buffer, &other.buffer)
    }

    /// The buffer, to write. If there are other owners, the elements are copied on `stream` first, and this owner gets the copy.
    /// [`Device::shared_copies`](crate::Device::shared_copies) counts the copies.
    ///
    /// # Errors
    /// [`Error::WrongDevice`](crate::Error::WrongDevice) if the buffer is on another device,
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), or the driver's error; then nothing has changed.
    pub fn make_mut(&mut self, stream: &Stream) -> Result<&mut DeviceBuffer<T>> {
        stream.device().check_same("the buffer", self.buffer.device())?;
        if Arc::get_mut(&mut self.buffer).is_none() {
            let copy = stream.clone_of(&*self.buffer)?;
            stream.device().count_shared_copy();
            self.buffer = Arc::new(copy);
        }
        Ok(Arc::get_mut(&mut self.buffer).expect("there is no other reference"))
    }

    /// The buffer, if this is its only owner.
    ///
    /// # Errors
    /// `self`, while there are other owners.
    pub fn try_unwrap(self) -> Result<DeviceBuffer<T>, Self> {
        Arc::try_unwrap(self.buffer).map_err(|buffer| Self { buffer })
    }
}

impl<T: AnyBits> SharedBuffer<T> {
    /// The elements, after waiting for the work before on the buffer's stream.
    ///
    /// # Errors
    /// As [`Stream::download`].
    pub fn download(&self) -> Result<Vec<T>> {
        self.buffer.stream().download(&*self.buffer)
    }
}

impl<T: DeviceRepr> Clone for SharedBuffer<T> {
    fn clone(&self) -> Self {
        Self { buffer: Arc::clone(&self.buffer) }
    }
}

impl<T: DeviceRepr> Deref for SharedBuffer<T> {
    type Target = DeviceBuffer<T>;

    fn deref(&self) -> &DeviceBuffer<T> {
        &self.buffer
    }
}

impl<T: DeviceRepr> From<DeviceBuffer<T>> for SharedBuffer<T> {
    fn from(buffer: DeviceBuffer<T>) -> Self {
        Self::new(buffer)
    }
}

impl<T: DeviceRepr> super::view::sealed::Sealed for SharedBuffer<T> {}

impl<T: DeviceRepr> DeviceSlice for SharedBuffer<T> {
    type Item = T;

    fn as_view(&self) -> DeviceView<'_, T> {
        self.buffer.view()
    }
}

impl<T: DeviceRepr> fmt::Debug for SharedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} with {} owners", self.buffer, self.strong_count())
    }
}
