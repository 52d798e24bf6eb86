//! The functions of matrices.

use super::functions;
use crate::level3::{dgmm, geam, gemm, gemm::ex as gemm_ex, symm, syrk, trmm, trsm, trsm::ex as trsm_ex};
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
        symm [f32] rocblas_ssymm rocblas_ssymm_batched rocblas_ssymm_strided_batched
            rocblas_ssymm_64 rocblas_ssymm_batched_64 rocblas_ssymm_strided_batched_64
        symm [f64] rocblas_dsymm rocblas_dsymm_batched rocblas_dsymm_strided_batched
            rocblas_dsymm_64 rocblas_dsymm_batched_64 rocblas_dsymm_strided_batched_64
        symm [rocblas_float_complex] rocblas_csymm rocblas_csymm_batched rocblas_csymm_strided_batched
            rocblas_csymm_64 rocblas_csymm_batched_64 rocblas_csymm_strided_batched_64
        symm [rocblas_double_complex] rocblas_zsymm rocblas_zsymm_batched rocblas_zsymm_strided_batched
            rocblas_zsymm_64 rocblas_zsymm_batched_64 rocblas_zsymm_strided_batched_64
        syrk [f32, f32, false] rocblas_ssyrk rocblas_ssyrk_batched rocblas_ssyrk_strided_batched
            rocblas_ssyrk_64 rocblas_ssyrk_batched_64 rocblas_ssyrk_strided_batched_64
        syrk [f64, f64, false] rocblas_dsyrk rocblas_dsyrk_batched rocblas_dsyrk_strided_batched
            rocblas_dsyrk_64 rocblas_dsyrk_batched_64 rocblas_dsyrk_strided_batched_64
        syrk [rocblas_float_complex, rocblas_float_complex, false] rocblas_csyrk rocblas_csyrk_batched rocblas_csyrk_strided_batched
            rocblas_csyrk_64 rocblas_csyrk_batched_64 rocblas_csyrk_strided_batched_64
        syrk [rocblas_double_complex, rocblas_double_complex, false] rocblas_zsyrk rocblas_zsyrk_batched rocblas_zsyrk_strided_batched
            rocblas_zsyrk_64 rocblas_zsyrk_batched_64 rocblas_zsyrk_strided_batched_64
        syrk [rocblas_float_complex, f32, true] rocblas_cherk rocblas_cherk_batched rocblas_cherk_strided_batched
            rocblas_cherk_64 rocblas_cherk_batched_64 rocblas_cherk_strided_batched_64
        syrk [rocblas_double_complex, f64, true] rocblas_zherk rocblas_zherk_batched rocblas_zherk_strided_batched
            rocblas_zherk_64 rocblas_zherk_batched_64 rocblas_zherk_strided_batched_64
        trmm [f32] rocblas_strmm rocblas_strmm_batched rocblas_strmm_strided_batched
            rocblas_strmm_64 rocblas_strmm_batched_64 rocblas_strmm_strided_batched_64
        trmm [f64] rocblas_dtrmm rocblas_dtrmm_batched rocblas_dtrmm_strided_batched
            rocblas_dtrmm_64 rocblas_dtrmm_batched_64 rocblas_dtrmm_strided_batched_64
        trmm [rocblas_float_complex] rocblas_ctrmm rocblas_ctrmm_batched rocblas_ctrmm_strided_batched
            rocblas_ctrmm_64 rocblas_ctrmm_batched_64 rocblas_ctrmm_strided_batched_64
        trmm [rocblas_double_complex] rocblas_ztrmm rocblas_ztrmm_batched rocblas_ztrmm_strided_batched
            rocblas_ztrmm_64 rocblas_ztrmm_batched_64 rocblas_ztrmm_strided_batched_64
        geam [f32] rocblas_sgeam rocblas_sgeam_batched rocblas_sgeam_strided_batched
            rocblas_sgeam_64 rocblas_sgeam_batched_64 rocblas_sgeam_strided_batched_64
        geam [f64] rocblas_dgeam rocblas_dgeam_batched rocblas_dgeam_strided_batched
            rocblas_dgeam_64 rocblas_dgeam_batched_64 rocblas_dgeam_strided_batched_64
        geam [rocblas_float_complex] rocblas_cgeam rocblas_cgeam_batched rocblas_cgeam_strided_batched
            rocblas_cgeam_64 rocblas_cgeam_batched_64 rocblas_cgeam_strided_batched_64
        geam [rocblas_double_complex] rocblas_zgeam rocblas_zgeam_batched rocblas_zgeam_strided_batched
            rocblas_zgeam_64 rocblas_zgeam_batched_64 rocblas_zgeam_strided_batched_64
        dgmm [f32] rocblas_sdgmm rocblas_sdgmm_batched rocblas_sdgmm_strided_batched
            rocblas_sdgmm_64 rocblas_sdgmm_batched_64 rocblas_sdgmm_strided_batched_64
        dgmm [f64] rocblas_ddgmm rocblas_ddgmm_batched rocblas_ddgmm_strided_batched
            rocblas_ddgmm_64 rocblas_ddgmm_batched_64 rocblas_ddgmm_strided_batched_64
        dgmm [rocblas_float_complex] rocblas_cdgmm rocblas_cdgmm_batched rocblas_cdgmm_strided_batched
            rocblas_cdgmm_64 rocblas_cdgmm_batched_64 rocblas_cdgmm_strided_batched_64
        dgmm [rocblas_double_complex] rocblas_zdgmm rocblas_zdgmm_batched rocblas_zdgmm_strided_batched
            rocblas_zdgmm_64 rocblas_zdgmm_batched_64 rocblas_zdgmm_strided_batched_64
    }
    functions! { table, "6.2"
        trsm [f32] rocblas_strsm rocblas_strsm_batched rocblas_strsm_strided_batched
            rocblas_strsm_64 rocblas_strsm_batched_64 rocblas_strsm_strided_batched_64
        trsm [f64] rocblas_dtrsm rocblas_dtrsm_batched rocblas_dtrsm_strided_batched
            rocblas_dtrsm_64 rocblas_dtrsm_batched_64 rocblas_dtrsm_strided_batched_64
        trsm [rocblas_float_complex] rocblas_ctrsm rocblas_ctrsm_batched rocblas_ctrsm_strided_batched
            rocblas_ctrsm_64 rocblas_ctrsm_batched_64 rocblas_ctrsm_strided_batched_64
        trsm [rocblas_double_complex] rocblas_ztrsm rocblas_ztrsm_batched rocblas_ztrsm_strided_batched
            rocblas_ztrsm_64 rocblas_ztrsm_batched_64 rocblas_ztrsm_strided_batched_64
    }
}

/// Functions whose types are arguments.
fn untyped(table: &mut RocblasTable) {
    table.rocblas_trsm_ex = trsm_ex::plain::<i32>;
    table.rocblas_trsm_batched_ex = trsm_ex::batched::<i32>;
    table.rocblas_trsm_strided_batched_ex = trsm_ex::strided::<i32>;
    functions! { table, "6.3"
        gemm_ex [] rocblas_gemm_ex rocblas_gemm_batched_ex rocblas_gemm_strided_batched_ex
            rocblas_gemm_ex_64 rocblas_gemm_batched_ex_64 rocblas_gemm_strided_batched_ex_64
    }
}
