//! Running sums and products: where they choose their device.

use super::Storage;
use crate::cpu;
use crate::error::Result;
use crate::hip;
use crate::layout::Layout;

/// What joins the elements of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScanOp {
    /// The sum so far; integers wrap.
    Sum,
    /// The product so far; integers wrap.
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
    /// `op` of each element along `axis` and all before it, tight.
    pub(crate) fn scan(&self, layout: &Layout, op: ScanOp, axis: usize) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::scan::scan(storage, layout, op, axis).map(Storage::Cpu),
            Storage::Hip(storage) => hip::ops::scan::scan(storage, layout, op, axis).map(Storage::Hip),
        }
    }
}
