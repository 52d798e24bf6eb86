//! Cumulative sums and products.

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
