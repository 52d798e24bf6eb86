//! Conversion of MIOpen's numbers to cuDNN's.

use super::{BAD, Outcome, UNSUPPORTED};
use cudarc::cudnn::sys;
use hip_sys::hip::hipError_t;
use hip_sys::miopen::*;

/// HIP's error as MIOpen's status.
pub(super) fn hip(error: hipError_t) -> miopenStatus_t {
    match error {
        hipError_t::hipErrorOutOfMemory => miopenStatus_t::miopenStatusAllocFailed,
        hipError_t::hipErrorInvalidValue
        | hipError_t::hipErrorInvalidHandle
        | hipError_t::hipErrorContextIsDestroyed => BAD,
        hipError_t::hipErrorNotInitialized | hipError_t::hipErrorNoDevice => {
            miopenStatus_t::miopenStatusNotInitialized
        }
        _ => miopenStatus_t::miopenStatusInternalError,
    }
}

macro_rules! table {
    ($($(#[$doc:meta])* $name:ident($from:ident) -> $to:ident { $($mine:ident => $theirs:ident),* $(,)? } else $error:expr;)*) => {
        $($(#[$doc])*
        pub(super) fn $name(value: $from) -> Outcome<sys::$to> {
            match value {
                $($from::$mine => Ok(sys::$to::$theirs),)*
                _ => Err($error),
            }
        })*
    };
}

table! {
    /// AMD's 8-bit floats have another format than NVIDIA's.
    data_type(miopenDataType_t) -> cudnnDataType_t {
        miopenHalf => CUDNN_DATA_HALF,
        miopenFloat => CUDNN_DATA_FLOAT,
        miopenInt32 => CUDNN_DATA_INT32,
        miopenInt8 => CUDNN_DATA_INT8,
        miopenBFloat16 => CUDNN_DATA_BFLOAT16,
        miopenDouble => CUDNN_DATA_DOUBLE,
        miopenInt64 => CUDNN_DATA_INT64,
    } else UNSUPPORTED;
    /// The type in which sums of such numbers are computed.
    compute_type(miopenDataType_t) -> cudnnDataType_t {
        miopenHalf => CUDNN_DATA_FLOAT,
        miopenFloat => CUDNN_DATA_FLOAT,
        miopenBFloat16 => CUDNN_DATA_FLOAT,
        miopenDouble => CUDNN_DATA_DOUBLE,
        miopenInt8 => CUDNN_DATA_INT32,
    } else UNSUPPORTED;
    tensor_op(miopenTensorOp_t) -> cudnnOpTensorOp_t {
        miopenTensorOpAdd => CUDNN_OP_TENSOR_ADD,
        miopenTensorOpMul => CUDNN_OP_TENSOR_MUL,
        miopenTensorOpMin => CUDNN_OP_TENSOR_MIN,
        miopenTensorOpMax => CUDNN_OP_TENSOR_MAX,
    } else BAD;
    softmax_algorithm(miopenSoftmaxAlgorithm_t) -> cudnnSoftmaxAlgorithm_t {
        MIOPEN_SOFTMAX_FAST => CUDNN_SOFTMAX_FAST,
        MIOPEN_SOFTMAX_ACCURATE => CUDNN_SOFTMAX_ACCURATE,
        MIOPEN_SOFTMAX_LOG => CUDNN_SOFTMAX_LOG,
    } else BAD;
    softmax_mode(miopenSoftmaxMode_t) -> cudnnSoftmaxMode_t {
        MIOPEN_SOFTMAX_MODE_INSTANCE => CUDNN_SOFTMAX_MODE_INSTANCE,
        MIOPEN_SOFTMAX_MODE_CHANNEL => CUDNN_SOFTMAX_MODE_CHANNEL,
    } else BAD;
    /// MIOpen's average excludes padding. MIOpen's maximum has a deterministic gradient.
    pooling_mode(miopenPoolingMode_t) -> cudnnPoolingMode_t {
        miopenPoolingMax => CUDNN_POOLING_MAX_DETERMINISTIC,
        miopenPoolingAverage => CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
        miopenPoolingAverageInclusive => CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
    } else BAD;
    batch_norm_mode(miopenBatchNormMode_t) -> cudnnBatchNormMode_t {
        miopenBNPerActivation => CUDNN_BATCHNORM_PER_ACTIVATION,
        miopenBNSpatial => CUDNN_BATCHNORM_SPATIAL,
    } else BAD;
    reduce_op(miopenReduceTensorOp_t) -> cudnnReduceTensorOp_t {
        MIOPEN_REDUCE_TENSOR_ADD => CUDNN_REDUCE_TENSOR_ADD,
        MIOPEN_REDUCE_TENSOR_MUL => CUDNN_REDUCE_TENSOR_MUL,
        MIOPEN_REDUCE_TENSOR_MIN => CUDNN_REDUCE_TENSOR_MIN,
        MIOPEN_REDUCE_TENSOR_MAX => CUDNN_REDUCE_TENSOR_MAX,
        MIOPEN_REDUCE_TENSOR_AMAX => CUDNN_REDUCE_TENSOR_AMAX,
        MIOPEN_REDUCE_TENSOR_AVG => CUDNN_REDUCE_TENSOR_AVG,
        MIOPEN_REDUCE_TENSOR_NORM1 => CUDNN_REDUCE_TENSOR_NORM1,
        MIOPEN_REDUCE_TENSOR_NORM2 => CUDNN_REDUCE_TENSOR_NORM2,
    } else BAD;
    nan_propagation(miopenNanPropagation_t) -> cudnnNanPropagation_t {
        MIOPEN_NOT_PROPAGATE_NAN => CUDNN_NOT_PROPAGATE_NAN,
        MIOPEN_PROPAGATE_NAN => CUDNN_PROPAGATE_NAN,
    } else BAD;
    reduce_indices(miopenReduceTensorIndices_t) -> cudnnReduceTensorIndices_t {
        MIOPEN_REDUCE_TENSOR_NO_INDICES => CUDNN_REDUCE_TENSOR_NO_INDICES,
        MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES => CUDNN_REDUCE_TENSOR_FLATTENED_INDICES,
    } else BAD;
    /// cuDNN lists the other index widths but does not support them.
    indices_type(miopenIndicesType_t) -> cudnnIndicesType_t {
        MIOPEN_32BIT_INDICES => CUDNN_32BIT_INDICES,
    } else UNSUPPORTED;
}

/// The size of an element, if the number is a type.
pub(super) fn size_of_type(kind: miopenDataType_t) -> Outcome<usize> {
    match kind {
        miopenDataType_t::miopenInt8
        | miopenDataType_t::miopenFloat8_fnuz
        | miopenDataType_t::miopenBFloat8_fnuz => Ok(1),
        miopenDataType_t::miopenHalf | miopenDataType_t::miopenBFloat16 => Ok(2),
        miopenDataType_t::miopenFloat | miopenDataType_t::miopenInt32 => Ok(4),
        miopenDataType_t::miopenDouble | miopenDataType_t::miopenInt64 => Ok(8),
        _ => Err(BAD),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_the_same_on_both_sides_stay() {
        for number in 0..8 {
            assert_eq!(reduce_op(miopenReduceTensorOp_t(number)).unwrap() as u32, number);
        }
        for number in 0..4 {
            assert_eq!(tensor_op(miopenTensorOp_t(number)).unwrap() as u32, number);
        }
        for number in 0..3 {
            assert_eq!(softmax_algorithm(miopenSoftmaxAlgorithm_t(number)).unwrap() as u32, number);
        }
        for number in 0..2 {
            assert_eq!(softmax_mode(miopenSoftmaxMode_t(number)).unwrap() as u32, number);
            assert_eq!(batch_norm_mode(miopenBatchNormMode_t(number)).unwrap() as u32, number);
            assert_eq!(nan_propagation(miopenNanPropagation_t(number)).unwrap() as u32, number);
            assert_eq!(reduce_indices(miopenReduceTensorIndices_t(number)).unwrap() as u32, number);
        }
    }

    #[test]
    fn numbers_that_differ_are_translated() {
        let types = [(0, 2), (1, 0), (2, 4), (3, 3), (5, 9), (6, 1), (9, 10)];
        for (miopen, cudnn) in types {
            assert_eq!(data_type(miopenDataType_t(miopen)).unwrap() as u32, cudnn, "{miopen}");
        }
        for (miopen, cudnn) in [(0, 3), (1, 2), (2, 1)] {
            assert_eq!(pooling_mode(miopenPoolingMode_t(miopen)).unwrap() as u32, cudnn, "{miopen}");
        }
        assert_eq!(compute_type(miopenDataType_t::miopenHalf).unwrap() as u32, 0);
    }

    #[test]
    fn numbers_without_a_meaning_are_refused() {
        assert_eq!(data_type(miopenDataType_t::miopenFloat8_fnuz), Err(UNSUPPORTED));
        assert_eq!(indices_type(miopenIndicesType_t::MIOPEN_64BIT_INDICES), Err(UNSUPPORTED));
        assert_eq!(tensor_op(miopenTensorOp_t(4)), Err(BAD));
        assert_eq!(pooling_mode(miopenPoolingMode_t(3)), Err(BAD));
        assert_eq!(size_of_type(miopenDataType_t(4)), Err(BAD));
        assert_eq!(hip(hipError_t::hipErrorInvalidHandle), BAD);
        assert_eq!(hip(hipError_t::hipErrorOutOfMemory), miopenStatus_t::miopenStatusAllocFailed);
    }
}
