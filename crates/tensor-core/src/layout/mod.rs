//! Layouts: how the elements of a tensor lie in its storage.

mod collapse;
mod view;

use crate::axis::{Axes, Axis, AxisSet};
use crate::error::{Error, ErrorKind, Result};
use crate::shape::{Dims, Shape};

pub use collapse::{Collapsed, collapse};

/// A shape, one stride per dimension, and an offset, all in elements: element `(i, j, …)` lies at
/// `offset + i·strides[0] + j·strides[1] + …` of the storage.
///
/// Changing a layout never moves an element; that is what makes views free. Up to rank 8 nothing is allocated.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Shape,
    strides: Dims,
    offset: usize,
    /// What follows from the above, and every operation asks for.
    elements: usize,
    contiguous: bool,
}

impl Clone for Layout {
    fn clone(&self) -> Layout {
        // A copy of the memory, where the derived one goes number by number.
        Layout { shape: self.shape.clone(), strides: Dims::from_slice(&self.strides), ..*self }
    }
}

impl Layout {
    /// The tight row-major layout of `shape` at offset 0.
    ///
    /// # Errors
    /// [`ErrorKind::Overflow`], in the name of `operation`, if the element count does not fit `usize`.
    pub fn contiguous(shape: impl Into<Shape>, operation: &'static str) -> Result<Layout> {
        let shape = shape.into();
        shape.elements(operation)?;
        Ok(Layout::tight(shape))
    }

    /// The tight row-major layout of `shape` at offset 0, whose element count was found to fit `usize`.
    pub(crate) fn tight(shape: Shape) -> Layout {
        let (strides, elements) = (shape.row_major_strides(), count(&shape));
        Layout { shape, strides, offset: 0, elements, contiguous: true }
    }

    /// The tight row-major layout of the same shape at offset 0.
    #[inline]
    pub(crate) fn tightened(&self) -> Layout {
        let (shape, strides) = self.shape.with_row_major_strides();
        Layout { shape, strides, offset: 0, contiguous: true, ..*self }
    }

    /// The same layout of what lies from its offset on.
    pub(crate) fn at_the_start(self) -> Layout {
        Layout { offset: 0, ..self }
    }

    /// The layout of a shape and one stride for each of its dimensions.
    fn of(shape: Shape, strides: Dims, offset: usize) -> Layout {
        let (elements, contiguous) = (count(&shape), is_row_major(&shape, &strides));
        Layout { shape, strides, offset, elements, contiguous }
    }

    /// A layout of any strides, in elements.
    ///
    /// # Errors
    /// [`ErrorKind::Overflow`], in the name of `operation`, if the element count or an element's place does not fit `usize`;
    /// [`ErrorKind::Rank`] if there is not one stride per dimension.
    pub fn strided(
        shape: impl Into<Shape>,
        strides: &[usize],
        offset: usize,
        operation: &'static str,
    ) -> Result<Layout> {
        let shape = shape.into();
        if shape.rank() != strides.len() {
            let expected = "one dimension per stride";
            return Err(Error::new(operation, ErrorKind::Rank { shape, expected }));
        }
        let layout = Layout::of(shape, Dims::from_slice(strides), offset);
        layout.shape.elements(operation)?;
        match layout.checked_end() {
            Some(_) => Ok(layout),
            None => Err(Error::new(operation, ErrorKind::Overflow { shape: layout.shape })),
        }
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

    /// The place of the first element in the storage.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// How many dimensions there are.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The number of elements; it fits, for this was checked when the layout was made.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Whether the elements lie tight and in row-major order, at whatever offset. Empty layouts do.
    pub fn is_contiguous(&self) -> bool {
        self.contiguous
    }

    /// Whether two different indices may name the same place, as after [`Layout::expand`]. Errs on the side of yes.
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

    /// One past the last place that an element takes; the offset if there are no elements.
    pub fn end(&self) -> usize {
        self.checked_end().unwrap_or(usize::MAX)
    }

    /// The place in the storage of the element at `position` in row-major order.
    ///
    /// A `position` from [`Layout::elements`] on is taken modulo it.
    pub fn place(&self, position: usize) -> usize {
        let mut rest = position;
        let mut place = self.offset;
        for (&length, &stride) in self.shape.iter().zip(&self.strides).rev() {
            place += rest % length.max(1) * stride;
            rest /= length.max(1);
        }
        place
    }

    /// The dimensions in another order: dimension `i` of the result is dimension `axes[i]` of this layout.
    ///
    /// # Errors
    /// [`ErrorKind::Permutation`], [`ErrorKind::Axis`] or [`ErrorKind::RepeatedAxis`], in the name of `operation`, unless each
    /// dimension is named exactly once.
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
    /// [`ErrorKind::Axis`], or [`ErrorKind::Range`] if they go past the end, in the name of `operation`.
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
        // The offset of an empty layout stays, so that it never points past the storage.
        let moved = if shape.contains(&0) { 0 } else { start * self.strides[axis] };
        Ok(Layout::of(shape, strides, offset + moved))
    }

    /// The layout without dimension `axis`, which has length 1.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`], or [`ErrorKind::Squeeze`] if it is longer, in the name of `operation`.
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

    /// The layout with a dimension of length 1 before dimension `axis`, which is at most the rank.
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

    /// Stretches dimensions of length 1, and adds dimensions in front, until the shape is `shape`; stretched dimensions get
    /// stride 0.
    ///
    /// # Errors
    /// [`ErrorKind::Expand`] if another dimension differs, [`ErrorKind::Overflow`] if the element count does not fit `usize`.
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

    /// Splits the dimensions into those kept and those in `axes`, both in row-major order of this layout: the layout of the
    /// first elements of the groups, and the layout of one group from offset 0. Reductions walk these two.
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

    /// [`Layout::end`], if it fits.
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

/// The number of elements of a shape; the largest number there is where it does not fit.
fn count(shape: &Shape) -> usize {
    shape.count().unwrap_or(usize::MAX)
}

/// Whether elements of these strides lie tight and in row-major order.
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
