//! Level 3: matrices.

use super::call::{Call, Operand, Result, invoke};
use hip_sys::rocblas::{rocblas_diagonal, rocblas_fill, rocblas_operation, rocblas_side};
use num_complex::{Complex32, Complex64};
use std::ffi::c_void;

/// What a triangular matrix is.
#[derive(Clone, Copy)]
pub struct Triangular {
    pub(crate) side: rocblas_side,
    pub(crate) uplo: rocblas_fill,
    pub(crate) trans: rocblas_operation,
    pub(crate) diag: rocblas_diagonal,
}

/// For every element type.
pub trait GemmCalls {
    unsafe fn gemm(
        call: &Call<'_>,
        trans: (rocblas_operation, rocblas_operation),
        size: (i64, i64, i64),
        alpha: *const c_void,
        a: Operand,
        b: Operand,
        beta: *const c_void,
        c: Operand,
    ) -> Result<()>;
}

/// For the four types of BLAS.
pub trait Level3Calls {
    unsafe fn symm(
        call: &Call<'_>,
        side_fill: (rocblas_side, rocblas_fill),
        size: (i64, i64),
        alpha: *const c_void,
        a: Operand,
        b: Operand,
        beta: *const c_void,
        c: Operand,
    ) -> Result<()>;
    unsafe fn syrk(
        call: &Call<'_>,
        how: (rocblas_fill, rocblas_operation),
        size: (i64, i64),
        alpha: *const c_void,
        a: Operand,
        beta: *const c_void,
        c: Operand,
    ) -> Result<()>;
    unsafe fn trmm(
        call: &Call<'_>,
        how: Triangular,
        size: (i64, i64),
        alpha: *const c_void,
        a: Operand,
        b: Operand,
        c: Operand,
    ) -> Result<()>;
    unsafe fn trsm(
        call: &Call<'_>,
        how: Triangular,
        size: (i64, i64),
        alpha: *const c_void,
        a: Operand,
        b: Operand,
    ) -> Result<()>;
    unsafe fn geam(
        call: &Call<'_>,
        trans: (rocblas_operation, rocblas_operation),
        size: (i64, i64),
        alpha: *const c_void,
        a: Operand,
        beta: *const c_void,
        b: Operand,
        c: Operand,
    ) -> Result<()>;
    unsafe fn dgmm(
        call: &Call<'_>,
        side: rocblas_side,
        size: (i64, i64),
        a: Operand,
        x: Operand,
        c: Operand,
    ) -> Result<()>;
}

/// For complex numbers.
pub trait HermitianCalls {
    unsafe fn herk(
        call: &Call<'_>,
        how: (rocblas_fill, rocblas_operation),
        size: (i64, i64),
        alpha: *const c_void,
        a: Operand,
        beta: *const c_void,
        c: Operand,
    ) -> Result<()>;
}

macro_rules! gemm {
    ($T:ty; gemm $gemm:tt;) => {
        impl GemmCalls for $T {
            unsafe fn gemm(call: &Call<'_>, (ta, tb): (rocblas_operation, rocblas_operation), (m, n, k): (i64, i64, i64), alpha: *const c_void, a: Operand, b: Operand, beta: *const c_void, c: Operand) -> Result<()> {
                invoke!(call, $gemm, val(ta) val(tb) size(m) size(n) size(k) val(alpha.cast()) op(a) op(b) val(beta.cast()) op(c) count)
            }
        }
    };
}

macro_rules! level3 {
    ($T:ty; symm $symm:tt; syrk $syrk:tt; trmm $trmm:tt; trsm $trsm:tt; geam $geam:tt; dgmm $dgmm:tt;) => {
        impl Level3Calls for $T {
            unsafe fn symm(call: &Call<'_>, (side, uplo): (rocblas_side, rocblas_fill), (m, n): (i64, i64), alpha: *const c_void, a: Operand, b: Operand, beta: *const c_void, c: Operand) -> Result<()> {
                invoke!(call, $symm, val(side) val(uplo) size(m) size(n) val(alpha.cast()) op(a) op(b) val(beta.cast()) op(c) count)
            }

            unsafe fn syrk(call: &Call<'_>, (uplo, trans): (rocblas_fill, rocblas_operation), (n, k): (i64, i64), alpha: *const c_void, a: Operand, beta: *const c_void, c: Operand) -> Result<()> {
                invoke!(call, $syrk, val(uplo) val(trans) size(n) size(k) val(alpha.cast()) op(a) val(beta.cast()) op(c) count)
            }

            unsafe fn trmm(call: &Call<'_>, how: Triangular, (m, n): (i64, i64), alpha: *const c_void, a: Operand, b: Operand, c: Operand) -> Result<()> {
                invoke!(call, $trmm, val(how.side) val(how.uplo) val(how.trans) val(how.diag) size(m) size(n) val(alpha.cast()) op(a) op(b) op(c) count)
            }

            unsafe fn trsm(call: &Call<'_>, how: Triangular, (m, n): (i64, i64), alpha: *const c_void, a: Operand, b: Operand) -> Result<()> {
                invoke!(call, $trsm, val(how.side) val(how.uplo) val(how.trans) val(how.diag) size(m) size(n) val(alpha.cast()) op(a) op(b) count)
            }

            unsafe fn geam(call: &Call<'_>, (ta, tb): (rocblas_operation, rocblas_operation), (m, n): (i64, i64), alpha: *const c_void, a: Operand, beta: *const c_void, b: Operand, c: Operand) -> Result<()> {
                invoke!(call, $geam, val(ta) val(tb) size(m) size(n) val(alpha.cast()) op(a) val(beta.cast()) op(b) op(c) count)
            }

            unsafe fn dgmm(call: &Call<'_>, side: rocblas_side, (m, n): (i64, i64), a: Operand, x: Operand, c: Operand) -> Result<()> {
                invoke!(call, $dgmm, val(side) size(m) size(n) op(a) op(x) op(c) count)
            }
        }
    };
}

macro_rules! hermitian {
    ($T:ty; herk $herk:tt;) => {
        impl HermitianCalls for $T {
            unsafe fn herk(call: &Call<'_>, (uplo, trans): (rocblas_fill, rocblas_operation), (n, k): (i64, i64), alpha: *const c_void, a: Operand, beta: *const c_void, c: Operand) -> Result<()> {
                invoke!(call, $herk, val(uplo) val(trans) size(n) size(k) val(alpha.cast()) op(a) val(beta.cast()) op(c) count)
            }
        }
    };
}

gemm! { f32;
    gemm [rocblas_sgemm rocblas_sgemm_batched rocblas_sgemm_strided_batched
        rocblas_sgemm_64 rocblas_sgemm_batched_64 rocblas_sgemm_strided_batched_64];
}

gemm! { f64;
    gemm [rocblas_dgemm rocblas_dgemm_batched rocblas_dgemm_strided_batched
        rocblas_dgemm_64 rocblas_dgemm_batched_64 rocblas_dgemm_strided_batched_64];
}

gemm! { Complex32;
    gemm [rocblas_cgemm rocblas_cgemm_batched rocblas_cgemm_strided_batched
        rocblas_cgemm_64 rocblas_cgemm_batched_64 rocblas_cgemm_strided_batched_64];
}

gemm! { Complex64;
    gemm [rocblas_zgemm rocblas_zgemm_batched rocblas_zgemm_strided_batched
        rocblas_zgemm_64 rocblas_zgemm_batched_64 rocblas_zgemm_strided_batched_64];
}

level3! { f32;
    symm [rocblas_ssymm rocblas_ssymm_batched rocblas_ssymm_strided_batched
        rocblas_ssymm_64 rocblas_ssymm_batched_64 rocblas_ssymm_strided_batched_64];
    syrk [rocblas_ssyrk rocblas_ssyrk_batched rocblas_ssyrk_strided_batched
        rocblas_ssyrk_64 rocblas_ssyrk_batched_64 rocblas_ssyrk_strided_batched_64];
    trmm [rocblas_strmm rocblas_strmm_batched rocblas_strmm_strided_batched
        rocblas_strmm_64 rocblas_strmm_batched_64 rocblas_strmm_strided_batched_64];
    trsm [rocblas_strsm rocblas_strsm_batched rocblas_strsm_strided_batched
        rocblas_strsm_64 rocblas_strsm_batched_64 rocblas_strsm_strided_batched_64];
    geam [rocblas_sgeam rocblas_sgeam_batched rocblas_sgeam_strided_batched
        rocblas_sgeam_64 rocblas_sgeam_batched_64 rocblas_sgeam_strided_batched_64];
    dgmm [rocblas_sdgmm rocblas_sdgmm_batched rocblas_sdgmm_strided_batched
        rocblas_sdgmm_64 rocblas_sdgmm_batched_64 rocblas_sdgmm_strided_batched_64];
}

level3! { f64;
    symm [rocblas_dsymm rocblas_dsymm_batched rocblas_dsymm_strided_batched
        rocblas_dsymm_64 rocblas_dsymm_batched_64 rocblas_dsymm_strided_batched_64];
    syrk [rocblas_dsyrk rocblas_dsyrk_batched rocblas_dsyrk_strided_batched
        rocblas_dsyrk_64 rocblas_dsyrk_batched_64 rocblas_dsyrk_strided_batched_64];
    trmm [rocblas_dtrmm rocblas_dtrmm_batched rocblas_dtrmm_strided_batched
        rocblas_dtrmm_64 rocblas_dtrmm_batched_64 rocblas_dtrmm_strided_batched_64];
    trsm [rocblas_dtrsm rocblas_dtrsm_batched rocblas_dtrsm_strided_batched
        rocblas_dtrsm_64 rocblas_dtrsm_batched_64 rocblas_dtrsm_strided_batched_64];
    geam [rocblas_dgeam rocblas_dgeam_batched rocblas_dgeam_strided_batched
        rocblas_dgeam_64 rocblas_dgeam_batched_64 rocblas_dgeam_strided_batched_64];
    dgmm [rocblas_ddgmm rocblas_ddgmm_batched rocblas_ddgmm_strided_batched
        rocblas_ddgmm_64 rocblas_ddgmm_batched_64 rocblas_ddgmm_strided_batched_64];
}

level3! { Complex32;
    symm [rocblas_csymm rocblas_csymm_batched rocblas_csymm_strided_batched
        rocblas_csymm_64 rocblas_csymm_batched_64 rocblas_csymm_strided_batched_64];
    syrk [rocblas_csyrk rocblas_csyrk_batched rocblas_csyrk_strided_batched
        rocblas_csyrk_64 rocblas_csyrk_batched_64 rocblas_csyrk_strided_batched_64];
    trmm [rocblas_ctrmm rocblas_ctrmm_batched rocblas_ctrmm_strided_batched
        rocblas_ctrmm_64 rocblas_ctrmm_batched_64 rocblas_ctrmm_strided_batched_64];
    trsm [rocblas_ctrsm rocblas_ctrsm_batched rocblas_ctrsm_strided_batched
        rocblas_ctrsm_64 rocblas_ctrsm_batched_64 rocblas_ctrsm_strided_batched_64];
    geam [rocblas_cgeam rocblas_cgeam_batched rocblas_cgeam_strided_batched
        rocblas_cgeam_64 rocblas_cgeam_batched_64 rocblas_cgeam_strided_batched_64];
    dgmm [rocblas_cdgmm rocblas_cdgmm_batched rocblas_cdgmm_strided_batched
        rocblas_cdgmm_64 rocblas_cdgmm_batched_64 rocblas_cdgmm_strided_batched_64];
}

level3! { Complex64;
    symm [rocblas_zsymm rocblas_zsymm_batched rocblas_zsymm_strided_batched
        rocblas_zsymm_64 rocblas_zsymm_batched_64 rocblas_zsymm_strided_batched_64];
    syrk [rocblas_zsyrk rocblas_zsyrk_batched rocblas_zsyrk_strided_batched
        rocblas_zsyrk_64 rocblas_zsyrk_batched_64 rocblas_zsyrk_strided_batched_64];
    trmm [rocblas_ztrmm rocblas_ztrmm_batched rocblas_ztrmm_strided_batched
        rocblas_ztrmm_64 rocblas_ztrmm_batched_64 rocblas_ztrmm_strided_batched_64];
    trsm [rocblas_ztrsm rocblas_ztrsm_batched rocblas_ztrsm_strided_batched
        rocblas_ztrsm_64 rocblas_ztrsm_batched_64 rocblas_ztrsm_strided_batched_64];
    geam [rocblas_zgeam rocblas_zgeam_batched rocblas_zgeam_strided_batched
        rocblas_zgeam_64 rocblas_zgeam_batched_64 rocblas_zgeam_strided_batched_64];
    dgmm [rocblas_zdgmm rocblas_zdgmm_batched rocblas_zdgmm_strided_batched
        rocblas_zdgmm_64 rocblas_zdgmm_batched_64 rocblas_zdgmm_strided_batched_64];
}

hermitian! { Complex32;
    herk [rocblas_cherk rocblas_cherk_batched rocblas_cherk_strided_batched
        rocblas_cherk_64 rocblas_cherk_batched_64 rocblas_cherk_strided_batched_64];
}

hermitian! { Complex64;
    herk [rocblas_zherk rocblas_zherk_batched rocblas_zherk_strided_batched
        rocblas_zherk_64 rocblas_zherk_batched_64 rocblas_zherk_strided_batched_64];
}
