//! Comparisons of pairs of elements.

use crate::cpu::blocks::{self, Predicate};
use crate::cpu::dispatch::dispatch;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::ops::CmpOp;

/// 1 where `op` holds for a pair of elements of two layouts of the same shape, else 0.
pub(crate) fn compare(
    a: &CpuStorage,
    lhs: &Layout,
    b: &CpuStorage,
    rhs: &Layout,
    op: CmpOp,
) -> Result<CpuStorage> {
    dispatch!(a, x: T => match T::stored(b) {
        Some(y) => blocks::compare::<T>((x, lhs), (y, rhs), op.name(), predicate(op)).map(u8::store),
        None => Err(unsupported(op.name(), b)),
    })
}

/// The loop of `op`.
fn predicate<C: PartialOrd + Copy>(op: CmpOp) -> Predicate<C> {
    match op {
        CmpOp::Eq => |x, y, size, z| z.pairs(x, y, size, |x, y| u8::from(x == y)),
        CmpOp::Ne => |x, y, size, z| z.pairs(x, y, size, |x, y| u8::from(x != y)),
        CmpOp::Lt => |x, y, size, z| z.pairs(x, y, size, |x, y| u8::from(x < y)),
        CmpOp::Le => |x, y, size, z| z.pairs(x, y, size, |x, y| u8::from(x <= y)),
        CmpOp::Gt => |x, y, size, z| z.pairs(x, y, size, |x, y| u8::from(x > y)),
        CmpOp::Ge => |x, y, size, z| z.pairs(x, y, size, |x, y| u8::from(x >= y)),
    }
}
