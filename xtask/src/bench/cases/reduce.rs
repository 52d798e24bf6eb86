//! Reductions of rows and of columns.

use super::{COLUMNS, Measured, ROWS, dense};
use parity::case::Op;
use reference::{DType, ReduceOp};

pub(super) fn cases(dtype: DType) -> impl Iterator<Item = Measured> {
    let ops = ReduceOp::ALL.into_iter().filter(move |op| *op != ReduceOp::Mean && op.supports(dtype));
    ops.flat_map(move |op| {
        [("reduce", ROWS, 1), ("reduce_cols", COLUMNS, 0)].map(|(family, shape, axis)| {
            let reduce = Op::Reduce { op, axes: vec![axis], keep: false };
            Measured::new(
                format!("{family}_{}_{}", op.name(), dtype.name()),
                reduce,
                vec![dense(dtype, &shape)],
            )
        })
    })
}
