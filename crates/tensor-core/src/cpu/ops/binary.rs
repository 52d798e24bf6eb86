//! Operations on pairs of elements.

use crate::cpu::blocks::{map2, update2};
use crate::cpu::dispatch::dispatch;
use crate::cpu::functions::Functions;
use crate::cpu::number::Number;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::ops::BinaryOp;

/// `op` of each pair of elements of two layouts of the same shape.
pub(crate) fn binary(
    a: &CpuStorage,
    lhs: &Layout,
    b: &CpuStorage,
    rhs: &Layout,
    op: BinaryOp,
) -> Result<CpuStorage> {
    let name = op.name();
    dispatch!(a, x: T => match (T::stored(b), <T as Number>::Compute::binary(op)) {
        (Some(y), Some(function)) => map2::<T>((x, lhs), (y, rhs), name, function).map(T::store),
        _ => Err(unsupported(name, b)),
    })
}

/// `op` of each element of `lhs` and the corresponding one of `rhs`, which has the same shape, in place.
pub(crate) fn binary_assign(
    a: &mut CpuStorage,
    lhs: &Layout,
    b: &CpuStorage,
    rhs: &Layout,
    op: BinaryOp,
) -> Result<()> {
    dispatch!(a, x: T => match (T::stored(b), <T as Number>::Compute::binary(op)) {
        (Some(y), Some(function)) => update2::<T>((x, lhs), (y, rhs), function),
        _ => return Err(unsupported(op.name(), b)),
    });
    Ok(())
}
