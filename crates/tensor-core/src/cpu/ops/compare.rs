//! Comparisons of pairs of elements.

use crate::cpu::blocks;
use crate::cpu::dispatch::dispatch;
use crate::cpu::operands::{Operand, each_pair};
use crate::cpu::{CpuStorage, unsupported};
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::ops::CmpOp;

/// 1 where `op` holds between a pair of elements of two layouts of the same shape, else 0.
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
fn predicate<C: PartialOrd + Copy>(op: CmpOp) -> fn(Operand<C>, Operand<C>, &mut [u8]) {
    match op {
        CmpOp::Eq => |x, y, z| each_pair(x, y, z, |x, y| u8::from(x == y)),
        CmpOp::Ne => |x, y, z| each_pair(x, y, z, |x, y| u8::from(x != y)),
        CmpOp::Lt => |x, y, z| each_pair(x, y, z, |x, y| u8::from(x < y)),
        CmpOp::Le => |x, y, z| each_pair(x, y, z, |x, y| u8::from(x <= y)),
        CmpOp::Gt => |x, y, z| each_pair(x, y, z, |x, y| u8::from(x > y)),
        CmpOp::Ge => |x, y, z| each_pair(x, y, z, |x, y| u8::from(x >= y)),
    }
}
