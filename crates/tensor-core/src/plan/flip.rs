//! Reversing the order of elements.

use crate::axis::AxisSet;
use crate::layout::Layout;

/// A dimension of a flip: its length, its stride, and whether it is traversed backwards.
pub(crate) type FlipDim = (usize, usize, bool);

/// The dimensions of `layout`, without those of length 1. Neighbours that are both flipped, or both not, are merged if
/// one step along the outer one equals stepping over the whole inner one. The layout is not empty.
pub(crate) fn flip_dims(layout: &Layout, axes: &[usize]) -> Vec<FlipDim> {
    let flips = AxisSet::of(layout.rank(), axes);
    let mut merged: Vec<FlipDim> = Vec::with_capacity(layout.rank());
    for (axis, (&length, &stride)) in layout.dims().iter().zip(layout.strides()).enumerate() {
        let flipped = flips.contains(axis);
        match merged.last_mut() {
            _ if length == 1 => {}
            Some((outer, step, same)) if *same == flipped && stride.checked_mul(length) == Some(*step) => {
                *outer *= length;
                *step = stride;
            }
            _ => merged.push((length, stride, flipped)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equally_walked_neighbours_are_merged() {
        let layout = Layout::contiguous([2, 3, 1, 4], "test").unwrap();
        assert_eq!(flip_dims(&layout, &[]), [(24, 1, false)]);
        assert_eq!(flip_dims(&layout, &[0, 1, 3]), [(24, 1, true)]);
        assert_eq!(flip_dims(&layout, &[1, 2]), [(2, 12, false), (3, 4, true), (4, 1, false)]);
        assert_eq!(flip_dims(&layout.transpose(0, 3), &[0]), [(4, 1, true), (3, 4, false), (2, 12, false)]);
    }
}
