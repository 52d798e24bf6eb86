//! Products of matrices.

use candle_core::{Error, Result, Shape};

use super::super::error::Candles;
use super::super::HipStorage;
use super::Operand;

pub(in super::super) fn matmul(
    lhs: Operand,
    rhs: Operand,
    (b, m, n, k): (usize, usize, usize, usize),
) -> Result<HipStorage> {
    let result = lhs.0.tensor(lhs.1)?.matmul(&rhs.0.tensor(rhs.1)?).candles()?;
    if result.elements() != b * m * n {
        let (lhs, rhs) = (Shape::from(vec![b, m, k]), Shape::from(vec![b, k, n]));
        return Err(Error::ShapeMismatchBinaryOp { lhs, rhs, op: "matmul" }.bt());
    }
    HipStorage::of(result, lhs.0.hip_device())
}
