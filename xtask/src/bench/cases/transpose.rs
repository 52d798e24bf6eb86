//! Matrices turned round. One kernel moves all dtypes of a size: the cases are of integers.

use super::{Measured, SHORT_ROWS, dense};
use parity::case::Op;
use parity::view::Step;
use reference::DType;

pub(super) fn cases(dtype: DType) -> Option<Measured> {
    let named = matches!(dtype, DType::U8 | DType::I16 | DType::I32 | DType::I64);
    let turned = || dense(dtype, &SHORT_ROWS).then(Step::Transpose(0, 1));
    named.then(|| Measured::new(format!("transpose_{dtype}"), Op::Copy, vec![turned()]))
}
