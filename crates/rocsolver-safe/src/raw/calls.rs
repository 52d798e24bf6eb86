//! The functions of each type.

use super::{Call, Operand, Result, invoke};
use hip_sys::rocblas::{rocblas_fill, rocblas_operation, rocblas_side};
use hip_sys::rocsolver::{rocblas_eform, rocblas_evect, rocblas_svect, rocblas_workmode};
use num_complex::{Complex32, Complex64};

/// LAPACK's operations on one type, with C's arguments. `orgqr` and `ormqr` have no batches.
///
/// # Safety
/// Each function asks what the C function of its name asks.
#[allow(clippy::missing_safety_doc, reason = "C's contract, as said above")]
pub trait Calls: Sized {
    unsafe fn getrf(call: &Call<'_>, m: i32, n: i32, a: Operand, ipiv: Operand, info: *mut i32) -> Result;
    unsafe fn getrs(
        call: &Call<'_>,
        trans: rocblas_operation,
        n: i32,
        nrhs: i32,
        a: Operand,
        ipiv: Operand,
        b: Operand,
    ) -> Result;
    unsafe fn getri(call: &Call<'_>, n: i32, a: Operand, ipiv: Operand, info: *mut i32) -> Result;
    unsafe fn potrf(call: &Call<'_>, uplo: rocblas_fill, n: i32, a: Operand, info: *mut i32) -> Result;
    unsafe fn potrs(call: &Call<'_>, uplo: rocblas_fill, n: i32, nrhs: i32, a: Operand, b: Operand)
    -> Result;
    unsafe fn posv(
        call: &Call<'_>,
        uplo: rocblas_fill,
        n: i32,
        nrhs: i32,
        a: Operand,
        b: Operand,
        info: *mut i32,
    ) -> Result;
    unsafe fn geqrf(call: &Call<'_>, m: i32, n: i32, a: Operand, tau: Operand) -> Result;
    unsafe fn gels(
        call: &Call<'_>,
        trans: rocblas_operation,
        m: i32,
        n: i32,
        nrhs: i32,
        a: Operand,
        b: Operand,
        info: *mut i32,
    ) -> Result;
    unsafe fn gesvd(
        call: &Call<'_>,
        left: rocblas_svect,
        right: rocblas_svect,
        m: i32,
        n: i32,
        a: Operand,
        s: Operand,
        u: Operand,
        v: Operand,
        e: Operand,
        info: *mut i32,
    ) -> Result;
    unsafe fn syevd(
        call: &Call<'_>,
        evect: rocblas_evect,
        uplo: rocblas_fill,
        n: i32,
        a: Operand,
        d: Operand,
        e: Operand,
        info: *mut i32,
    ) -> Result;
    unsafe fn sygvd(
        call: &Call<'_>,
        itype: rocblas_eform,
        evect: rocblas_evect,
        uplo: rocblas_fill,
        n: i32,
        a: Operand,
        b: Operand,
        d: Operand,
        e: Operand,
        info: *mut i32,
    ) -> Result;
    unsafe fn orgqr(call: &Call<'_>, m: i32, n: i32, k: i32, a: Operand, tau: Operand) -> Result;
    unsafe fn ormqr(
        call: &Call<'_>,
        side: rocblas_side,
        trans: rocblas_operation,
        m: i32,
        n: i32,
        k: i32,
        a: Operand,
        tau: Operand,
        c: Operand,
    ) -> Result;
}

/// Implements the trait by the names of C's functions, in its order.
macro_rules! calls {
    ($($T:ty {$getrf:ident $getrf_strided:ident $getrs:ident $getrs_strided:ident $getri:ident $getri_strided:ident $potrf:ident $potrf_strided:ident $potrs:ident $potrs_strided:ident $posv:ident $posv_strided:ident $geqrf:ident $geqrf_strided:ident $gels:ident $gels_strided:ident $gesvd:ident $gesvd_strided:ident $syevd:ident $syevd_strided:ident $sygvd:ident $sygvd_strided:ident $orgqr:ident $ormqr:ident})*) => {$(
        impl Calls for $T {
            unsafe fn getrf(call: &Call<'_>, m: i32, n: i32, a: Operand, ipiv: Operand, info: *mut i32) -> Result {
                invoke!(call, $getrf $getrf_strided, val(m) val(n) mat(a) vec(ipiv) val(info) count)
            }
            unsafe fn getrs(call: &Call<'_>, trans: rocblas_operation, n: i32, nrhs: i32, a: Operand, ipiv: Operand, b: Operand) -> Result {
                invoke!(call, $getrs $getrs_strided, val(trans) val(n) val(nrhs) mat(a) vec(ipiv) mat(b) count)
            }
            unsafe fn getri(call: &Call<'_>, n: i32, a: Operand, ipiv: Operand, info: *mut i32) -> Result {
                invoke!(call, $getri $getri_strided, val(n) mat(a) vec(ipiv) val(info) count)
            }
            unsafe fn potrf(call: &Call<'_>, uplo: rocblas_fill, n: i32, a: Operand, info: *mut i32) -> Result {
                invoke!(call, $potrf $potrf_strided, val(uplo) val(n) mat(a) val(info) count)
            }
            unsafe fn potrs(call: &Call<'_>, uplo: rocblas_fill, n: i32, nrhs: i32, a: Operand, b: Operand) -> Result {
                invoke!(call, $potrs $potrs_strided, val(uplo) val(n) val(nrhs) mat(a) mat(b) count)
            }
            unsafe fn posv(call: &Call<'_>, uplo: rocblas_fill, n: i32, nrhs: i32, a: Operand, b: Operand, info: *mut i32) -> Result {
                invoke!(call, $posv $posv_strided, val(uplo) val(n) val(nrhs) mat(a) mat(b) val(info) count)
            }
            unsafe fn geqrf(call: &Call<'_>, m: i32, n: i32, a: Operand, tau: Operand) -> Result {
                invoke!(call, $geqrf $geqrf_strided, val(m) val(n) mat(a) vec(tau) count)
            }
            unsafe fn gels(call: &Call<'_>, trans: rocblas_operation, m: i32, n: i32, nrhs: i32, a: Operand, b: Operand, info: *mut i32) -> Result {
                invoke!(call, $gels $gels_strided, val(trans) val(m) val(n) val(nrhs) mat(a) mat(b) val(info) count)
            }
            unsafe fn gesvd(call: &Call<'_>, left: rocblas_svect, right: rocblas_svect, m: i32, n: i32, a: Operand, s: Operand, u: Operand, v: Operand, e: Operand, info: *mut i32) -> Result {
                invoke!(call, $gesvd $gesvd_strided, val(left) val(right) val(m) val(n) mat(a) vec(s) mat(u) mat(v) vec(e) val(rocblas_workmode::rocblas_outofplace) val(info) count)
            }
            unsafe fn syevd(call: &Call<'_>, evect: rocblas_evect, uplo: rocblas_fill, n: i32, a: Operand, d: Operand, e: Operand, info: *mut i32) -> Result {
                invoke!(call, $syevd $syevd_strided, val(evect) val(uplo) val(n) mat(a) vec(d) vec(e) val(info) count)
            }
            unsafe fn sygvd(call: &Call<'_>, itype: rocblas_eform, evect: rocblas_evect, uplo: rocblas_fill, n: i32, a: Operand, b: Operand, d: Operand, e: Operand, info: *mut i32) -> Result {
                invoke!(call, $sygvd $sygvd_strided, val(itype) val(evect) val(uplo) val(n) mat(a) mat(b) vec(d) vec(e) val(info) count)
            }
            unsafe fn orgqr(call: &Call<'_>, m: i32, n: i32, k: i32, a: Operand, tau: Operand) -> Result {
                invoke!(@plain call, $orgqr, [] val(m) val(n) val(k) mat(a) vec(tau))
            }
            unsafe fn ormqr(call: &Call<'_>, side: rocblas_side, trans: rocblas_operation, m: i32, n: i32, k: i32, a: Operand, tau: Operand, c: Operand) -> Result {
                invoke!(@plain call, $ormqr, [] val(side) val(trans) val(m) val(n) val(k) mat(a) vec(tau) mat(c))
            }
        }
    )*};
}

calls! {
    f32 {
        rocsolver_sgetrf rocsolver_sgetrf_strided_batched
        rocsolver_sgetrs rocsolver_sgetrs_strided_batched
        rocsolver_sgetri rocsolver_sgetri_strided_batched
        rocsolver_spotrf rocsolver_spotrf_strided_batched
        rocsolver_spotrs rocsolver_spotrs_strided_batched
        rocsolver_sposv rocsolver_sposv_strided_batched
        rocsolver_sgeqrf rocsolver_sgeqrf_strided_batched
        rocsolver_sgels rocsolver_sgels_strided_batched
        rocsolver_sgesvd rocsolver_sgesvd_strided_batched
        rocsolver_ssyevd rocsolver_ssyevd_strided_batched
        rocsolver_ssygvd rocsolver_ssygvd_strided_batched
        rocsolver_sorgqr
        rocsolver_sormqr
    }
    f64 {
        rocsolver_dgetrf rocsolver_dgetrf_strided_batched
        rocsolver_dgetrs rocsolver_dgetrs_strided_batched
        rocsolver_dgetri rocsolver_dgetri_strided_batched
        rocsolver_dpotrf rocsolver_dpotrf_strided_batched
        rocsolver_dpotrs rocsolver_dpotrs_strided_batched
        rocsolver_dposv rocsolver_dposv_strided_batched
        rocsolver_dgeqrf rocsolver_dgeqrf_strided_batched
        rocsolver_dgels rocsolver_dgels_strided_batched
        rocsolver_dgesvd rocsolver_dgesvd_strided_batched
        rocsolver_dsyevd rocsolver_dsyevd_strided_batched
        rocsolver_dsygvd rocsolver_dsygvd_strided_batched
        rocsolver_dorgqr
        rocsolver_dormqr
    }
    Complex32 {
        rocsolver_cgetrf rocsolver_cgetrf_strided_batched
        rocsolver_cgetrs rocsolver_cgetrs_strided_batched
        rocsolver_cgetri rocsolver_cgetri_strided_batched
        rocsolver_cpotrf rocsolver_cpotrf_strided_batched
        rocsolver_cpotrs rocsolver_cpotrs_strided_batched
        rocsolver_cposv rocsolver_cposv_strided_batched
        rocsolver_cgeqrf rocsolver_cgeqrf_strided_batched
        rocsolver_cgels rocsolver_cgels_strided_batched
        rocsolver_cgesvd rocsolver_cgesvd_strided_batched
        rocsolver_cheevd rocsolver_cheevd_strided_batched
        rocsolver_chegvd rocsolver_chegvd_strided_batched
        rocsolver_cungqr
        rocsolver_cunmqr
    }
    Complex64 {
        rocsolver_zgetrf rocsolver_zgetrf_strided_batched
        rocsolver_zgetrs rocsolver_zgetrs_strided_batched
        rocsolver_zgetri rocsolver_zgetri_strided_batched
        rocsolver_zpotrf rocsolver_zpotrf_strided_batched
        rocsolver_zpotrs rocsolver_zpotrs_strided_batched
        rocsolver_zposv rocsolver_zposv_strided_batched
        rocsolver_zgeqrf rocsolver_zgeqrf_strided_batched
        rocsolver_zgels rocsolver_zgels_strided_batched
        rocsolver_zgesvd rocsolver_zgesvd_strided_batched
        rocsolver_zheevd rocsolver_zheevd_strided_batched
        rocsolver_zhegvd rocsolver_zhegvd_strided_batched
        rocsolver_zungqr
        rocsolver_zunmqr
    }
}
