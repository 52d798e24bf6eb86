//! Choosing by a mask.

use candle_core::Result;
use tensor_core::{DType, Tensor};

use super::super::error::Candles;
use super::super::HipStorage;
use super::Operand;

pub(in super::super) fn where_cond(
    condition: Operand,
    on_true: Operand,
    on_false: Operand,
) -> Result<HipStorage> {
    let mask = mask(condition.0.tensor(condition.1)?)?;
    let (on_true, on_false) = (on_true.0.tensor(on_true.1)?, on_false.0.tensor(on_false.1)?);
    HipStorage::of(mask.where_cond(&on_true, &on_false).candles()?, condition.0.hip_device())
}

/// candle's CPU takes conditions of every integer type, tensor-core's masks are `u8`, `u32` or `i64`.
fn mask(condition: Tensor) -> Result<Tensor> {
    match condition.dtype() {
        DType::I16 | DType::I32 => {
            let zero = Tensor::zeros((), condition.dtype(), &condition.device()).candles()?;
            condition.ne(&zero).candles()
        }
        _ => Ok(condition),
    }
}
