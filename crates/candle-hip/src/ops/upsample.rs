//! Enlarging lines and planes.

use candle_core::{Layout, Result};
use tensor_core::{DType, Device, Tensor};

use super::super::error::Candles;
use super::super::HipStorage;
use super::index::along;

pub(in super::super) fn nearest1d(x: &HipStorage, l: &Layout, size: usize) -> Result<HipStorage> {
    let (_, _, length) = l.shape().dims3()?;
    let source = x.tensor(l)?;
    let result = if source.dtype().is_float() {
        source.upsample_nearest1d(size).candles()?
    } else {
        nearest(&source, 2, length, size)?
    };
    HipStorage::of(result, x.hip_device())
}

pub(in super::super) fn nearest2d(
    x: &HipStorage,
    l: &Layout,
    height: usize,
    width: usize,
) -> Result<HipStorage> {
    let (_, _, rows, columns) = l.shape().dims4()?;
    let source = x.tensor(l)?;
    let result = if source.dtype().is_float() {
        source.upsample_nearest2d(height, width).candles()?
    } else {
        nearest(&nearest(&source, 2, rows, height)?, 3, columns, width)?
    };
    HipStorage::of(result, x.hip_device())
}

/// Bilinear interpolation. The factors are PyTorch's `scale_factor`: with one, and corners that are not aligned, the
/// positions are multiples of its reciprocal rather than of the quotient of the lengths.
pub(in super::super) fn bilinear2d(
    x: &HipStorage,
    l: &Layout,
    (height, width): (usize, usize),
    align_corners: bool,
    (scale_h, scale_w): (Option<f64>, Option<f64>),
) -> Result<HipStorage> {
    let (_, _, rows, columns) = l.shape().dims4()?;
    let source = x.tensor(l)?;
    if rows == height && columns == width {
        return HipStorage::of(source.copy().candles()?, x.hip_device());
    }
    let by_lengths = |scale: Option<f64>, from: usize, to: usize| {
        scale.is_none_or(|scale| 1.0 / scale == from as f64 / to as f64)
    };
    let dtype = source.dtype();
    let plain = align_corners || by_lengths(scale_h, rows, height) && by_lengths(scale_w, columns, width);
    let result = if plain && dtype.is_float() {
        source.upsample_bilinear2d(height, width, align_corners).candles()?
    } else {
        // candle mixes integers as `f64` and truncates.
        let wide = dtype == DType::F64 || dtype.is_int();
        let source = source.to_dtype(if wide { DType::F64 } else { DType::F32 }).candles()?;
        let across = mixed(&source, 3, &positions(columns, width, align_corners, scale_w))?;
        mixed(&across, 2, &positions(rows, height, align_corners, scale_h))?.to_dtype(dtype).candles()?
    };
    HipStorage::of(result, x.hip_device())
}

/// Where the elements of an axis lie between those of an axis of `from`.
fn positions(from: usize, to: usize, align_corners: bool, scale: Option<f64>) -> Vec<f64> {
    if align_corners {
        let step = if to > 1 { from.saturating_sub(1) as f64 / (to - 1) as f64 } else { 0.0 };
        return (0..to).map(|i| step * i as f64).collect();
    }
    let step = scale.map_or(from as f64 / to as f64, |scale| 1.0 / scale);
    (0..to).map(|i| (step * (i as f64 + 0.5) - 0.5).max(0.0)).collect()
}

/// The nearest elements along an axis, by ids: candle has this for integers too.
fn nearest(x: &Tensor, axis: usize, from: usize, to: usize) -> Result<Tensor> {
    let scale = from as f64 / to as f64;
    let ids = (0..to).map(|i| ((i as f64 * scale) as usize).min(from.saturating_sub(1)));
    x.index_select(&id_list(ids, &x.device())?, axis).candles()
}

/// Each element between two neighbours along an axis.
fn mixed(x: &Tensor, axis: usize, positions: &[f64]) -> Result<Tensor> {
    let last = x.dims()[axis].saturating_sub(1);
    let lower = positions.iter().map(|position| (*position as usize).min(last));
    let upper = lower.clone().map(|index| (index + 1).min(last));
    let weights: Vec<f64> =
        positions.iter().zip(lower.clone()).map(|(at, lower)| (at - lower as f64).clamp(0.0, 1.0)).collect();
    let device = x.device();
    let weights =
        Tensor::from_vec(weights, positions.len(), &device).and_then(|w| w.to_dtype(x.dtype())).candles()?;
    let weights = along(&weights, axis, x.rank())?;
    let lower = x.index_select(&id_list(lower, &device)?, axis).candles()?;
    let upper = x.index_select(&id_list(upper, &device)?, axis).candles()?;
    let others = weights.affine(-1.0, 1.0).candles()?;
    (lower.mul(&others)).and_then(|lower| upper.mul(&weights)?.add(&lower)).candles()
}

fn id_list(ids: impl Iterator<Item = usize>, device: &Device) -> Result<Tensor> {
    let ids: Vec<i64> = ids.map(|id| id as i64).collect();
    let count = ids.len();
    Tensor::from_vec(ids, count, device).candles()
}
