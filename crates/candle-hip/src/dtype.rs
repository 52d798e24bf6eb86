//! Dtypes of both crates.

use candle_core::DType;
use candle_core::{Error, Result};

/// The dtype of tensor-core with the same elements, if there is one: for all but candle's formats of 6, 4 and 8 bits
/// that only hold bytes (`F6E2M3`, `F6E3M2`, `F4`, `F8E8M0`).
pub fn ours(dtype: DType) -> Option<tensor_core::DType> {
    use tensor_core::DType as Ours;
    Some(match dtype {
        DType::U8 => Ours::U8,
        DType::U32 => Ours::U32,
        DType::I16 => Ours::I16,
        DType::I32 => Ours::I32,
        DType::I64 => Ours::I64,
        DType::BF16 => Ours::BF16,
        DType::F16 => Ours::F16,
        DType::F32 => Ours::F32,
        DType::F64 => Ours::F64,
        DType::F8E4M3 => Ours::F8E4M3,
        _ => return None,
    })
}

/// As [`ours`], or candle's error that `operation` does not support the dtype.
pub(super) fn supported(dtype: DType, operation: &'static str) -> Result<tensor_core::DType> {
    ours(dtype).ok_or_else(|| unsupported(dtype, operation))
}

/// The dtype of candle with the same elements.
pub fn candles(dtype: tensor_core::DType) -> DType {
    use tensor_core::DType as Ours;
    match dtype {
        Ours::U8 => DType::U8,
        Ours::U32 => DType::U32,
        Ours::I16 => DType::I16,
        Ours::I32 => DType::I32,
        Ours::I64 => DType::I64,
        Ours::BF16 => DType::BF16,
        Ours::F16 => DType::F16,
        Ours::F32 => DType::F32,
        Ours::F64 => DType::F64,
        Ours::F8E4M3 => DType::F8E4M3,
    }
}

/// candle's error that `operation` does not support the dtype.
#[cold]
pub(super) fn unsupported(dtype: DType, operation: &'static str) -> Error {
    Error::UnsupportedDTypeForOp(dtype, operation).bt()
}
