//! Softmax and its logarithm, of rows and of columns.

use super::{Measured, ROWS, SHORT_ROWS, dense};
use reference::DType;

/// Columns that eight threads each share.
const COLUMNS: [usize; 2] = [256, 1024];

pub(super) fn cases(dtype: DType) -> Vec<Measured> {
    if !dtype.is_float() {
        return Vec::new();
    }
    let kinds = [("rows", ROWS, 1), ("short", SHORT_ROWS, 1), ("cols", COLUMNS, 0)];
    let both = kinds.into_iter().flat_map(|kind| [(false, kind), (true, kind)]);
    let one = |(log, (kind, shape, axis)): (bool, (&str, [usize; 2], usize))| {
        let kernel = format!("softmax_{}{kind}_{dtype}", if log { "log_" } else { "" });
        Measured::call(kernel, vec![dense(dtype, &shape)], move |x| match log {
            true => x[0].log_softmax(axis),
            false => x[0].softmax(axis),
        })
    };
    both.map(one).collect()
}
