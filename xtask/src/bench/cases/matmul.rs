//! Products of square matrices.

use super::{EDGE, Measured};
use parity::case::{Op, Operand};
use parity::inputs::Contents;
use reference::DType;

pub(super) fn cases(dtype: DType) -> impl Iterator<Item = Measured> {
    let square = move || Operand::dense(dtype, &[EDGE, EDGE], Contents::Given);
    let product =
        move || Measured::new(format!("matmul_{}", dtype.name()), Op::Matmul, vec![square(), square()]);
    dtype.is_float().then(product).into_iter()
}
