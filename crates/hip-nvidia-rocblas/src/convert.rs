//! Conversion between rocBLAS's and cuBLAS's enumerations and statuses.

use hip_sys::hip::hipError_t;
use hip_sys::rocblas::{rocblas_datatype, rocblas_diagonal, rocblas_fill, rocblas_math_mode};
use hip_sys::rocblas::{rocblas_operation, rocblas_side, rocblas_status};

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident($number:ty) $({ $($constant:ident = $value:expr),* })?;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) struct $name(pub(super) $number);
        $(impl $name {
            $(pub(super) const $constant: Self = Self($value);)*
        })?
    )*};
}

numbers! {
    /// A `cublasOperation_t`.
    Operation(u32) { NONE = 0, TRANSPOSE = 1, CONJUGATE = 2 };
    /// A `cublasFillMode_t`.
    Fill(u32);
    /// A `cublasDiagType_t`.
    Diagonal(u32);
    /// A `cublasSideMode_t`.
    Side(u32);
    /// A `cudaDataType`.
    DataType(u32) { F32 = 0, F16 = 2, BF16 = 14 };
    /// A `cublasComputeType_t`.
    Compute(u32) { F16 = 64, F32 = 68, F64 = 70, I32 = 72 };
    /// A `cublasGemmAlgo_t`.
    Algorithm(i32) { DEFAULT = -1 };
    /// A `cublasPointerMode_t`, which has rocBLAS's numbers.
    PointerMode(u32);
    /// A `cublasAtomicsMode_t`, which has rocBLAS's numbers.
    AtomicsMode(u32);
    /// A `cublasMath_t`.
    MathMode(u32) { EXACT = 16, TF32 = 3 | 16 };
    /// A `libraryPropertyType`.
    Property(u32);
}

/// An argument as cuBLAS takes it. Enumerations were checked before.
pub(super) trait Pass {
    type To;
    fn pass(self) -> Self::To;
}

macro_rules! as_it_is {
    ($($type:ty),*) => {$(
        impl Pass for $type {
            type To = Self;
            fn pass(self) -> Self { self }
        }
    )*};
}

as_it_is!(i32, i64);

impl<T> Pass for *const T {
    type To = Self;
    fn pass(self) -> Self {
        self
    }
}

impl<T> Pass for *mut T {
    type To = Self;
    fn pass(self) -> Self {
        self
    }
}

impl Pass for rocblas_operation {
    type To = Operation;
    fn pass(self) -> Operation {
        match self {
            Self::rocblas_operation_none => Operation::NONE,
            Self::rocblas_operation_transpose => Operation::TRANSPOSE,
            _ => Operation::CONJUGATE,
        }
    }
}

impl Pass for rocblas_fill {
    type To = Fill;
    fn pass(self) -> Fill {
        Fill(u32::from(self == Self::rocblas_fill_upper))
    }
}

impl Pass for rocblas_diagonal {
    type To = Diagonal;
    fn pass(self) -> Diagonal {
        Diagonal(u32::from(self == Self::rocblas_diagonal_unit))
    }
}

impl Pass for rocblas_side {
    type To = Side;
    fn pass(self) -> Side {
        Side(u32::from(self == Self::rocblas_side_right))
    }
}

/// The default math mode, which keeps sums of 16-bit products in 32 bits. TF32 is used only if rocBLAS's xf32 mode is set.
pub(super) fn math_mode(mode: rocblas_math_mode) -> MathMode {
    if mode == rocblas_math_mode::rocblas_xf32_xdl_math_op { MathMode::TF32 } else { MathMode::EXACT }
}

/// A type of elements and its size in bytes.
pub(super) fn data_type(data: rocblas_datatype) -> Result<(DataType, usize), rocblas_status> {
    use rocblas_datatype as R;
    Ok(match data {
        R::rocblas_datatype_f16_r => (DataType::F16, 2),
        R::rocblas_datatype_bf16_r => (DataType::BF16, 2),
        R::rocblas_datatype_f32_r => (DataType::F32, 4),
        R::rocblas_datatype_f64_r => (DataType(1), 8),
        R::rocblas_datatype_f32_c => (DataType(4), 8),
        R::rocblas_datatype_f64_c => (DataType(5), 16),
        R::rocblas_datatype_i8_r => (DataType(3), 1),
        R::rocblas_datatype_u8_r => (DataType(8), 1),
        R::rocblas_datatype_i32_r => (DataType(10), 4),
        R::rocblas_datatype_u32_r => (DataType(12), 4),
        _ => return Err(rocblas_status::rocblas_status_not_implemented),
    })
}

/// Whether an element is complex.
pub(super) fn complex(data: rocblas_datatype) -> bool {
    [rocblas_datatype::rocblas_datatype_f32_c, rocblas_datatype::rocblas_datatype_f64_c].contains(&data)
}

/// The type in which level 1 computes: 32 bits for 16-bit elements, since cuBLAS has nothing else.
pub(super) fn execution_type(data: rocblas_datatype) -> Result<DataType, rocblas_status> {
    let (data, _) = data_type(data)?;
    Ok(if [DataType::F16, DataType::BF16].contains(&data) { DataType::F32 } else { data })
}

/// The type in which `gemm_ex` computes. cuBLAS takes complex arithmetic from the elements' types.
pub(super) fn compute_type(data: rocblas_datatype) -> Result<Compute, rocblas_status> {
    use rocblas_datatype as R;
    Ok(match data {
        R::rocblas_datatype_f16_r => Compute::F16,
        R::rocblas_datatype_f32_r | R::rocblas_datatype_f32_c => Compute::F32,
        R::rocblas_datatype_f64_r | R::rocblas_datatype_f64_c => Compute::F64,
        R::rocblas_datatype_i32_r => Compute::I32,
        _ => return Err(rocblas_status::rocblas_status_not_implemented),
    })
}

/// cuBLAS's status as rocBLAS's.
pub(super) fn status_of(code: u32) -> rocblas_status {
    match code {
        0 => rocblas_status::rocblas_status_success,
        1 => rocblas_status::rocblas_status_invalid_handle,
        3 => rocblas_status::rocblas_status_memory_error,
        7 => rocblas_status::rocblas_status_invalid_value,
        8 => rocblas_status::rocblas_status_arch_mismatch,
        15 => rocblas_status::rocblas_status_not_implemented,
        // Mapping, execution, internal and license errors.
        _ => rocblas_status::rocblas_status_internal_error,
    }
}

/// The driver's error as rocBLAS's status.
pub(super) fn status_of_driver(error: hipError_t) -> rocblas_status {
    match error {
        hipError_t::hipErrorOutOfMemory => rocblas_status::rocblas_status_memory_error,
        _ => rocblas_status::rocblas_status_internal_error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cudarc::cublas::sys;

    #[test]
    fn enumerations_have_the_headers_numbers() {
        use sys::{
            cublasDiagType_t as D, cublasFillMode_t as F, cublasOperation_t as O, cublasSideMode_t as S,
        };
        let operations = [
            (rocblas_operation::rocblas_operation_none, O::CUBLAS_OP_N),
            (rocblas_operation::rocblas_operation_transpose, O::CUBLAS_OP_T),
            (rocblas_operation::rocblas_operation_conjugate_transpose, O::CUBLAS_OP_C),
        ];
        for (ours, theirs) in operations {
            assert_eq!(ours.pass().0, theirs as u32);
        }
        assert_eq!(rocblas_fill::rocblas_fill_lower.pass().0, F::CUBLAS_FILL_MODE_LOWER as u32);
        assert_eq!(rocblas_fill::rocblas_fill_upper.pass().0, F::CUBLAS_FILL_MODE_UPPER as u32);
        assert_eq!(rocblas_diagonal::rocblas_diagonal_non_unit.pass().0, D::CUBLAS_DIAG_NON_UNIT as u32);
        assert_eq!(rocblas_diagonal::rocblas_diagonal_unit.pass().0, D::CUBLAS_DIAG_UNIT as u32);
        assert_eq!(rocblas_side::rocblas_side_left.pass().0, S::CUBLAS_SIDE_LEFT as u32);
        assert_eq!(rocblas_side::rocblas_side_right.pass().0, S::CUBLAS_SIDE_RIGHT as u32);
        assert_eq!(Algorithm::DEFAULT.0, -1);
    }

    #[test]
    fn types_have_the_headers_numbers_and_their_bytes() {
        use rocblas_datatype as R;
        use sys::cudaDataType_t as T;
        let types = [
            (R::rocblas_datatype_f16_r, T::CUDA_R_16F, 2),
            (R::rocblas_datatype_bf16_r, T::CUDA_R_16BF, 2),
            (R::rocblas_datatype_f32_r, T::CUDA_R_32F, 4),
            (R::rocblas_datatype_f64_r, T::CUDA_R_64F, 8),
            (R::rocblas_datatype_f32_c, T::CUDA_C_32F, 8),
            (R::rocblas_datatype_f64_c, T::CUDA_C_64F, 16),
            (R::rocblas_datatype_i8_r, T::CUDA_R_8I, 1),
            (R::rocblas_datatype_u8_r, T::CUDA_R_8U, 1),
            (R::rocblas_datatype_i32_r, T::CUDA_R_32I, 4),
            (R::rocblas_datatype_u32_r, T::CUDA_R_32U, 4),
        ];
        for (ours, theirs, bytes) in types {
            assert_eq!(data_type(ours), Ok((DataType(theirs as u32), bytes)));
        }
        let unknown = Err(rocblas_status::rocblas_status_not_implemented);
        // An 8-bit float of rocBLAS 4, which later versions do not have.
        assert_eq!(data_type(hip_sys::rocblas::rocblas_datatype_(170)), unknown);
        assert_eq!(execution_type(R::rocblas_datatype_f16_r), Ok(DataType(T::CUDA_R_32F as u32)));
        assert_eq!(execution_type(R::rocblas_datatype_f64_c), Ok(DataType(T::CUDA_C_64F as u32)));
    }

    #[test]
    fn sums_have_at_least_the_requested_precision() {
        use rocblas_datatype as R;
        use sys::cublasComputeType_t as C;
        use sys::cublasMath_t as M;
        let types = [
            (R::rocblas_datatype_f16_r, C::CUBLAS_COMPUTE_16F),
            (R::rocblas_datatype_f32_r, C::CUBLAS_COMPUTE_32F),
            (R::rocblas_datatype_f32_c, C::CUBLAS_COMPUTE_32F),
            (R::rocblas_datatype_f64_r, C::CUBLAS_COMPUTE_64F),
            (R::rocblas_datatype_f64_c, C::CUBLAS_COMPUTE_64F),
            (R::rocblas_datatype_i32_r, C::CUBLAS_COMPUTE_32I),
        ];
        for (ours, theirs) in types {
            assert_eq!(compute_type(ours), Ok(Compute(theirs as u32)));
        }
        let whole = M::CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION as u32;
        assert_eq!(
            math_mode(rocblas_math_mode::rocblas_default_math).0,
            M::CUBLAS_DEFAULT_MATH as u32 | whole
        );
        let xf32 = rocblas_math_mode::rocblas_xf32_xdl_math_op;
        assert_eq!(math_mode(xf32).0, M::CUBLAS_TF32_TENSOR_OP_MATH as u32 | whole);
    }

    #[test]
    fn statuses_become_rocblas_s() {
        use rocblas_status as R;
        use sys::cublasStatus_t as S;
        let statuses = [
            (S::CUBLAS_STATUS_SUCCESS, R::rocblas_status_success),
            (S::CUBLAS_STATUS_NOT_INITIALIZED, R::rocblas_status_invalid_handle),
            (S::CUBLAS_STATUS_ALLOC_FAILED, R::rocblas_status_memory_error),
            (S::CUBLAS_STATUS_INVALID_VALUE, R::rocblas_status_invalid_value),
            (S::CUBLAS_STATUS_ARCH_MISMATCH, R::rocblas_status_arch_mismatch),
            (S::CUBLAS_STATUS_EXECUTION_FAILED, R::rocblas_status_internal_error),
            (S::CUBLAS_STATUS_NOT_SUPPORTED, R::rocblas_status_not_implemented),
        ];
        for (theirs, ours) in statuses {
            assert_eq!(status_of(theirs as u32), ours);
        }
        assert_eq!(status_of(4711), R::rocblas_status_internal_error);
    }
}
