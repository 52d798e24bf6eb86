//! Math modes of convolutions.

use crate::Outcome;
use crate::convert::compute_type;
use cudarc::cudnn::sys;
use hip_sys::miopen::miopenDataType_t;

/// A math mode, with the type of its sums. None of them uses TF32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Math {
    /// f32 without tensor cores.
    Single,
    /// f16 or bf16 without tensor cores.
    HalfFma,
    /// f16 or bf16 on tensor cores.
    HalfTensor,
    /// f16 or bf16 in the way that cuDNN chooses.
    HalfDefault,
    Double,
    Integer,
}

impl Math {
    pub(super) const COUNT: usize = 6;

    /// The mode for tensors of the type where cuDNN reports a mode.
    pub(crate) fn of(kind: miopenDataType_t, way: u32) -> Outcome<Self> {
        Ok(match kind {
            miopenDataType_t::miopenFloat => Self::Single,
            miopenDataType_t::miopenHalf | miopenDataType_t::miopenBFloat16 => {
                const FMA: u32 = sys::cudnnMathType_t::CUDNN_FMA_MATH as u32;
                const DEFAULT: u32 = sys::cudnnMathType_t::CUDNN_DEFAULT_MATH as u32;
                match way {
                    FMA => Self::HalfFma,
                    DEFAULT => Self::HalfDefault,
                    _ => Self::HalfTensor,
                }
            }
            miopenDataType_t::miopenDouble => Self::Double,
            other => return compute_type(other).map(|_| Self::Integer),
        })
    }

    /// The fastest mode for the type.
    pub(crate) fn best(kind: miopenDataType_t) -> Outcome<Self> {
        Self::of(kind, sys::cudnnMathType_t::CUDNN_TENSOR_OP_MATH as u32)
    }

    /// Whether tensors of the type can be multiplied in this mode.
    pub(crate) fn fits(self, kind: miopenDataType_t) -> bool {
        (0..4).any(|way| Self::of(kind, way) == Ok(self))
    }

    pub(crate) fn code(self) -> u64 {
        self as u64
    }

    pub(crate) fn from_code(code: u64) -> Option<Self> {
        [Self::Single, Self::HalfFma, Self::HalfTensor, Self::HalfDefault, Self::Double, Self::Integer]
            .into_iter()
            .find(|math| math.code() == code)
    }

    pub(super) fn raw(self) -> (sys::cudnnDataType_t, sys::cudnnMathType_t) {
        use sys::{cudnnDataType_t as D, cudnnMathType_t as M};
        match self {
            Self::Single | Self::HalfFma => (D::CUDNN_DATA_FLOAT, M::CUDNN_FMA_MATH),
            Self::HalfTensor => (D::CUDNN_DATA_FLOAT, M::CUDNN_TENSOR_OP_MATH),
            Self::HalfDefault => (D::CUDNN_DATA_FLOAT, M::CUDNN_DEFAULT_MATH),
            Self::Double => (D::CUDNN_DATA_DOUBLE, M::CUDNN_DEFAULT_MATH),
            Self::Integer => (D::CUDNN_DATA_INT32, M::CUDNN_DEFAULT_MATH),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_way_to_multiply_floats_is_tf32() {
        use sys::cudnnMathType_t as M;
        for way in 0..4 {
            assert_eq!(Math::of(miopenDataType_t::miopenFloat, way).unwrap().raw().1, M::CUDNN_FMA_MATH);
        }
        assert_eq!(Math::best(miopenDataType_t::miopenHalf).unwrap().raw().1, M::CUDNN_TENSOR_OP_MATH);
        assert!(
            Math::Single.fits(miopenDataType_t::miopenFloat)
                && !Math::HalfTensor.fits(miopenDataType_t::miopenFloat)
        );
        assert!(
            Math::HalfDefault.fits(miopenDataType_t::miopenBFloat16)
                && !Math::Single.fits(miopenDataType_t::miopenHalf)
        );
        for code in 0..6 {
            assert_eq!(Math::from_code(code).unwrap().code(), code);
        }
        assert_eq!(Math::from_code(6), None);
    }
}
