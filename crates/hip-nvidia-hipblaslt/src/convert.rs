//! hipBLASLt's numbers as cuBLASLt's, and statuses.

use cudarc::cublaslt::sys;
use hip_sys::hip::hipError_t;
use hip_sys::hipblaslt::{hipDataType, hipblasComputeType_t, hipblasOperation_t, hipblasStatus_t};
pub(super) use hip_sys::provider::ensure;

pub(super) type Status = hipblasStatus_t;

/// The outcome of a call: success, or another status.
pub(super) type Outcome<T = ()> = Result<T, Status>;

pub(super) const HANDLE: Status = Status::HIPBLAS_STATUS_NOT_INITIALIZED;
pub(super) const VALUE: Status = Status::HIPBLAS_STATUS_INVALID_VALUE;
pub(super) const UNSUPPORTED: Status = Status::HIPBLAS_STATUS_NOT_SUPPORTED;

/// Turns an outcome into the status that a function returns.
pub(super) fn status(outcome: Outcome) -> Status {
    outcome.err().unwrap_or(Status::HIPBLAS_STATUS_SUCCESS)
}

/// cuBLAS's status as an outcome.
pub(super) fn done(code: u32) -> Outcome {
    use sys::cublasStatus_t as s;
    const SUCCESS: u32 = s::CUBLAS_STATUS_SUCCESS as u32;
    const NOT_INITIALIZED: u32 = s::CUBLAS_STATUS_NOT_INITIALIZED as u32;
    const ALLOC_FAILED: u32 = s::CUBLAS_STATUS_ALLOC_FAILED as u32;
    const INVALID_VALUE: u32 = s::CUBLAS_STATUS_INVALID_VALUE as u32;
    const ARCH_MISMATCH: u32 = s::CUBLAS_STATUS_ARCH_MISMATCH as u32;
    const EXECUTION_FAILED: u32 = s::CUBLAS_STATUS_EXECUTION_FAILED as u32;
    const NOT_SUPPORTED: u32 = s::CUBLAS_STATUS_NOT_SUPPORTED as u32;
    Err(match code {
        SUCCESS => return Ok(()),
        NOT_INITIALIZED => HANDLE,
        ALLOC_FAILED => Status::HIPBLAS_STATUS_ALLOC_FAILED,
        INVALID_VALUE => VALUE,
        ARCH_MISMATCH => Status::HIPBLAS_STATUS_ARCH_MISMATCH,
        EXECUTION_FAILED => Status::HIPBLAS_STATUS_EXECUTION_FAILED,
        NOT_SUPPORTED => UNSUPPORTED,
        _ => Status::HIPBLAS_STATUS_INTERNAL_ERROR,
    })
}

/// The driver's status as an outcome.
pub(super) fn driven<T>(result: Result<T, hipError_t>) -> Outcome<T> {
    result.map_err(|error| match error {
        hipError_t::hipErrorInvalidHandle | hipError_t::hipErrorContextIsDestroyed => VALUE,
        hipError_t::hipErrorOutOfMemory => Status::HIPBLAS_STATUS_ALLOC_FAILED,
        _ => Status::HIPBLAS_STATUS_INTERNAL_ERROR,
    })
}

/// A `cudaDataType`.
pub(super) fn data_type(number: u32) -> Outcome<u32> {
    use hipDataType as h;
    use sys::cudaDataType_t as c;
    Ok(match hipDataType(number) {
        h::HIP_R_32F => c::CUDA_R_32F,
        h::HIP_R_16F => c::CUDA_R_16F,
        h::HIP_R_16BF => c::CUDA_R_16BF,
        h::HIP_R_8I => c::CUDA_R_8I,
        h::HIP_R_32I => c::CUDA_R_32I,
        h::HIP_R_8F_E4M3 => c::CUDA_R_8F_E4M3,
        h::HIP_R_8F_E5M2 => c::CUDA_R_8F_E5M2,
        _ => return Err(UNSUPPORTED),
    } as u32)
}

/// A `cublasComputeType_t`.
pub(super) fn compute(number: u32) -> Outcome<u32> {
    use hipblasComputeType_t as h;
    use sys::cublasComputeType_t as c;
    Ok(match hipblasComputeType_t(number) {
        h::HIPBLAS_COMPUTE_32F => c::CUBLAS_COMPUTE_32F,
        h::HIPBLAS_COMPUTE_32F_PEDANTIC => c::CUBLAS_COMPUTE_32F_PEDANTIC,
        h::HIPBLAS_COMPUTE_32F_FAST_16F => c::CUBLAS_COMPUTE_32F_FAST_16F,
        h::HIPBLAS_COMPUTE_32F_FAST_16BF => c::CUBLAS_COMPUTE_32F_FAST_16BF,
        h::HIPBLAS_COMPUTE_32F_FAST_TF32 => c::CUBLAS_COMPUTE_32F_FAST_TF32,
        h::HIPBLAS_COMPUTE_32I => c::CUBLAS_COMPUTE_32I,
        h::HIPBLAS_COMPUTE_32I_PEDANTIC => c::CUBLAS_COMPUTE_32I_PEDANTIC,
        _ => return Err(UNSUPPORTED),
    } as u32)
}

/// A `cublasOperation_t`.
pub(super) fn operation(number: u32) -> Outcome<u32> {
    match hipblasOperation_t(number) {
        hipblasOperation_t::HIPBLAS_OP_N => Ok(0),
        hipblasOperation_t::HIPBLAS_OP_T => Ok(1),
        hipblasOperation_t::HIPBLAS_OP_C => Ok(2),
        _ => Err(VALUE),
    }
}

/// A `cublasLtEpilogue_t`: those that both have, with the same numbers, but for ReLU's auxiliary output, which is another thing there.
pub(super) fn epilogue(number: u32) -> Outcome<u32> {
    match number {
        1 | 2 | 4 | 6 | 32 | 36 | 160 | 164 => Ok(number),
        _ => Err(UNSUPPORTED),
    }
}
