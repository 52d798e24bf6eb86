//! Statistics over axes.

use super::Storage;
use crate::cpu;
use crate::error::Result;
use crate::hip;
use crate::layout::Layout;

/// A statistic over a set of axes; floats only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatOp {
    /// The unbiased variance.
    Var,
    /// Its square root.
    Std,
    /// The Euclidean norm.
    Norm,
    /// log Σ exp x.
    LogSumExp,
}

impl StatOp {
    /// The name in messages and in kernels.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            StatOp::Var => "var",
            StatOp::Std => "std",
            StatOp::Norm => "norm",
            StatOp::LogSumExp => "log_sum_exp",
        }
    }
}

impl Storage {
    /// `op` over `axes`, rounded to the dtype once. Floats only.
    pub(crate) fn stat(&self, layout: &Layout, op: StatOp, axes: &[usize]) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::stat::stat(storage, layout, op, axes).map(Storage::Cpu),
            Storage::Hip(storage) => hip::ops::stat::stat(storage, layout, op, axes).map(Storage::Hip),
        }
    }
}
