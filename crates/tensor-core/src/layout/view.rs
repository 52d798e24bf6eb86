//! Viewing a layout with another shape, without moving an element.

use super::Layout;
use crate::shape::{Dims, Shape};

impl Layout {
    /// The layout with another shape for the same elements in the same row-major order. `None` if no strides can
    /// express it, or the element counts differ.
    pub fn view(&self, shape: &Shape) -> Option<Layout> {
        if shape.count() != Some(self.elements()) {
            return None;
        }
        if self.elements() == 0 {
            return Some(Layout::of(shape.clone(), shape.row_major_strides(), self.offset));
        }
        // Each merged dimension must be a product of whole dimensions of the new shape. Both are traversed from the
        // last one.
        let merged = self.collapsed();
        let mut strides = Dims::from_elem(1, shape.rank());
        let mut axis = shape.rank();
        for (&length, &stride) in merged.shape.iter().zip(&merged.strides).rev() {
            let mut covered = 1;
            while covered < length {
                axis = axis.checked_sub(1)?;
                strides[axis] = stride * covered;
                covered *= shape[axis];
            }
            if covered != length {
                return None;
            }
        }
        // The remaining dimensions have length 1, so that any stride is right.
        Some(Layout::of(shape.clone(), strides, self.offset))
    }
}
