//! Rows gathered by ids, and columns scattered by as many ids as they have elements.

use super::{COLUMNS, Measured, SHORT_ROWS, dense};
use parity::case::Operand;
use parity::inputs::Contents;
use reference::DType;

pub(super) fn cases(dtype: DType) -> Vec<Measured> {
    let kernel = |op: &str| format!("index_{op}_{dtype}");
    let ids = |shape: &[usize], end: usize| Operand::dense(DType::I64, shape, Contents::Below(end as u32));
    // Columns are so short that sums are not dealt out to buckets.
    let columns = || vec![dense(dtype, &COLUMNS), ids(&COLUMNS, COLUMNS[0]), dense(dtype, &COLUMNS)];
    let [rows, _] = SHORT_ROWS;
    let table = vec![dense(dtype, &SHORT_ROWS), ids(&[rows], rows)];
    let mut cases = vec![
        Measured::call(kernel("gather"), table, |x| x[0].index_select(&x[1], 0)),
        Measured::call(kernel("scatter"), columns(), |x| x[0].scatter(&x[1], &x[2], 0)),
    ];
    // Small floats are added up by the kernel of f32.
    if !dtype.is_float() || dtype.size() >= 4 {
        cases.push(Measured::call(kernel("scatter_add"), columns(), |x| x[0].scatter_add(&x[1], &x[2], 0)));
    }
    cases
}
