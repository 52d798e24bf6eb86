//! Level 1: vectors. The result of `iamax` and `iamin` is as wide as the sizes are: 32 bits if they all fit.

use super::call::{Call, Operand, Result, invoke};
use num_complex::{Complex32, Complex64};
use std::ffi::c_void;

/// For every element type.
pub trait ElementCalls {
    unsafe fn axpy(call: &Call<'_>, n: i64, alpha: *const c_void, x: Operand, y: Operand) -> Result<()>;
    unsafe fn dot(call: &Call<'_>, n: i64, x: Operand, y: Operand, result: *mut c_void) -> Result<()>;
    unsafe fn dotc(call: &Call<'_>, n: i64, x: Operand, y: Operand, result: *mut c_void) -> Result<()>;
    unsafe fn nrm2(call: &Call<'_>, n: i64, x: Operand, result: *mut c_void) -> Result<()>;
    unsafe fn scal(call: &Call<'_>, n: i64, alpha: *const c_void, x: Operand) -> Result<()>;
    unsafe fn rot(
        call: &Call<'_>,
        n: i64,
        x: Operand,
        y: Operand,
        c: *const c_void,
        s: *const c_void,
    ) -> Result<()>;
}

/// For the four types of BLAS.
pub trait Level1Calls {
    unsafe fn copy(call: &Call<'_>, n: i64, x: Operand, y: Operand) -> Result<()>;
    unsafe fn swap(call: &Call<'_>, n: i64, x: Operand, y: Operand) -> Result<()>;
    unsafe fn asum(call: &Call<'_>, n: i64, x: Operand, result: *mut c_void) -> Result<()>;
    unsafe fn iamax(call: &Call<'_>, n: i64, x: Operand, result: *mut c_void) -> Result<()>;
    unsafe fn iamin(call: &Call<'_>, n: i64, x: Operand, result: *mut c_void) -> Result<()>;
    unsafe fn rotg(call: &Call<'_>, a: Operand, b: Operand, c: Operand, s: Operand) -> Result<()>;
}

/// For complex numbers, with real factors.
pub trait ComplexCalls {
    unsafe fn scal_real(call: &Call<'_>, n: i64, alpha: *const c_void, x: Operand) -> Result<()>;
    unsafe fn rot_real(
        call: &Call<'_>,
        n: i64,
        x: Operand,
        y: Operand,
        c: *const c_void,
        s: *const c_void,
    ) -> Result<()>;
}

macro_rules! elements {
    ($T:ty; axpy $axpy:tt; dot $dot:tt; dotc $dotc:tt; nrm2 $nrm2:tt; scal $scal:tt; rot $rot:tt;) => {
        impl ElementCalls for $T {
            unsafe fn axpy(call: &Call<'_>, n: i64, alpha: *const c_void, x: Operand, y: Operand) -> Result<()> {
                invoke!(call, $axpy, size(n) val(alpha.cast()) op(x) op(y) count)
            }

            unsafe fn dot(call: &Call<'_>, n: i64, x: Operand, y: Operand, result: *mut c_void) -> Result<()> {
                invoke!(call, $dot, size(n) op(x) op(y) count val(result.cast()))
            }

            unsafe fn dotc(call: &Call<'_>, n: i64, x: Operand, y: Operand, result: *mut c_void) -> Result<()> {
                invoke!(call, $dotc, size(n) op(x) op(y) count val(result.cast()))
            }

            unsafe fn nrm2(call: &Call<'_>, n: i64, x: Operand, result: *mut c_void) -> Result<()> {
                invoke!(call, $nrm2, size(n) op(x) count val(result.cast()))
            }

            unsafe fn scal(call: &Call<'_>, n: i64, alpha: *const c_void, x: Operand) -> Result<()> {
                invoke!(call, $scal, size(n) val(alpha.cast()) op(x) count)
            }

            unsafe fn rot(call: &Call<'_>, n: i64, x: Operand, y: Operand, c: *const c_void, s: *const c_void) -> Result<()> {
                invoke!(call, $rot, size(n) op(x) op(y) val(c.cast()) val(s.cast()) count)
            }
        }
    };
}

macro_rules! level1 {
    ($T:ty; copy $copy:tt; swap $swap:tt; asum $asum:tt; iamax $iamax:tt; iamin $iamin:tt; rotg $rotg:tt;) => {
        impl Level1Calls for $T {
            unsafe fn copy(call: &Call<'_>, n: i64, x: Operand, y: Operand) -> Result<()> {
                invoke!(call, $copy, size(n) op(x) op(y) count)
            }

            unsafe fn swap(call: &Call<'_>, n: i64, x: Operand, y: Operand) -> Result<()> {
                invoke!(call, $swap, size(n) op(x) op(y) count)
            }

            unsafe fn asum(call: &Call<'_>, n: i64, x: Operand, result: *mut c_void) -> Result<()> {
                invoke!(call, $asum, size(n) op(x) count val(result.cast()))
            }

            unsafe fn iamax(call: &Call<'_>, n: i64, x: Operand, result: *mut c_void) -> Result<()> {
                invoke!(call, $iamax, size(n) op(x) count val(result.cast()))
            }

            unsafe fn iamin(call: &Call<'_>, n: i64, x: Operand, result: *mut c_void) -> Result<()> {
                invoke!(call, $iamin, size(n) op(x) count val(result.cast()))
            }

            unsafe fn rotg(call: &Call<'_>, a: Operand, b: Operand, c: Operand, s: Operand) -> Result<()> {
                invoke!(call, $rotg, ptr(a) ptr(b) ptr(c) ptr(s) count)
            }
        }
    };
}

macro_rules! complex {
    ($T:ty; scal_real $scal_real:tt; rot_real $rot_real:tt;) => {
        impl ComplexCalls for $T {
            unsafe fn scal_real(call: &Call<'_>, n: i64, alpha: *const c_void, x: Operand) -> Result<()> {
                invoke!(call, $scal_real, size(n) val(alpha.cast()) op(x) count)
            }

            unsafe fn rot_real(call: &Call<'_>, n: i64, x: Operand, y: Operand, c: *const c_void, s: *const c_void) -> Result<()> {
                invoke!(call, $rot_real, size(n) op(x) op(y) val(c.cast()) val(s.cast()) count)
            }
        }
    };
}

elements! { f32;
    axpy [rocblas_saxpy rocblas_saxpy_batched rocblas_saxpy_strided_batched
        rocblas_saxpy_64 rocblas_saxpy_batched_64 rocblas_saxpy_strided_batched_64];
    dot [rocblas_sdot rocblas_sdot_batched rocblas_sdot_strided_batched
        rocblas_sdot_64 rocblas_sdot_batched_64 rocblas_sdot_strided_batched_64];
    dotc [rocblas_sdot rocblas_sdot_batched rocblas_sdot_strided_batched
        rocblas_sdot_64 rocblas_sdot_batched_64 rocblas_sdot_strided_batched_64];
    nrm2 [rocblas_snrm2 rocblas_snrm2_batched rocblas_snrm2_strided_batched
        rocblas_snrm2_64 rocblas_snrm2_batched_64 rocblas_snrm2_strided_batched_64];
    scal [rocblas_sscal rocblas_sscal_batched rocblas_sscal_strided_batched
        rocblas_sscal_64 rocblas_sscal_batched_64 rocblas_sscal_strided_batched_64];
    rot [rocblas_srot rocblas_srot_batched rocblas_srot_strided_batched
        rocblas_srot_64 rocblas_srot_batched_64 rocblas_srot_strided_batched_64];
}

elements! { f64;
    axpy [rocblas_daxpy rocblas_daxpy_batched rocblas_daxpy_strided_batched
        rocblas_daxpy_64 rocblas_daxpy_batched_64 rocblas_daxpy_strided_batched_64];
    dot [rocblas_ddot rocblas_ddot_batched rocblas_ddot_strided_batched
        rocblas_ddot_64 rocblas_ddot_batched_64 rocblas_ddot_strided_batched_64];
    dotc [rocblas_ddot rocblas_ddot_batched rocblas_ddot_strided_batched
        rocblas_ddot_64 rocblas_ddot_batched_64 rocblas_ddot_strided_batched_64];
    nrm2 [rocblas_dnrm2 rocblas_dnrm2_batched rocblas_dnrm2_strided_batched
        rocblas_dnrm2_64 rocblas_dnrm2_batched_64 rocblas_dnrm2_strided_batched_64];
    scal [rocblas_dscal rocblas_dscal_batched rocblas_dscal_strided_batched
        rocblas_dscal_64 rocblas_dscal_batched_64 rocblas_dscal_strided_batched_64];
    rot [rocblas_drot rocblas_drot_batched rocblas_drot_strided_batched
        rocblas_drot_64 rocblas_drot_batched_64 rocblas_drot_strided_batched_64];
}

elements! { Complex32;
    axpy [rocblas_caxpy rocblas_caxpy_batched rocblas_caxpy_strided_batched
        rocblas_caxpy_64 rocblas_caxpy_batched_64 rocblas_caxpy_strided_batched_64];
    dot [rocblas_cdotu rocblas_cdotu_batched rocblas_cdotu_strided_batched
        rocblas_cdotu_64 rocblas_cdotu_batched_64 rocblas_cdotu_strided_batched_64];
    dotc [rocblas_cdotc rocblas_cdotc_batched rocblas_cdotc_strided_batched
        rocblas_cdotc_64 rocblas_cdotc_batched_64 rocblas_cdotc_strided_batched_64];
    nrm2 [rocblas_scnrm2 rocblas_scnrm2_batched rocblas_scnrm2_strided_batched
        rocblas_scnrm2_64 rocblas_scnrm2_batched_64 rocblas_scnrm2_strided_batched_64];
    scal [rocblas_cscal rocblas_cscal_batched rocblas_cscal_strided_batched
        rocblas_cscal_64 rocblas_cscal_batched_64 rocblas_cscal_strided_batched_64];
    rot [rocblas_crot rocblas_crot_batched rocblas_crot_strided_batched
        rocblas_crot_64 rocblas_crot_batched_64 rocblas_crot_strided_batched_64];
}

elements! { Complex64;
    axpy [rocblas_zaxpy rocblas_zaxpy_batched rocblas_zaxpy_strided_batched
        rocblas_zaxpy_64 rocblas_zaxpy_batched_64 rocblas_zaxpy_strided_batched_64];
    dot [rocblas_zdotu rocblas_zdotu_batched rocblas_zdotu_strided_batched
        rocblas_zdotu_64 rocblas_zdotu_batched_64 rocblas_zdotu_strided_batched_64];
    dotc [rocblas_zdotc rocblas_zdotc_batched rocblas_zdotc_strided_batched
        rocblas_zdotc_64 rocblas_zdotc_batched_64 rocblas_zdotc_strided_batched_64];
    nrm2 [rocblas_dznrm2 rocblas_dznrm2_batched rocblas_dznrm2_strided_batched
        rocblas_dznrm2_64 rocblas_dznrm2_batched_64 rocblas_dznrm2_strided_batched_64];
    scal [rocblas_zscal rocblas_zscal_batched rocblas_zscal_strided_batched
        rocblas_zscal_64 rocblas_zscal_batched_64 rocblas_zscal_strided_batched_64];
    rot [rocblas_zrot rocblas_zrot_batched rocblas_zrot_strided_batched
        rocblas_zrot_64 rocblas_zrot_batched_64 rocblas_zrot_strided_batched_64];
}

level1! { f32;
    copy [rocblas_scopy rocblas_scopy_batched rocblas_scopy_strided_batched
        rocblas_scopy_64 rocblas_scopy_batched_64 rocblas_scopy_strided_batched_64];
    swap [rocblas_sswap rocblas_sswap_batched rocblas_sswap_strided_batched
        rocblas_sswap_64 rocblas_sswap_batched_64 rocblas_sswap_strided_batched_64];
    asum [rocblas_sasum rocblas_sasum_batched rocblas_sasum_strided_batched
        rocblas_sasum_64 rocblas_sasum_batched_64 rocblas_sasum_strided_batched_64];
    iamax [rocblas_isamax rocblas_isamax_batched rocblas_isamax_strided_batched
        rocblas_isamax_64 rocblas_isamax_batched_64 rocblas_isamax_strided_batched_64];
    iamin [rocblas_isamin rocblas_isamin_batched rocblas_isamin_strided_batched
        rocblas_isamin_64 rocblas_isamin_batched_64 rocblas_isamin_strided_batched_64];
    rotg [rocblas_srotg rocblas_srotg_batched rocblas_srotg_strided_batched
        rocblas_srotg_64 rocblas_srotg_batched_64 rocblas_srotg_strided_batched_64];
}

level1! { f64;
    copy [rocblas_dcopy rocblas_dcopy_batched rocblas_dcopy_strided_batched
        rocblas_dcopy_64 rocblas_dcopy_batched_64 rocblas_dcopy_strided_batched_64];
    swap [rocblas_dswap rocblas_dswap_batched rocblas_dswap_strided_batched
        rocblas_dswap_64 rocblas_dswap_batched_64 rocblas_dswap_strided_batched_64];
    asum [rocblas_dasum rocblas_dasum_batched rocblas_dasum_strided_batched
        rocblas_dasum_64 rocblas_dasum_batched_64 rocblas_dasum_strided_batched_64];
    iamax [rocblas_idamax rocblas_idamax_batched rocblas_idamax_strided_batched
        rocblas_idamax_64 rocblas_idamax_batched_64 rocblas_idamax_strided_batched_64];
    iamin [rocblas_idamin rocblas_idamin_batched rocblas_idamin_strided_batched
        rocblas_idamin_64 rocblas_idamin_batched_64 rocblas_idamin_strided_batched_64];
    rotg [rocblas_drotg rocblas_drotg_batched rocblas_drotg_strided_batched
        rocblas_drotg_64 rocblas_drotg_batched_64 rocblas_drotg_strided_batched_64];
}

level1! { Complex32;
    copy [rocblas_ccopy rocblas_ccopy_batched rocblas_ccopy_strided_batched
        rocblas_ccopy_64 rocblas_ccopy_batched_64 rocblas_ccopy_strided_batched_64];
    swap [rocblas_cswap rocblas_cswap_batched rocblas_cswap_strided_batched
        rocblas_cswap_64 rocblas_cswap_batched_64 rocblas_cswap_strided_batched_64];
    asum [rocblas_scasum rocblas_scasum_batched rocblas_scasum_strided_batched
        rocblas_scasum_64 rocblas_scasum_batched_64 rocblas_scasum_strided_batched_64];
    iamax [rocblas_icamax rocblas_icamax_batched rocblas_icamax_strided_batched
        rocblas_icamax_64 rocblas_icamax_batched_64 rocblas_icamax_strided_batched_64];
    iamin [rocblas_icamin rocblas_icamin_batched rocblas_icamin_strided_batched
        rocblas_icamin_64 rocblas_icamin_batched_64 rocblas_icamin_strided_batched_64];
    rotg [rocblas_crotg rocblas_crotg_batched rocblas_crotg_strided_batched
        rocblas_crotg_64 rocblas_crotg_batched_64 rocblas_crotg_strided_batched_64];
}

level1! { Complex64;
    copy [rocblas_zcopy rocblas_zcopy_batched rocblas_zcopy_strided_batched
        rocblas_zcopy_64 rocblas_zcopy_batched_64 rocblas_zcopy_strided_batched_64];
    swap [rocblas_zswap rocblas_zswap_batched rocblas_zswap_strided_batched
        rocblas_zswap_64 rocblas_zswap_batched_64 rocblas_zswap_strided_batched_64];
    asum [rocblas_dzasum rocblas_dzasum_batched rocblas_dzasum_strided_batched
        rocblas_dzasum_64 rocblas_dzasum_batched_64 rocblas_dzasum_strided_batched_64];
    iamax [rocblas_izamax rocblas_izamax_batched rocblas_izamax_strided_batched
        rocblas_izamax_64 rocblas_izamax_batched_64 rocblas_izamax_strided_batched_64];
    iamin [rocblas_izamin rocblas_izamin_batched rocblas_izamin_strided_batched
        rocblas_izamin_64 rocblas_izamin_batched_64 rocblas_izamin_strided_batched_64];
    rotg [rocblas_zrotg rocblas_zrotg_batched rocblas_zrotg_strided_batched
        rocblas_zrotg_64 rocblas_zrotg_batched_64 rocblas_zrotg_strided_batched_64];
}

complex! { Complex32;
    scal_real [rocblas_csscal rocblas_csscal_batched rocblas_csscal_strided_batched
        rocblas_csscal_64 rocblas_csscal_batched_64 rocblas_csscal_strided_batched_64];
    rot_real [rocblas_csrot rocblas_csrot_batched rocblas_csrot_strided_batched
        rocblas_csrot_64 rocblas_csrot_batched_64 rocblas_csrot_strided_batched_64];
}

complex! { Complex64;
    scal_real [rocblas_zdscal rocblas_zdscal_batched rocblas_zdscal_strided_batched
        rocblas_zdscal_64 rocblas_zdscal_batched_64 rocblas_zdscal_strided_batched_64];
    rot_real [rocblas_zdrot rocblas_zdrot_batched rocblas_zdrot_strided_batched
        rocblas_zdrot_64 rocblas_zdrot_batched_64 rocblas_zdrot_strided_batched_64];
}
