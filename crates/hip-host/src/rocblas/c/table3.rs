//! The functions of matrices.

use super::functions;
use crate::rocblas::level3::{gemm, gemm::ex as gemm_ex};
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_double_complex, rocblas_float_complex, rocblas_half};

/// Puts them into the table.
pub(super) fn fill(table: &mut RocblasTable) {
    untyped(table);
    functions! { table, "6.3"
        gemm [rocblas_half] rocblas_hgemm rocblas_hgemm_batched rocblas_hgemm_strided_batched
            rocblas_hgemm_64 rocblas_hgemm_batched_64 rocblas_hgemm_strided_batched_64
        gemm [f32] rocblas_sgemm rocblas_sgemm_batched rocblas_sgemm_strided_batched
            rocblas_sgemm_64 rocblas_sgemm_batched_64 rocblas_sgemm_strided_batched_64
        gemm [f64] rocblas_dgemm rocblas_dgemm_batched rocblas_dgemm_strided_batched
            rocblas_dgemm_64 rocblas_dgemm_batched_64 rocblas_dgemm_strided_batched_64
        gemm [rocblas_float_complex] rocblas_cgemm rocblas_cgemm_batched rocblas_cgemm_strided_batched
            rocblas_cgemm_64 rocblas_cgemm_batched_64 rocblas_cgemm_strided_batched_64
        gemm [rocblas_double_complex] rocblas_zgemm rocblas_zgemm_batched rocblas_zgemm_strided_batched
            rocblas_zgemm_64 rocblas_zgemm_batched_64 rocblas_zgemm_strided_batched_64
    }
}

/// Those whose types are arguments.
fn untyped(table: &mut RocblasTable) {
    functions! { table, "6.3"
        gemm_ex [] rocblas_gemm_ex rocblas_gemm_batched_ex rocblas_gemm_strided_batched_ex
            rocblas_gemm_ex_64 rocblas_gemm_batched_ex_64 rocblas_gemm_strided_batched_ex_64
    }
}
