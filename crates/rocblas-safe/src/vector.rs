//! Vectors in device memory.

use crate::storage::{self, Extent, Storage, cut, cut_mut};
use crate::{Element, Error, Result, VectorBatch, VectorBatchMut};
use hip_safe::{DeviceBuffer, DeviceView, DeviceViewMut};

/// A vector in device memory, to read. Copying it copies the reference. A view, or a borrowed buffer, is one as it is.
#[derive(Debug, Clone, Copy)]
pub struct Vector<'a, T> {
    pub(crate) line: Line,
    pub(crate) view: DeviceView<'a, T>,
}

/// A vector in device memory, to read and to write: the only reference to its elements while it lives.
#[derive(Debug)]
pub struct VectorMut<'a, T> {
    pub(crate) line: Line,
    pub(crate) view: DeviceViewMut<'a, T>,
}

/// A vector without its memory. With a negative increment its first element is the last one in memory, as in BLAS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) len: usize,
    pub(crate) inc: isize,
}

impl Line {
    pub(crate) fn new(len: usize, inc: isize) -> Result<Self> {
        match (len, inc) {
            (2.., 0) => Err(Error::ZeroIncrement { len }),
            // The distance to a next one says nothing where there is none.
            (0 | 1, _) => Ok(Self { len, inc: 1 }),
            _ if i64::try_from(len).is_err() => Err(Error::SizeOverflow { what: "vector" }),
            _ => Ok(Self { len, inc }),
        }
    }

    /// The same elements in the order of memory.
    pub(crate) fn forward(self) -> Self {
        Self { inc: self.inc.wrapping_abs(), ..self }
    }

    pub(crate) fn extent(self) -> Extent {
        (self.len, self.inc.unsigned_abs())
    }

    pub(crate) fn span(self) -> Result<usize> {
        storage::span("vector", &[self.extent()])
    }
}

impl<'a, T: Element> Vector<'a, T> {
    /// All elements of a view.
    pub fn new(view: DeviceView<'a, T>) -> Self {
        Self { line: Line { len: view.len(), inc: 1 }, view }
    }

    /// `len` elements, each `inc` behind the one before. A negative `inc` counts from the end: the vector's first element is then the last
    /// one that the view is used for.
    ///
    /// # Errors
    /// [`Error::ZeroIncrement`]; [`Error::Span`] if the view is too short.
    pub fn with_inc(view: DeviceView<'a, T>, len: usize, inc: isize) -> Result<Self> {
        let line = Line::new(len, inc)?;
        Ok(Self { line, view: cut("vector", view, line.span()?)? })
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.line.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.line.len == 0
    }

    /// A batch of `count` times this vector.
    pub fn repeat(self, count: usize) -> VectorBatch<'a, T> {
        VectorBatch { line: self.line, storage: Storage::Strided { view: self.view, stride: 0, count } }
    }
}

impl<'a, T: Element> VectorMut<'a, T> {
    /// All elements of a view.
    pub fn new(view: DeviceViewMut<'a, T>) -> Self {
        Self { line: Line { len: view.len(), inc: 1 }, view }
    }

    /// As [`Vector::with_inc`]. What lies between the elements is not written.
    ///
    /// # Errors
    /// As there.
    pub fn with_inc(view: DeviceViewMut<'a, T>, len: usize, inc: isize) -> Result<Self> {
        let line = Line::new(len, inc)?;
        Ok(Self { line, view: cut_mut("vector", view, line.span()?)? })
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.line.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.line.len == 0
    }

    /// All of it, to read, while this reference rests.
    pub fn view(&self) -> Vector<'_, T> {
        Vector { line: self.line, view: self.view.view() }
    }

    /// All of it, to write, while this reference rests.
    pub fn reborrow(&mut self) -> VectorMut<'_, T> {
        VectorMut { line: self.line, view: self.view.reborrow() }
    }
}

impl<'a, T: Element> From<Vector<'a, T>> for VectorBatch<'a, T> {
    fn from(Vector { line, view }: Vector<'a, T>) -> Self {
        Self { line, storage: Storage::One(view) }
    }
}

impl<'a, T: Element> From<DeviceView<'a, T>> for VectorBatch<'a, T> {
    fn from(view: DeviceView<'a, T>) -> Self {
        Vector::new(view).into()
    }
}

impl<'a, T: Element> From<&'a DeviceBuffer<T>> for VectorBatch<'a, T> {
    fn from(buffer: &'a DeviceBuffer<T>) -> Self {
        buffer.view().into()
    }
}

impl<'a, T: Element> From<VectorMut<'a, T>> for VectorBatchMut<'a, T> {
    fn from(VectorMut { line, view }: VectorMut<'a, T>) -> Self {
        Self { line, storage: Storage::One(view) }
    }
}

impl<'a, T: Element> From<&'a mut VectorMut<'_, T>> for VectorBatchMut<'a, T> {
    fn from(vector: &'a mut VectorMut<'_, T>) -> Self {
        vector.reborrow().into()
    }
}

impl<'a, T: Element> From<DeviceViewMut<'a, T>> for VectorBatchMut<'a, T> {
    fn from(view: DeviceViewMut<'a, T>) -> Self {
        VectorMut::new(view).into()
    }
}

impl<'a, T: Element> From<&'a mut DeviceBuffer<T>> for VectorBatchMut<'a, T> {
    fn from(buffer: &'a mut DeviceBuffer<T>) -> Self {
        buffer.view_mut().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        assert_eq!(Line::new(3, -2).unwrap().span().unwrap(), 5);
        assert_eq!(Line::new(1, 0).unwrap(), Line { len: 1, inc: 1 });
        assert_eq!(Line::new(0, -7).unwrap().span().unwrap(), 0);
        assert!(matches!(Line::new(2, 0), Err(Error::ZeroIncrement { len: 2 })));
        assert!(matches!(Line::new(usize::MAX, 1), Err(Error::SizeOverflow { .. })));
        assert!(matches!(Line::new(3, isize::MIN).unwrap().span(), Err(Error::SizeOverflow { .. })));
    }
}
