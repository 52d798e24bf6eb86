//! The operations of [`BackendStorage`](candle_core::backend::BackendStorage), one file a verb: candle's arguments as
//! tensors, an operation of tensor-core, and its result as storage.

pub(super) mod affine;
pub(super) mod binary;
pub(super) mod cast;
pub(super) mod compare;
pub(super) mod conv;
pub(super) mod copy;
pub(super) mod fill;
pub(super) mod ids;
pub(super) mod index;
pub(super) mod matmul;
pub(super) mod pool;
pub(super) mod reduce;
pub(super) mod scatter;
pub(super) mod select;
pub(super) mod unary;
pub(super) mod upsample;

use candle_core::{Layout, Result};
use tensor_core::Tensor;

use super::error::Candles;
use super::HipStorage;

/// A storage, and which of its elements an operation reads.
pub(super) type Operand<'a> = (&'a HipStorage, &'a Layout);

/// An operation on each element. Its shape does not matter, so that all elements of a storage are taken as they are.
#[inline]
fn each(
    x: Operand<'_>,
    operation: impl FnOnce(&Tensor) -> tensor_core::Result<Tensor>,
) -> Result<HipStorage> {
    let result = match x.0.whole(x.1)? {
        Some(all) => operation(all),
        None => operation(&x.0.tensor(x.1)?),
    };
    HipStorage::of(result.candles()?, x.0.hip_device())
}

/// As [`each`], on each pair of elements.
#[inline]
fn pairs(
    lhs: Operand<'_>,
    rhs: Operand<'_>,
    operation: impl FnOnce(&Tensor, &Tensor) -> tensor_core::Result<Tensor>,
) -> Result<HipStorage> {
    let result = match (lhs.0.whole(lhs.1)?, rhs.0.whole(rhs.1)?) {
        (Some(a), Some(b)) if lhs.1.dims() == rhs.1.dims() => operation(a, b),
        _ => operation(&lhs.0.tensor(lhs.1)?, &rhs.0.tensor(rhs.1)?),
    };
    HipStorage::of(result.candles()?, lhs.0.hip_device())
}
