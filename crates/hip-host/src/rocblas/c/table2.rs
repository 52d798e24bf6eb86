//! The functions of a matrix and vectors.

use super::functions;
use crate::rocblas::level2::gemv;
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_double_complex, rocblas_float_complex};

/// Puts them into the table.
pub(super) fn fill(table: &mut RocblasTable) {
    functions! { table, "6.2"
        gemv [f32] rocblas_sgemv rocblas_sgemv_batched rocblas_sgemv_strided_batched
            rocblas_sgemv_64 rocblas_sgemv_batched_64 rocblas_sgemv_strided_batched_64
        gemv [f64] rocblas_dgemv rocblas_dgemv_batched rocblas_dgemv_strided_batched
            rocblas_dgemv_64 rocblas_dgemv_batched_64 rocblas_dgemv_strided_batched_64
        gemv [rocblas_float_complex] rocblas_cgemv rocblas_cgemv_batched rocblas_cgemv_strided_batched
            rocblas_cgemv_64 rocblas_cgemv_batched_64 rocblas_cgemv_strided_batched_64
        gemv [rocblas_double_complex] rocblas_zgemv rocblas_zgemv_batched rocblas_zgemv_strided_batched
            rocblas_zgemv_64 rocblas_zgemv_batched_64 rocblas_zgemv_strided_batched_64
    }
}
