//! Products of square matrices.

use super::{EDGE, Measured, dense};
use parity::case::Op;
use reference::DType;

pub(super) fn cases(dtype: DType) -> impl Iterator<Item = Measured> {
    let square = move || dense(dtype, &[EDGE, EDGE]);
    let product =
        move || Measured::new(format!("matmul_{}", dtype.name()), Op::Matmul, vec![square(), square()]);
    dtype.is_float().then(product).into_iter()
}
