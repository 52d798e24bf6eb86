//! Reductions over axes. The result has the elements of candle's shape, in which these axes have length 1.

use candle_core::op::ReduceOp;
use candle_core::{Error, Layout, Result};
use tensor_core::ReduceOp as Ours;

use super::super::error::Candles;
use super::super::HipStorage;

pub(in super::super) fn reduce(
    x: &HipStorage,
    op: ReduceOp,
    l: &Layout,
    axes: &[usize],
) -> Result<HipStorage> {
    let ours = match op {
        ReduceOp::Sum => Ours::Sum,
        ReduceOp::Min => Ours::Min,
        ReduceOp::Max => Ours::Max,
        ReduceOp::ArgMin => Ours::ArgMin,
        ReduceOp::ArgMax => Ours::ArgMax,
    };
    // candle has an error for every empty tensor, even where the result would be empty too.
    if !ours.has_identity() && l.shape().elem_count() == 0 {
        return Err(Error::EmptyTensor { op: "reduce" }.bt());
    }
    HipStorage::of(x.tensor(l)?.reduce(ours, axes, true).candles()?, x.hip_device())
}
