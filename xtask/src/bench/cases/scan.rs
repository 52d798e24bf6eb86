//! Running sums and products: of rows that a block takes whole, of one line in sections, whose kernels are three, and of columns.

use super::{COLUMNS, ELEMENTS, Measured, ROWS, dense};
use reference::{CumulativeOp, DType};

pub(super) fn cases(dtype: DType) -> Vec<Measured> {
    let kinds: [(&str, &[usize], usize); 4] =
        [("", &ROWS, 1), ("totals_", &[ELEMENTS], 0), ("offsets_", &[ELEMENTS], 0), ("cols_", &COLUMNS, 0)];
    let both = [(CumulativeOp::Sum, "sum"), (CumulativeOp::Prod, "prod")];
    let one = |(kind, shape, axis): (&str, &[usize], usize)| {
        both.map(|(op, name)| {
            Measured::call(format!("scan_{kind}{name}_{dtype}"), vec![dense(dtype, shape)], move |x| match op
            {
                CumulativeOp::Sum => x[0].cumsum(axis),
                CumulativeOp::Prod => x[0].cumprod(axis),
            })
        })
    };
    kinds.into_iter().flat_map(one).collect()
}
