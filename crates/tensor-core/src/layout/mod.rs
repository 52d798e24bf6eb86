//! Layouts: the positions of a tensor's elements in its storage.

mod collapse;
mod view;

use crate::axis::{Axes, Axis, AxisSet};
use crate::error::{Error, ErrorKind, Result};
use crate::shape::{Dims, Shape};

pub use collapse::{Collapsed, collapse};

/// A shape, one stride per dimension, and an offset, all in elements. Element `(i, j, …)` is at
/// `offset + i·strides[0] + j·strides[1] + …` in the storage.
///
/// Changing a layout moves no element, which makes views cheap. Up to rank 8 nothing is allocated.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Shape,
    strides: Dims,
    offset: usize,
    /// Derived values, cached because every operation uses them.
    elements: usize,
    contiguous: bool,
}

impl Clone for Layout {
    fn clone(&self) -> Layout {
        // Copies the memory; the derived implementation copies number by number.
        Layout { shape: self.shape.clone(), strides: Dims::from_slice(&self.strides), ..*self }
    }
}

impl Layout {
    /// The contiguous row-major layout of `shape` at offset 0.
    ///
    /// # Errors
    /// [`ErrorKind::Overflow`] of `operation` if the element count does not fit `usize`.
    pub fn contiguous(shape: impl Into<Shape>, operation: &'static str) -> Result<Layout> {
        let shape = shape.into();
        shape.elements(operation)?;
        Ok(Layout::tight(shape))
    }

    /// The contiguous row-major layout of `shape` at offset 0. The element count was checked.
    pub(crate) fn tight(shape: Shape) -> Layout {
        let (strides, elements) = (shape.row_major_strides(), count(&shape));
        Layout { shape, strides, offset: 0, elements, contiguous: true }
    }

    /// The contiguous row-major layout of the same shape at offset 0.
    #[inline]
    pub(crate) fn tightened(&self) -> Layout {
        let (shape, strides) = self.shape.with_row_major_strides();
        Layout { shape, strides, offset: 0, contiguous: true, ..*self }
    }

    /// The same layout at offset 0.
    pub(crate) fn at_the_start(self) -> Layout {
        Layout { offset: 0, ..self }
    }

    /// The layout of a shape with one stride per dimension.
    fn of(shape: Shape, strides: Dims, offset: usize) -> Layout {
        let (elements, contiguous) = (count(&shape), is_row_major(&shape, &strides));
        Layout { shape, strides, offset, elements, contiguous }
    }

    /// A layout with any strides, in elements.
    ///
    /// # Errors
    /// [`ErrorKind::Overflow`] of `operation` if the element count or an element's position does not fit `usize`;
    /// [`ErrorKind::Rank`] unless there is one stride per dimension.
    #[inline]
    pub fn strided(
        shape: impl Into<Shape>,
        strides: &[usize],
        offset: usize,
        operation: &'static str,
    ) -> Result<Layout> {
        let shape = shape.into();
        if shape.rank() != strides.len() {
            return Err(other_rank(shape, operation));
        }
        let Some((elements, contiguous)) = measure(&shape, strides, offset) else {
            return Err(overflow(shape, operation));
        };
        Ok(Layout { shape, strides: Dims::from_slice(strides), offset, elements, contiguous })
    }

    /// The lengths of the dimensions.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The lengths of the dimensions, outermost first.
    pub fn dims(&self) -> &[usize] {
        &self.shape
    }

    /// The strides in elements, one per dimension.
    pub fn strides(&self) -> &[usize] {
        &self.strides
    }

    /// The position of the first element in the storage.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The number of elements. The constructor checked that it fits.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Whether the elements are dense and in row-major order, at any offset. Empty layouts are contiguous.
    pub fn is_contiguous(&self) -> bool {
        self.contiguous
    }

    /// Whether two indices may have the same position, as after [`Layout::expand`]. May return true without an overlap.
    pub fn may_overlap(&self) -> bool {
        if self.is_contiguous() {
            return false;
        }
        let mut axes: Vec<(usize, usize)> = self
            .strides
            .iter()
            .copied()
            .zip(self.shape.iter().copied())
            .filter(|&(_, length)| length > 1)
            .collect();
        axes.sort_unstable();
        let mut reach = 0usize;
        axes.into_iter().any(|(stride, length)| {
            let overlaps = stride <= reach;
            reach = reach.saturating_add(stride.saturating_mul(length - 1));
            overlaps
        })
    }

    /// One past the last position of an element; the offset if there are no elements.
    #[inline]
    pub fn end(&self) -> usize {
        self.checked_end().unwrap_or(usize::MAX)
    }

    /// The storage position of element `position` in row-major order.
    ///
    /// A `position` of [`Layout::elements`] or more wraps around.
    pub fn offset_of(&self, position: usize) -> usize {
        let mut rest = position;
        let mut offset = self.offset;
        for (&length, &stride) in self.shape.iter().zip(&self.strides).rev() {
            offset += rest % length.max(1) * stride;
            rest /= length.max(1);
        }
        offset
    }

    /// Permutes the dimensions: dimension `i` of the result is dimension `axes[i]` of this layout.
    ///
    /// # Errors
    /// [`ErrorKind::Permutation`], [`ErrorKind::Axis`] or [`ErrorKind::RepeatedAxis`] of `operation`, unless each
    /// dimension is given exactly once.
    pub fn permute(&self, axes: &[usize], operation: &'static str) -> Result<Layout> {
        let axes = axes.resolve_all(&self.shape, operation)?;
        if axes.len() != self.rank() {
            let shape = self.shape.clone();
            return Err(Error::new(operation, ErrorKind::Permutation { got: axes.len(), shape }));
        }
        let shape = axes.iter().map(|&axis| self.shape[axis]).collect();
        let strides = axes.iter().map(|&axis| self.strides[axis]).collect();
        Ok(Layout::of(shape, strides, self.offset))
    }

    /// The layout with two dimensions exchanged. Both must be in range.
    pub(crate) fn transpose(&self, first: usize, second: usize) -> Layout {
        let Layout { mut shape, mut strides, offset, .. } = self.clone();
        shape.dims_mut().swap(first, second);
        strides.swap(first, second);
        Layout::of(shape, strides, offset)
    }

    /// The elements `start..start + length` along `axis`.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`] of `operation`, or [`ErrorKind::Range`] if the elements go past the end.
    pub fn narrow(
        &self,
        axis: usize,
        start: usize,
        length: usize,
        operation: &'static str,
    ) -> Result<Layout> {
        let axis = axis.resolve(&self.shape, operation)?;
        if start.checked_add(length).is_none_or(|end| end > self.shape[axis]) {
            let kind = ErrorKind::Range { start, length, axis, shape: self.shape.clone() };
            return Err(Error::new(operation, kind));
        }
        let Layout { mut shape, strides, offset, .. } = self.clone();
        shape.dims_mut()[axis] = length;
        // An empty layout keeps its offset, which thus never points past the storage.
        let moved = if shape.contains(&0) { 0 } else { start * self.strides[axis] };
        Ok(Layout::of(shape, strides, offset + moved))
    }

    /// The layout without dimension `axis`, which has length 1.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`] of `operation`, or [`ErrorKind::Squeeze`] if the dimension is longer.
    pub fn squeeze(&self, axis: usize, operation: &'static str) -> Result<Layout> {
        let axis = axis.resolve(&self.shape, operation)?;
        if self.shape[axis] != 1 {
            return Err(Error::new(operation, ErrorKind::Squeeze { axis, shape: self.shape.clone() }));
        }
        let Layout { mut shape, mut strides, offset, .. } = self.clone();
        shape.dims_mut().remove(axis);
        strides.remove(axis);
        Ok(Layout::of(shape, strides, offset))
    }

    /// The layout with a new dimension of length 1 before dimension `axis`, which is at most the rank.
    pub(crate) fn unsqueeze(&self, axis: usize) -> Layout {
        let stride = match self.shape.get(axis) {
            Some(&length) => length.saturating_mul(self.strides[axis]),
            None => 1,
        };
        let Layout { mut shape, mut strides, offset, .. } = self.clone();
        shape.dims_mut().insert(axis, 1);
        strides.insert(axis, stride);
        Layout::of(shape, strides, offset)
    }

    /// Broadcasts to `shape`: dimensions of length 1 repeat with stride 0, and new dimensions are added in front.
    ///
    /// # Errors
    /// [`ErrorKind::Expand`] if another dimension differs, [`ErrorKind::Overflow`] if the element count does not fit
    /// `usize`.
    pub fn expand(&self, shape: &Shape, operation: &'static str) -> Result<Layout> {
        let error = || {
            let kind = ErrorKind::Expand { from: self.shape.clone(), to: shape.clone() };
            Err(Error::new(operation, kind))
        };
        let Some(added) = shape.rank().checked_sub(self.rank()) else { return error() };
        shape.elements(operation)?;
        let mut strides = Dims::from_elem(0, shape.rank());
        for (axis, (&length, &stride)) in self.shape.iter().zip(&self.strides).enumerate() {
            match (length, shape[added + axis]) {
                (from, to) if from == to => strides[added + axis] = stride,
                (1, _) => {}
                _ => return error(),
            }
        }
        Ok(Layout::of(shape.clone(), strides, self.offset))
    }

    /// Splits the dimensions into those kept and those in `axes`, both in this layout's order. Returns the layout of
    /// the groups' first elements, and the layout of one group at offset 0. Reductions iterate over these two.
    pub fn split(&self, axes: &[usize]) -> (Layout, Layout) {
        let set = AxisSet::of(self.rank(), axes);
        let pick = |wanted: bool, offset: usize| {
            let chosen = || (0..self.rank()).filter(|&axis| set.contains(axis) == wanted);
            let shape = chosen().map(|axis| self.shape[axis]).collect();
            let strides = chosen().map(|axis| self.strides[axis]).collect();
            Layout::of(shape, strides, offset)
        };
        (pick(false, self.offset), pick(true, 0))
    }

    /// [`Layout::end`], or `None` if it overflows.
    #[inline]
    fn checked_end(&self) -> Option<usize> {
        if self.shape.contains(&0) {
            return Some(self.offset);
        }
        let mut last = self.offset;
        for (&length, &stride) in self.shape.iter().zip(&self.strides) {
            last = last.checked_add(stride.checked_mul(length - 1)?)?;
        }
        last.checked_add(1)
    }
}

#[cold]
fn other_rank(shape: Shape, operation: &'static str) -> Error {
    Error::new(operation, ErrorKind::Rank { shape, expected: "one dimension per stride" })
}

#[cold]
fn overflow(shape: Shape, operation: &'static str) -> Error {
    Error::new(operation, ErrorKind::Overflow { shape })
}

/// The number of elements, and whether they are dense and in row-major order; `None` if their number or a position overflows.
fn measure(shape: &[usize], strides: &[usize], offset: usize) -> Option<(usize, bool)> {
    if shape.contains(&0) {
        return Some((0, true));
    }
    let (mut elements, mut last, mut contiguous) = (1usize, offset, true);
    for (&length, &stride) in shape.iter().zip(strides).rev() {
        contiguous &= length == 1 || stride == elements;
        elements = elements.checked_mul(length)?;
        last = last.checked_add(stride.checked_mul(length - 1)?)?;
    }
    last.checked_add(1)?;
    Some((elements, contiguous))
}

/// The number of elements of a shape, saturating.
fn count(shape: &Shape) -> usize {
    shape.count().unwrap_or(usize::MAX)
}

/// Whether elements with these strides are dense and in row-major order.
fn is_row_major(shape: &Shape, strides: &[usize]) -> bool {
    let mut expected = 1usize;
    for (&length, &stride) in shape.iter().zip(strides).rev() {
        if length != 1 && stride != expected {
            return shape.contains(&0);
        }
        expected = expected.saturating_mul(length);
    }
    true
}
