//! Merging adjacent dimensions, so that loops and kernels have as few dimensions as possible.

use smallvec::SmallVec;

use super::Layout;
use crate::shape::{Dims, Shape};

/// Several layouts of the same shape with their common dimensions merged; see [`collapse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collapsed {
    /// The merged lengths, outermost first; none is 1. `[0]` if there are no elements, `[]` for one element.
    pub dims: SmallVec<[usize; 8]>,
    /// For each layout, its strides in elements, one per merged dimension.
    pub strides: SmallVec<[SmallVec<[usize; 8]>; 3]>,
}

/// Drops dimensions of length 1 and merges neighbours. Two neighbours are merged if, in every layout, one step along
/// the outer one equals stepping over the whole inner one. Row-major order is kept. The layouts must have the same
/// shape; offsets are ignored.
///
/// ```
/// use tensor_core::{Layout, collapse};
///
/// let tight = Layout::contiguous([2, 3, 4], "example").unwrap();
/// let rows = Layout::strided([2, 3, 4], &[30, 10, 1], 0, "example").unwrap();
/// assert_eq!(collapse(&[&tight]).dims[..], [24]);
/// let both = collapse(&[&tight, &rows]);
/// assert_eq!(both.dims[..], [6, 4]);
/// assert_eq!(both.strides[1][..], [10, 1]);
/// ```
pub fn collapse(layouts: &[&Layout]) -> Collapsed {
    let empty = Shape::default();
    let shape = layouts.first().map_or(&empty, |layout| layout.shape());
    debug_assert!(layouts.iter().all(|layout| layout.shape() == shape), "layouts of different shapes");
    if shape.contains(&0) {
        let strides = layouts.iter().map(|_| Dims::from_elem(1, 1)).collect();
        return Collapsed { dims: Dims::from_elem(0, 1), strides };
    }
    let mut collapsed =
        Collapsed { dims: Dims::new(), strides: layouts.iter().map(|_| Dims::new()).collect() };
    for (axis, &length) in shape.iter().enumerate().filter(|&(_, &length)| length != 1) {
        let continues = |(layout, strides): (&&Layout, &Dims)| {
            let step = layout.strides()[axis].checked_mul(length);
            strides.last().copied() == step
        };
        let fits = collapsed.dims.last().is_some_and(|outer| outer.checked_mul(length).is_some());
        let merges = fits && layouts.iter().zip(&collapsed.strides).all(continues);
        match collapsed.dims.last_mut() {
            Some(outer) if merges => *outer *= length,
            _ => collapsed.dims.push(length),
        }
        for (layout, strides) in layouts.iter().zip(&mut collapsed.strides) {
            let stride = layout.strides()[axis];
            match strides.last_mut() {
                Some(outer) if merges => *outer = stride,
                _ => strides.push(stride),
            }
        }
    }
    collapsed
}

impl Layout {
    /// This layout with neighbouring dimensions merged: the same elements in the same row-major order, in as few
    /// dimensions as possible. See [`collapse`].
    pub fn collapsed(&self) -> Layout {
        if self.rank() < 2 && self.shape.iter().all(|length| *length > 1) {
            return self.clone();
        }
        let Collapsed { dims, mut strides } = collapse(&[self]);
        Layout::of(dims.into_iter().collect(), strides.pop().unwrap_or_default(), self.offset)
    }
}
