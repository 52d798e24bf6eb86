//! The functions of a matrix and vectors.

use super::functions;
use crate::level2::{gbmv, gemv, ger, symv, syr, trmv, trsv};
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_bfloat16, rocblas_double_complex, rocblas_float_complex, rocblas_half};

/// Puts them into the table.
pub(super) fn fill(table: &mut RocblasTable) {
    sixteen_bits(table);
    functions! { table, "6.2"
        gemv [f32, f32, f32] rocblas_sgemv rocblas_sgemv_batched rocblas_sgemv_strided_batched
            rocblas_sgemv_64 rocblas_sgemv_batched_64 rocblas_sgemv_strided_batched_64
        gemv [f64, f64, f64] rocblas_dgemv rocblas_dgemv_batched rocblas_dgemv_strided_batched
            rocblas_dgemv_64 rocblas_dgemv_batched_64 rocblas_dgemv_strided_batched_64
        gemv [rocblas_float_complex, rocblas_float_complex, rocblas_float_complex] rocblas_cgemv rocblas_cgemv_batched rocblas_cgemv_strided_batched
            rocblas_cgemv_64 rocblas_cgemv_batched_64 rocblas_cgemv_strided_batched_64
        gemv [rocblas_double_complex, rocblas_double_complex, rocblas_double_complex] rocblas_zgemv rocblas_zgemv_batched rocblas_zgemv_strided_batched
            rocblas_zgemv_64 rocblas_zgemv_batched_64 rocblas_zgemv_strided_batched_64
        gbmv [f32] rocblas_sgbmv rocblas_sgbmv_batched rocblas_sgbmv_strided_batched
            rocblas_sgbmv_64 rocblas_sgbmv_batched_64 rocblas_sgbmv_strided_batched_64
        gbmv [f64] rocblas_dgbmv rocblas_dgbmv_batched rocblas_dgbmv_strided_batched
            rocblas_dgbmv_64 rocblas_dgbmv_batched_64 rocblas_dgbmv_strided_batched_64
        gbmv [rocblas_float_complex] rocblas_cgbmv rocblas_cgbmv_batched rocblas_cgbmv_strided_batched
            rocblas_cgbmv_64 rocblas_cgbmv_batched_64 rocblas_cgbmv_strided_batched_64
        gbmv [rocblas_double_complex] rocblas_zgbmv rocblas_zgbmv_batched rocblas_zgbmv_strided_batched
            rocblas_zgbmv_64 rocblas_zgbmv_batched_64 rocblas_zgbmv_strided_batched_64
        symv [f32] rocblas_ssymv rocblas_ssymv_batched rocblas_ssymv_strided_batched
            rocblas_ssymv_64 rocblas_ssymv_batched_64 rocblas_ssymv_strided_batched_64
        symv [f64] rocblas_dsymv rocblas_dsymv_batched rocblas_dsymv_strided_batched
            rocblas_dsymv_64 rocblas_dsymv_batched_64 rocblas_dsymv_strided_batched_64
        symv [rocblas_float_complex] rocblas_csymv rocblas_csymv_batched rocblas_csymv_strided_batched
            rocblas_csymv_64 rocblas_csymv_batched_64 rocblas_csymv_strided_batched_64
        symv [rocblas_double_complex] rocblas_zsymv rocblas_zsymv_batched rocblas_zsymv_strided_batched
            rocblas_zsymv_64 rocblas_zsymv_batched_64 rocblas_zsymv_strided_batched_64
        syr [f32] rocblas_ssyr rocblas_ssyr_batched rocblas_ssyr_strided_batched
            rocblas_ssyr_64 rocblas_ssyr_batched_64 rocblas_ssyr_strided_batched_64
        syr [f64] rocblas_dsyr rocblas_dsyr_batched rocblas_dsyr_strided_batched
            rocblas_dsyr_64 rocblas_dsyr_batched_64 rocblas_dsyr_strided_batched_64
        syr [rocblas_float_complex] rocblas_csyr rocblas_csyr_batched rocblas_csyr_strided_batched
            rocblas_csyr_64 rocblas_csyr_batched_64 rocblas_csyr_strided_batched_64
        syr [rocblas_double_complex] rocblas_zsyr rocblas_zsyr_batched rocblas_zsyr_strided_batched
            rocblas_zsyr_64 rocblas_zsyr_batched_64 rocblas_zsyr_strided_batched_64
        trmv [f32] rocblas_strmv rocblas_strmv_batched rocblas_strmv_strided_batched
            rocblas_strmv_64 rocblas_strmv_batched_64 rocblas_strmv_strided_batched_64
        trmv [f64] rocblas_dtrmv rocblas_dtrmv_batched rocblas_dtrmv_strided_batched
            rocblas_dtrmv_64 rocblas_dtrmv_batched_64 rocblas_dtrmv_strided_batched_64
        trmv [rocblas_float_complex] rocblas_ctrmv rocblas_ctrmv_batched rocblas_ctrmv_strided_batched
            rocblas_ctrmv_64 rocblas_ctrmv_batched_64 rocblas_ctrmv_strided_batched_64
        trmv [rocblas_double_complex] rocblas_ztrmv rocblas_ztrmv_batched rocblas_ztrmv_strided_batched
            rocblas_ztrmv_64 rocblas_ztrmv_batched_64 rocblas_ztrmv_strided_batched_64
        trsv [f32] rocblas_strsv rocblas_strsv_batched rocblas_strsv_strided_batched
            rocblas_strsv_64 rocblas_strsv_batched_64 rocblas_strsv_strided_batched_64
        trsv [f64] rocblas_dtrsv rocblas_dtrsv_batched rocblas_dtrsv_strided_batched
            rocblas_dtrsv_64 rocblas_dtrsv_batched_64 rocblas_dtrsv_strided_batched_64
        trsv [rocblas_float_complex] rocblas_ctrsv rocblas_ctrsv_batched rocblas_ctrsv_strided_batched
            rocblas_ctrsv_64 rocblas_ctrsv_batched_64 rocblas_ctrsv_strided_batched_64
        trsv [rocblas_double_complex] rocblas_ztrsv rocblas_ztrsv_batched rocblas_ztrsv_strided_batched
            rocblas_ztrsv_64 rocblas_ztrsv_batched_64 rocblas_ztrsv_strided_batched_64
        ger [f32, false] rocblas_sger rocblas_sger_batched rocblas_sger_strided_batched
            rocblas_sger_64 rocblas_sger_batched_64 rocblas_sger_strided_batched_64
        ger [f64, false] rocblas_dger rocblas_dger_batched rocblas_dger_strided_batched
            rocblas_dger_64 rocblas_dger_batched_64 rocblas_dger_strided_batched_64
        ger [rocblas_float_complex, false] rocblas_cgeru rocblas_cgeru_batched rocblas_cgeru_strided_batched
            rocblas_cgeru_64 rocblas_cgeru_batched_64 rocblas_cgeru_strided_batched_64
        ger [rocblas_double_complex, false] rocblas_zgeru rocblas_zgeru_batched rocblas_zgeru_strided_batched
            rocblas_zgeru_64 rocblas_zgeru_batched_64 rocblas_zgeru_strided_batched_64
        ger [rocblas_float_complex, true] rocblas_cgerc rocblas_cgerc_batched rocblas_cgerc_strided_batched
            rocblas_cgerc_64 rocblas_cgerc_batched_64 rocblas_cgerc_strided_batched_64
        ger [rocblas_double_complex, true] rocblas_zgerc rocblas_zgerc_batched rocblas_zgerc_strided_batched
            rocblas_zgerc_64 rocblas_zgerc_batched_64 rocblas_zgerc_strided_batched_64
    }
}

/// Products of 16-bit elements, which exist only as batches. ROCm has them since 6.0, with 64-bit sizes since 6.2.
fn sixteen_bits(table: &mut RocblasTable) {
    macro_rules! batches {
        ($([$($given:ty),*] $b:ident $s:ident $b64:ident $s64:ident)*) => {$(
            table.$b = hip_sys::Optional::present(gemv::batched::<i32, $($given),*>, stringify!($b), "6.0");
            table.$s = hip_sys::Optional::present(gemv::strided::<i32, $($given),*>, stringify!($s), "6.0");
            table.$b64 = hip_sys::Optional::present(gemv::batched::<i64, $($given),*>, stringify!($b64), "6.2");
            table.$s64 = hip_sys::Optional::present(gemv::strided::<i64, $($given),*>, stringify!($s64), "6.2");
        )*};
    }
    batches! {
        [rocblas_half, rocblas_half, f32] rocblas_hshgemv_batched rocblas_hshgemv_strided_batched
            rocblas_hshgemv_batched_64 rocblas_hshgemv_strided_batched_64
        [rocblas_half, f32, f32] rocblas_hssgemv_batched rocblas_hssgemv_strided_batched
            rocblas_hssgemv_batched_64 rocblas_hssgemv_strided_batched_64
        [rocblas_bfloat16, rocblas_bfloat16, f32] rocblas_tstgemv_batched rocblas_tstgemv_strided_batched
            rocblas_tstgemv_batched_64 rocblas_tstgemv_strided_batched_64
        [rocblas_bfloat16, f32, f32] rocblas_tssgemv_batched rocblas_tssgemv_strided_batched
            rocblas_tssgemv_batched_64 rocblas_tssgemv_strided_batched_64
    }
}
