//! Selecting elements by a mask or by position.

use super::{Storage, apart};
use crate::axis::AxisSet;
use crate::cpu;
use crate::error::{Error, Result};
use crate::hip;
use crate::layout::Layout;

/// Selecting elements, with a new, contiguous, row-major result.
impl Storage {
    /// The element of `on_true` where this mask is not zero, else that of `on_false`. All three layouts have the same
    /// shape. The mask is `u8`, `u32` or `i64`, and the others have the same dtype.
    pub(crate) fn where_cond(
        &self,
        layout: &Layout,
        (on_true, a): (&Storage, &Layout),
        (on_false, b): (&Storage, &Layout),
    ) -> Result<Storage> {
        match (self, on_true, on_false) {
            (Storage::Cpu(mask), Storage::Cpu(x), Storage::Cpu(y)) => {
                cpu::ops::select::where_cond((mask, layout), (x, a), (y, b)).map(Storage::Cpu)
            }
            (Storage::Hip(mask), Storage::Hip(x), Storage::Hip(y)) => {
                hip::ops::select::where_cond((mask, layout), (x, a), (y, b)).map(Storage::Hip)
            }
            (mask, x, y) => Err(where_apart(mask, x, y)),
        }
    }

    /// The elements in reverse order along `axes`.
    pub(crate) fn flip(&self, layout: &Layout, axes: &[usize]) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::select::flip(storage, layout, axes).map(Storage::Cpu),
            Storage::Hip(storage) => hip::ops::select::flip(storage, layout, axes).map(Storage::Hip),
        }
    }

    /// Keeps the elements of the matrices in the last two axes whose column − row is at most (`upper`: at least)
    /// `diagonal`, and sets the others to 0. The layout has at least two dimensions.
    pub(crate) fn triangle(&self, layout: &Layout, diagonal: i64, upper: bool) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => {
                cpu::ops::select::triangle(storage, layout, diagonal, upper).map(Storage::Cpu)
            }
            Storage::Hip(storage) => {
                hip::ops::select::triangle(storage, layout, diagonal, upper).map(Storage::Hip)
            }
        }
    }
}

/// An error that names the first two operands on different devices.
fn where_apart(mask: &Storage, on_true: &Storage, on_false: &Storage) -> Error {
    let other = if mask.device().same_device(&on_true.device()) { on_false } else { on_true };
    apart("where_cond", mask, other)
}

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
