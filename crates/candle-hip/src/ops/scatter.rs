//! Writing and adding elements by ids.

use candle_core::{Layout, Result};
use tensor_core::{Scalar, Tensor};

use super::super::error::Candles;
use super::super::HipStorage;
use super::ids::{ids, ids_or};
use super::index::along;
use super::Operand;

pub(in super::super) fn scatter_set(
    x: &mut HipStorage,
    l: &Layout,
    given: Operand,
    source: Operand,
    axis: usize,
) -> Result<()> {
    let source = source.0.tensor(source.1)?;
    let length = l.shape().dim(axis)?;
    let ids = ids_or(given, length)?;
    // Writes to no element go to one more slice, which is cut off again.
    let mut padded = x.tensor(l)?.pad_with_zeros(axis, 0, 1).candles()?;
    padded.scatter_(&ids, &source, axis).candles()?;
    let written = padded.narrow(axis, 0, length).candles()?;
    x.in_place(l, |to| to.copy_from_(&written).candles())
}

pub(in super::super) fn scatter_add_set(
    x: &mut HipStorage,
    l: &Layout,
    given: Operand,
    source: Operand,
    axis: usize,
) -> Result<()> {
    let ids = ids(given)?;
    let source = nothing_where(&ids.none, &source.0.tensor(source.1)?)?;
    x.in_place(l, |to| to.scatter_add_(&ids.at, &source, axis).candles())
}

pub(in super::super) fn index_add(
    x: Operand,
    given: Operand,
    source: Operand,
    axis: usize,
) -> Result<HipStorage> {
    source.1.shape().dim(axis)?;
    let ids = ids(given)?;
    let source = source.0.tensor(source.1)?;
    let none = along(&ids.none, axis, source.rank())?;
    let source = nothing_where(&none, &source)?;
    let result = x.0.tensor(x.1)?.index_add(&ids.at, &source, axis).candles()?;
    HipStorage::of(result, x.0.hip_device())
}

/// The tensor with a number that changes no sum where the mask is not 0: −0, since 0 would change −0.
fn nothing_where(mask: &Tensor, x: &Tensor) -> Result<Tensor> {
    let nothing = if x.dtype().is_float() { Scalar::Float(-0.0) } else { Scalar::Int(0) };
    x.masked_fill(mask, nothing).candles()
}
