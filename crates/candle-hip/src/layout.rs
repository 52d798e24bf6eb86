//! candle's layouts as tensor-core's.

use candle_core::{Layout, Result, Shape};

use super::error::Candles;

/// tensor-core's layout of the same elements.
#[inline]
pub(super) fn ours(layout: &Layout) -> Result<tensor_core::Layout> {
    at(layout.dims(), layout.stride(), layout.start_offset())
}

/// The layout of a shape, strides and an offset, in elements. An offset without elements may be anywhere in candle.
#[inline]
pub(super) fn at(dims: &[usize], strides: &[usize], offset: usize) -> Result<tensor_core::Layout> {
    let offset = if dims.contains(&0) { 0 } else { offset };
    tensor_core::Layout::strided(dims, strides, offset, "layout").candles()
}

/// candle's shape of a tensor.
pub(super) fn shape_of(tensor: &tensor_core::Tensor) -> Shape {
    Shape::from(tensor.dims())
}
