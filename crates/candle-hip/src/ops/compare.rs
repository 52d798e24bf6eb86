//! Comparisons of two elements.

use candle_core::op::CmpOp;
use candle_core::Result;
use tensor_core::CmpOp as Ours;

use super::super::HipStorage;
use super::{pairs, Operand};

pub(in super::super) fn compare(op: CmpOp, lhs: Operand, rhs: Operand) -> Result<HipStorage> {
    let op = match op {
        CmpOp::Eq => Ours::Eq,
        CmpOp::Ne => Ours::Ne,
        CmpOp::Le => Ours::Le,
        CmpOp::Ge => Ours::Ge,
        CmpOp::Lt => Ours::Lt,
        CmpOp::Gt => Ours::Gt,
    };
    pairs(lhs, rhs, |lhs, rhs| lhs.compare(rhs, op))
}
