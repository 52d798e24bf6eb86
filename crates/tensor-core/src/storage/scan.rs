//! Cumulative sums and products, by device.

use super::Storage;
use crate::cpu;
use crate::error::Result;
use crate::hip;
use crate::layout::Layout;

/// The operation of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScanOp {
    /// The cumulative sum; integers wrap.
    Sum,
    /// The cumulative product; integers wrap.
    Prod,
}

impl ScanOp {
    /// The name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ScanOp::Sum => "cumsum",
            ScanOp::Prod => "cumprod",
        }
    }
}

impl Storage {
    /// Combines all elements along `axis` up to each one by `op`. The result is contiguous.
    pub(crate) fn scan(&self, layout: &Layout, op: ScanOp, axis: usize) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::scan::scan(storage, layout, op, axis).map(Storage::Cpu),
            Storage::Hip(storage) => hip::ops::scan::scan(storage, layout, op, axis).map(Storage::Hip),
        }
    }
}
