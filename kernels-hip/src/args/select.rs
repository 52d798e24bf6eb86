//! Arguments of the family `select`.

use super::Axes;
use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// A mask and two inputs, tight output: `select_where_*`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct WhereMap {
    /// Number of elements.
    pub count: u64,
    /// Dimensions in use.
    pub rank: u32,
    /// [`WhereMap::MASK_TIGHT`] and its siblings. Dims and strides are not read if each input is tight or a scalar.
    pub flags: u32,
    /// Lengths.
    pub dims: Axes,
    /// Strides of the mask.
    pub mask: Axes,
    /// Strides of what is taken where the mask is not zero.
    pub a: Axes,
    /// Strides of what is taken elsewhere.
    pub b: Axes,
}

/// One input that is reversed along some dimensions, tight output: `select_flip`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct FlipMap {
    /// Number of elements.
    pub count: u64,
    /// Offset in the input of the first element of the output.
    pub start: u64,
    /// Dimensions in use.
    pub rank: u32,
    /// Zero.
    pub reserved: u32,
    /// Lengths.
    pub dims: Axes,
    /// Strides of the input, negative along flipped dimensions.
    pub strides: Axes,
}

/// Matrices of which one triangle is kept, tight output: `select_tril` and `select_triu`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct TriangleMap {
    /// Number of elements.
    pub count: u64,
    /// Number of the first element, counted from the beginning of the first matrix.
    pub first: u64,
    /// Rows of a matrix.
    pub rows: u64,
    /// Columns of a matrix.
    pub columns: u64,
    /// The outermost diagonal that is kept: column − row.
    pub diagonal: i64,
    /// Dimensions in use.
    pub rank: u32,
    /// 1: the input is tight; dims and strides are not read.
    pub contiguous: u32,
    /// Lengths.
    pub dims: Axes,
    /// Strides of the input.
    pub strides: Axes,
}

impl WhereMap {
    /// The mask is tight. The flags of the other inputs are twice this for a, four times for b.
    pub const MASK_TIGHT: u32 = 1;
    /// The mask is a scalar. The flags of the other inputs follow in the same way.
    pub const MASK_SCALAR: u32 = 8;

    /// Whether each input is tight or a scalar.
    pub fn is_flat(&self) -> bool {
        (self.flags | self.flags >> 3) & 7 == 7
    }
}

// The source asserts the same numbers.
const _: () = {
    assert!(
        size_of::<WhereMap>() == 272 && offset_of!(WhereMap, dims) == 16 && offset_of!(WhereMap, b) == 208
    );
    assert!(
        size_of::<FlipMap>() == 152 && offset_of!(FlipMap, dims) == 24 && offset_of!(FlipMap, strides) == 88
    );
    assert!(size_of::<TriangleMap>() == 176 && offset_of!(TriangleMap, rank) == 40);
    assert!(offset_of!(TriangleMap, dims) == 48 && offset_of!(TriangleMap, strides) == 112);
};
