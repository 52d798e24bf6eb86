//! Pools over windows of planes.

use candle_core::{Error, Layout, Result};

use super::super::error::Candles;
use super::super::{layout, HipStorage};

pub(in super::super) fn avg_pool2d(
    x: &HipStorage,
    l: &Layout,
    window: (usize, usize),
    stride: (usize, usize),
) -> Result<HipStorage> {
    HipStorage::of(x.tensor(l)?.avg_pool2d_with_stride(window, stride).candles()?, x.hip_device())
}

pub(in super::super) fn max_pool2d(
    x: &HipStorage,
    l: &Layout,
    window: (usize, usize),
    stride: (usize, usize),
) -> Result<HipStorage> {
    if x.element_type().is_int() {
        return max_of_integers(x, l, window, stride);
    }
    HipStorage::of(x.tensor(l)?.max_pool2d_with_stride(window, stride).candles()?, x.hip_device())
}

/// tensor-core pools floats. The maximum of integers is taken of views: one for each position in the window.
fn max_of_integers(
    x: &HipStorage,
    l: &Layout,
    window: (usize, usize),
    stride: (usize, usize),
) -> Result<HipStorage> {
    let (batch, channels, height, width) = l.shape().dims4()?;
    if window.0 == 0
        || window.1 == 0
        || stride.0 == 0
        || stride.1 == 0
        || height < window.0
        || width < window.1
    {
        return Err(
            Error::Msg(format!("max_pool2d: no windows {window:?} in steps of {stride:?} in {l:?}")).bt()
        );
    }
    let dims = [batch, channels, (height - window.0) / stride.0 + 1, (width - window.1) / stride.1 + 1];
    let steps = l.stride();
    let strides = [steps[0], steps[1], steps[2] * stride.0, steps[3] * stride.1];
    let at = |row: usize, column: usize| {
        x.tensor_at(layout::at(&dims, &strides, l.start_offset() + row * steps[2] + column * steps[3])?)
    };
    let mut largest = at(0, 0)?;
    for row in 0..window.0 {
        for column in 0..window.1 {
            largest = largest.maximum(&at(row, column)?).candles()?;
        }
    }
    HipStorage::of(largest, x.hip_device())
}
