//! Level 2: matrices and vectors.

use super::call::{Call, Operand, Result, invoke};
use hip_sys::rocblas::{rocblas_diagonal, rocblas_fill, rocblas_operation};
use num_complex::{Complex32, Complex64};
use std::ffi::c_void;

/// For the four types of BLAS.
pub trait Level2Calls {
    unsafe fn gemv(
        call: &Call<'_>,
        trans: rocblas_operation,
        m: i64,
        n: i64,
        alpha: *const c_void,
        a: Operand,
        x: Operand,
        beta: *const c_void,
        y: Operand,
    ) -> Result<()>;
    unsafe fn gbmv(
        call: &Call<'_>,
        trans: rocblas_operation,
        size: (i64, i64),
        widths: (i64, i64),
        alpha: *const c_void,
        a: Operand,
        x: Operand,
        beta: *const c_void,
        y: Operand,
    ) -> Result<()>;
    unsafe fn ger(
        call: &Call<'_>,
        m: i64,
        n: i64,
        alpha: *const c_void,
        x: Operand,
        y: Operand,
        a: Operand,
    ) -> Result<()>;
    unsafe fn gerc(
        call: &Call<'_>,
        m: i64,
        n: i64,
        alpha: *const c_void,
        x: Operand,
        y: Operand,
        a: Operand,
    ) -> Result<()>;
    unsafe fn symv(
        call: &Call<'_>,
        uplo: rocblas_fill,
        n: i64,
        alpha: *const c_void,
        a: Operand,
        x: Operand,
        beta: *const c_void,
        y: Operand,
    ) -> Result<()>;
    unsafe fn syr(
        call: &Call<'_>,
        uplo: rocblas_fill,
        n: i64,
        alpha: *const c_void,
        x: Operand,
        a: Operand,
    ) -> Result<()>;
    unsafe fn trmv(
        call: &Call<'_>,
        uplo: rocblas_fill,
        trans: rocblas_operation,
        diag: rocblas_diagonal,
        n: i64,
        a: Operand,
        x: Operand,
    ) -> Result<()>;
    unsafe fn trsv(
        call: &Call<'_>,
        uplo: rocblas_fill,
        trans: rocblas_operation,
        diag: rocblas_diagonal,
        n: i64,
        a: Operand,
        x: Operand,
    ) -> Result<()>;
}

macro_rules! level2 {
    ($T:ty; gemv $gemv:tt; gbmv $gbmv:tt; ger $ger:tt; gerc $gerc:tt; symv $symv:tt; syr $syr:tt; trmv $trmv:tt; trsv $trsv:tt;) => {
        impl Level2Calls for $T {
            unsafe fn gemv(call: &Call<'_>, trans: rocblas_operation, m: i64, n: i64, alpha: *const c_void, a: Operand, x: Operand, beta: *const c_void, y: Operand) -> Result<()> {
                invoke!(call, $gemv, val(trans) size(m) size(n) val(alpha.cast()) op(a) op(x) val(beta.cast()) op(y) count)
            }

            unsafe fn gbmv(call: &Call<'_>, trans: rocblas_operation, (m, n): (i64, i64), (kl, ku): (i64, i64), alpha: *const c_void, a: Operand, x: Operand, beta: *const c_void, y: Operand) -> Result<()> {
                invoke!(call, $gbmv, val(trans) size(m) size(n) size(kl) size(ku) val(alpha.cast()) op(a) op(x) val(beta.cast()) op(y) count)
            }

            unsafe fn ger(call: &Call<'_>, m: i64, n: i64, alpha: *const c_void, x: Operand, y: Operand, a: Operand) -> Result<()> {
                invoke!(call, $ger, size(m) size(n) val(alpha.cast()) op(x) op(y) op(a) count)
            }

            unsafe fn gerc(call: &Call<'_>, m: i64, n: i64, alpha: *const c_void, x: Operand, y: Operand, a: Operand) -> Result<()> {
                invoke!(call, $gerc, size(m) size(n) val(alpha.cast()) op(x) op(y) op(a) count)
            }

            unsafe fn symv(call: &Call<'_>, uplo: rocblas_fill, n: i64, alpha: *const c_void, a: Operand, x: Operand, beta: *const c_void, y: Operand) -> Result<()> {
                invoke!(call, $symv, val(uplo) size(n) val(alpha.cast()) op(a) op(x) val(beta.cast()) op(y) count)
            }

            unsafe fn syr(call: &Call<'_>, uplo: rocblas_fill, n: i64, alpha: *const c_void, x: Operand, a: Operand) -> Result<()> {
                invoke!(call, $syr, val(uplo) size(n) val(alpha.cast()) op(x) op(a) count)
            }

            unsafe fn trmv(call: &Call<'_>, uplo: rocblas_fill, trans: rocblas_operation, diag: rocblas_diagonal, n: i64, a: Operand, x: Operand) -> Result<()> {
                invoke!(call, $trmv, val(uplo) val(trans) val(diag) size(n) op(a) op(x) count)
            }

            unsafe fn trsv(call: &Call<'_>, uplo: rocblas_fill, trans: rocblas_operation, diag: rocblas_diagonal, n: i64, a: Operand, x: Operand) -> Result<()> {
                invoke!(call, $trsv, val(uplo) val(trans) val(diag) size(n) op(a) op(x) count)
            }
        }
    };
}

level2! { f32;
    gemv [rocblas_sgemv rocblas_sgemv_batched rocblas_sgemv_strided_batched
        rocblas_sgemv_64 rocblas_sgemv_batched_64 rocblas_sgemv_strided_batched_64];
    gbmv [rocblas_sgbmv rocblas_sgbmv_batched rocblas_sgbmv_strided_batched
        rocblas_sgbmv_64 rocblas_sgbmv_batched_64 rocblas_sgbmv_strided_batched_64];
    ger [rocblas_sger rocblas_sger_batched rocblas_sger_strided_batched
        rocblas_sger_64 rocblas_sger_batched_64 rocblas_sger_strided_batched_64];
    gerc [rocblas_sger rocblas_sger_batched rocblas_sger_strided_batched
        rocblas_sger_64 rocblas_sger_batched_64 rocblas_sger_strided_batched_64];
    symv [rocblas_ssymv rocblas_ssymv_batched rocblas_ssymv_strided_batched
        rocblas_ssymv_64 rocblas_ssymv_batched_64 rocblas_ssymv_strided_batched_64];
    syr [rocblas_ssyr rocblas_ssyr_batched rocblas_ssyr_strided_batched
        rocblas_ssyr_64 rocblas_ssyr_batched_64 rocblas_ssyr_strided_batched_64];
    trmv [rocblas_strmv rocblas_strmv_batched rocblas_strmv_strided_batched
        rocblas_strmv_64 rocblas_strmv_batched_64 rocblas_strmv_strided_batched_64];
    trsv [rocblas_strsv rocblas_strsv_batched rocblas_strsv_strided_batched
        rocblas_strsv_64 rocblas_strsv_batched_64 rocblas_strsv_strided_batched_64];
}

level2! { f64;
    gemv [rocblas_dgemv rocblas_dgemv_batched rocblas_dgemv_strided_batched
        rocblas_dgemv_64 rocblas_dgemv_batched_64 rocblas_dgemv_strided_batched_64];
    gbmv [rocblas_dgbmv rocblas_dgbmv_batched rocblas_dgbmv_strided_batched
        rocblas_dgbmv_64 rocblas_dgbmv_batched_64 rocblas_dgbmv_strided_batched_64];
    ger [rocblas_dger rocblas_dger_batched rocblas_dger_strided_batched
        rocblas_dger_64 rocblas_dger_batched_64 rocblas_dger_strided_batched_64];
    gerc [rocblas_dger rocblas_dger_batched rocblas_dger_strided_batched
        rocblas_dger_64 rocblas_dger_batched_64 rocblas_dger_strided_batched_64];
    symv [rocblas_dsymv rocblas_dsymv_batched rocblas_dsymv_strided_batched
        rocblas_dsymv_64 rocblas_dsymv_batched_64 rocblas_dsymv_strided_batched_64];
    syr [rocblas_dsyr rocblas_dsyr_batched rocblas_dsyr_strided_batched
        rocblas_dsyr_64 rocblas_dsyr_batched_64 rocblas_dsyr_strided_batched_64];
    trmv [rocblas_dtrmv rocblas_dtrmv_batched rocblas_dtrmv_strided_batched
        rocblas_dtrmv_64 rocblas_dtrmv_batched_64 rocblas_dtrmv_strided_batched_64];
    trsv [rocblas_dtrsv rocblas_dtrsv_batched rocblas_dtrsv_strided_batched
        rocblas_dtrsv_64 rocblas_dtrsv_batched_64 rocblas_dtrsv_strided_batched_64];
}

level2! { Complex32;
    gemv [rocblas_cgemv rocblas_cgemv_batched rocblas_cgemv_strided_batched
        rocblas_cgemv_64 rocblas_cgemv_batched_64 rocblas_cgemv_strided_batched_64];
    gbmv [rocblas_cgbmv rocblas_cgbmv_batched rocblas_cgbmv_strided_batched
        rocblas_cgbmv_64 rocblas_cgbmv_batched_64 rocblas_cgbmv_strided_batched_64];
    ger [rocblas_cgeru rocblas_cgeru_batched rocblas_cgeru_strided_batched
        rocblas_cgeru_64 rocblas_cgeru_batched_64 rocblas_cgeru_strided_batched_64];
    gerc [rocblas_cgerc rocblas_cgerc_batched rocblas_cgerc_strided_batched
        rocblas_cgerc_64 rocblas_cgerc_batched_64 rocblas_cgerc_strided_batched_64];
    symv [rocblas_csymv rocblas_csymv_batched rocblas_csymv_strided_batched
        rocblas_csymv_64 rocblas_csymv_batched_64 rocblas_csymv_strided_batched_64];
    syr [rocblas_csyr rocblas_csyr_batched rocblas_csyr_strided_batched
        rocblas_csyr_64 rocblas_csyr_batched_64 rocblas_csyr_strided_batched_64];
    trmv [rocblas_ctrmv rocblas_ctrmv_batched rocblas_ctrmv_strided_batched
        rocblas_ctrmv_64 rocblas_ctrmv_batched_64 rocblas_ctrmv_strided_batched_64];
    trsv [rocblas_ctrsv rocblas_ctrsv_batched rocblas_ctrsv_strided_batched
        rocblas_ctrsv_64 rocblas_ctrsv_batched_64 rocblas_ctrsv_strided_batched_64];
}

level2! { Complex64;
    gemv [rocblas_zgemv rocblas_zgemv_batched rocblas_zgemv_strided_batched
        rocblas_zgemv_64 rocblas_zgemv_batched_64 rocblas_zgemv_strided_batched_64];
    gbmv [rocblas_zgbmv rocblas_zgbmv_batched rocblas_zgbmv_strided_batched
        rocblas_zgbmv_64 rocblas_zgbmv_batched_64 rocblas_zgbmv_strided_batched_64];
    ger [rocblas_zgeru rocblas_zgeru_batched rocblas_zgeru_strided_batched
        rocblas_zgeru_64 rocblas_zgeru_batched_64 rocblas_zgeru_strided_batched_64];
    gerc [rocblas_zgerc rocblas_zgerc_batched rocblas_zgerc_strided_batched
        rocblas_zgerc_64 rocblas_zgerc_batched_64 rocblas_zgerc_strided_batched_64];
    symv [rocblas_zsymv rocblas_zsymv_batched rocblas_zsymv_strided_batched
        rocblas_zsymv_64 rocblas_zsymv_batched_64 rocblas_zsymv_strided_batched_64];
    syr [rocblas_zsyr rocblas_zsyr_batched rocblas_zsyr_strided_batched
        rocblas_zsyr_64 rocblas_zsyr_batched_64 rocblas_zsyr_strided_batched_64];
    trmv [rocblas_ztrmv rocblas_ztrmv_batched rocblas_ztrmv_strided_batched
        rocblas_ztrmv_64 rocblas_ztrmv_batched_64 rocblas_ztrmv_strided_batched_64];
    trsv [rocblas_ztrsv rocblas_ztrsv_batched rocblas_ztrsv_strided_batched
        rocblas_ztrsv_64 rocblas_ztrsv_batched_64 rocblas_ztrsv_strided_batched_64];
}
