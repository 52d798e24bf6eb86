//! Reading elements by ids.

use candle_core::Result;
use tensor_core::Tensor;

use super::super::error::Candles;
use super::super::HipStorage;
use super::ids::ids;
use super::Operand;

pub(in super::super) fn gather(x: Operand, given: Operand, axis: usize) -> Result<HipStorage> {
    let ids = ids(given)?;
    let read = x.0.tensor(x.1)?.gather(&ids.at, axis).candles()?;
    HipStorage::of(zero_where(&ids.none, &read)?, x.0.hip_device())
}

pub(in super::super) fn index_select(x: Operand, given: Operand, axis: usize) -> Result<HipStorage> {
    let ids = ids(given)?;
    let read = x.0.tensor(x.1)?.index_select(&ids.at, axis).candles()?;
    let none = along(&ids.none, axis, read.rank())?;
    HipStorage::of(zero_where(&none, &read)?, x.0.hip_device())
}

/// The tensor with 0 where the mask is not.
pub(super) fn zero_where(mask: &Tensor, x: &Tensor) -> Result<Tensor> {
    x.masked_fill(mask, 0).candles()
}

/// A list as a tensor of `rank` that has it along `axis`, and length 1 along all others.
pub(super) fn along(list: &Tensor, axis: usize, rank: usize) -> Result<Tensor> {
    let mut dims = vec![1; rank];
    dims[axis] = list.elements();
    list.reshape(dims).candles()
}
