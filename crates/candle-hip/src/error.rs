//! Errors of tensor-core as candle's.

use candle_core::{Error, Result};
use tensor_core::ErrorKind;

use super::dtype::candles;

/// Converts an error of tensor-core. Kinds that candle has become candle's: an id out of range, an empty reduction, a
/// dtype that an operation does not support. All others are wrapped and keep their text.
#[cold]
pub fn converted(error: tensor_core::Error) -> Error {
    let op = error.operation();
    match error.kind() {
        ErrorKind::IdOutOfRange { index, length, .. } => {
            // candle's CPU names a negative id in the same way: as the number with the same bits.
            Error::InvalidIndex { op, index: *index as usize, size: *length }.bt()
        }
        ErrorKind::EmptyReduction { .. } => Error::EmptyTensor { op }.bt(),
        ErrorKind::UnsupportedDType { dtype, .. } => Error::UnsupportedDTypeForOp(candles(*dtype), op).bt(),
        ErrorKind::DTypeMismatch { lhs, rhs } => {
            Error::DTypeMismatchBinaryOp { lhs: candles(*lhs), rhs: candles(*rhs), op }.bt()
        }
        _ => Error::wrap(error),
    }
}

/// The result of a call of tensor-core with candle's error.
pub(super) trait Candles<T> {
    /// Converts the error.
    fn candles(self) -> Result<T>;
}

impl<T> Candles<T> for tensor_core::Result<T> {
    #[inline]
    fn candles(self) -> Result<T> {
        self.map_err(converted)
    }
}
