//! Statistics over axes.

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
