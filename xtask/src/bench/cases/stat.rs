//! Statistics of rows: a block for each.

use super::{Measured, ROWS, dense};
use reference::{DType, StatOp};

pub(super) fn cases(dtype: DType) -> Vec<Measured> {
    if !dtype.is_float() {
        return Vec::new();
    }
    let one = |op: StatOp| {
        let kernel = format!("stat_{}_{dtype}", op.name());
        Measured::call(kernel, vec![dense(dtype, &ROWS)], move |x| match op {
            StatOp::Var => x[0].var(1),
            StatOp::Std => x[0].std(1),
            StatOp::Norm => x[0].norm(1),
            StatOp::LogSumExp => x[0].log_sum_exp(1),
        })
    };
    StatOp::ALL.into_iter().map(one).collect()
}
