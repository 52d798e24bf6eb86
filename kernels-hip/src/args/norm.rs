//! Arguments of the families `softmax` and `norm`.

use super::Axes;
use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// Rows: row r begins at the offset of r in the dims; its elements are contiguous. `softmax_rows`, `softmax_short` and their logarithms.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct RowMap {
    /// Number of rows: the product of the dims.
    pub rows: u64,
    /// Elements of each.
    pub length: u64,
    /// Dimensions in use.
    pub rank: u32,
    /// Zero.
    pub reserved: u32,
    /// Lengths.
    pub dims: Axes,
    /// Strides of the input.
    pub strides: Axes,
}

/// Columns: column c begins at the offset of c in the dims. Its elements are `step` apart in the input, and `inner` apart in the tight
/// output. `softmax_cols` and its logarithm.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct ColumnMap {
    /// Number of columns: the product of the dims.
    pub columns: u64,
    /// Elements of each.
    pub length: u64,
    /// Columns that are contiguous in the output.
    pub inner: u64,
    /// Stride between the elements of a column of the input.
    pub step: u64,
    /// Dimensions in use.
    pub rank: u32,
    /// Zero.
    pub reserved: u32,
    /// Lengths.
    pub dims: Axes,
    /// Strides of the input.
    pub strides: Axes,
}

/// Rows as in [`RowMap`]. Element i of row r belongs to channel `r % groups · (length / inner) + i / inner`. `norm_layer`, `norm_rms`,
/// `norm_add_rms`, `norm_group` and their short forms.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct NormMap {
    /// Number of rows: the product of the dims.
    pub rows: u64,
    /// Elements of each.
    pub length: u64,
    /// Rows that make up all channels; only `norm_group` reads it.
    pub groups: u64,
    /// Elements of one channel in a row; only `norm_group` reads it.
    pub inner: u64,
    /// Added to the variance.
    pub eps: f64,
    /// [`NormMap::HAS_WEIGHT`] and its sibling.
    pub flags: u32,
    /// Dimensions in use.
    pub rank: u32,
    /// Lengths.
    pub dims: Axes,
    /// Strides of the input.
    pub strides: Axes,
}

/// Tight elements: element i belongs to channel `i / inner % channels`. `norm_batch`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct BatchMap {
    /// Number of elements.
    pub count: u64,
    /// Number of channels.
    pub channels: u64,
    /// Contiguous elements of one channel.
    pub inner: u64,
    /// Added to the variance.
    pub eps: f64,
    /// As [`NormMap::flags`].
    pub flags: u64,
}

impl NormMap {
    /// There is a weight; without this flag its pointer is not read.
    pub const HAS_WEIGHT: u32 = 1;
    /// There is a bias; without this flag its pointer is not read.
    pub const HAS_BIAS: u32 = 2;
}

// The sources assert the same numbers.
const _: () = {
    assert!(size_of::<RowMap>() == 152 && offset_of!(RowMap, rank) == 16);
    assert!(offset_of!(RowMap, dims) == 24 && offset_of!(RowMap, strides) == 88);
    assert!(size_of::<ColumnMap>() == 168 && offset_of!(ColumnMap, rank) == 32);
    assert!(offset_of!(ColumnMap, dims) == 40 && offset_of!(ColumnMap, strides) == 104);
    assert!(size_of::<NormMap>() == 176 && offset_of!(NormMap, eps) == 32 && offset_of!(NormMap, rank) == 44);
    assert!(offset_of!(NormMap, dims) == 48 && offset_of!(NormMap, strides) == 112);
    assert!(
        size_of::<BatchMap>() == 40 && offset_of!(BatchMap, eps) == 24 && offset_of!(BatchMap, flags) == 32
    );
};
