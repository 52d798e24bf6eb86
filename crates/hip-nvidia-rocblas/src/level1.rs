//! Level 1: operations on vectors.

use super::adapt::adapt;
use super::check::{At, Int, Outcome, Scalar, done_if, there};
use super::convert::Pass;
use super::functions::{Amax, Amin, Asum, Axpy, CopyTo, Cublas, Dot, Dotc, Nrm2, Rot, Scal, Swap};
use super::handle::{Handle, done, with};
use super::held::{Hold, aligned, in_place};
use super::library::cublas;
use super::table::put;
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_double_complex as C64, rocblas_float_complex as C32};
use hip_sys::rocblas::{rocblas_handle, rocblas_status, rocblas_stride};
use std::ffi::c_void;

#[rustfmt::skip]
pub(super) fn fill(table: &mut RocblasTable) {
    put! { table;
        axpy axpy_strided<f32>: rocblas_saxpy rocblas_saxpy_64, rocblas_saxpy_strided_batched rocblas_saxpy_strided_batched_64;
        axpy axpy_strided<f64>: rocblas_daxpy rocblas_daxpy_64, rocblas_daxpy_strided_batched rocblas_daxpy_strided_batched_64;
        axpy axpy_strided<C32>: rocblas_caxpy rocblas_caxpy_64, rocblas_caxpy_strided_batched rocblas_caxpy_strided_batched_64;
        axpy axpy_strided<C64>: rocblas_zaxpy rocblas_zaxpy_64, rocblas_zaxpy_strided_batched rocblas_zaxpy_strided_batched_64;
        scal scal_strided<f32, f32>: rocblas_sscal rocblas_sscal_64, rocblas_sscal_strided_batched rocblas_sscal_strided_batched_64;
        scal scal_strided<f64, f64>: rocblas_dscal rocblas_dscal_64, rocblas_dscal_strided_batched rocblas_dscal_strided_batched_64;
        scal scal_strided<C32, C32>: rocblas_cscal rocblas_cscal_64, rocblas_cscal_strided_batched rocblas_cscal_strided_batched_64;
        scal scal_strided<C64, C64>: rocblas_zscal rocblas_zscal_64, rocblas_zscal_strided_batched rocblas_zscal_strided_batched_64;
        scal scal_strided<f32, C32>: rocblas_csscal rocblas_csscal_64, rocblas_csscal_strided_batched rocblas_csscal_strided_batched_64;
        scal scal_strided<f64, C64>: rocblas_zdscal rocblas_zdscal_64, rocblas_zdscal_strided_batched rocblas_zdscal_strided_batched_64;
        copy copy_strided<f32>: rocblas_scopy rocblas_scopy_64, rocblas_scopy_strided_batched rocblas_scopy_strided_batched_64;
        copy copy_strided<f64>: rocblas_dcopy rocblas_dcopy_64, rocblas_dcopy_strided_batched rocblas_dcopy_strided_batched_64;
        copy copy_strided<C32>: rocblas_ccopy rocblas_ccopy_64, rocblas_ccopy_strided_batched rocblas_ccopy_strided_batched_64;
        copy copy_strided<C64>: rocblas_zcopy rocblas_zcopy_64, rocblas_zcopy_strided_batched rocblas_zcopy_strided_batched_64;
        swap swap_strided<f32>: rocblas_sswap rocblas_sswap_64, rocblas_sswap_strided_batched rocblas_sswap_strided_batched_64;
        swap swap_strided<f64>: rocblas_dswap rocblas_dswap_64, rocblas_dswap_strided_batched rocblas_dswap_strided_batched_64;
        swap swap_strided<C32>: rocblas_cswap rocblas_cswap_64, rocblas_cswap_strided_batched rocblas_cswap_strided_batched_64;
        swap swap_strided<C64>: rocblas_zswap rocblas_zswap_64, rocblas_zswap_strided_batched rocblas_zswap_strided_batched_64;
        dot dot_strided<f32>: rocblas_sdot rocblas_sdot_64, rocblas_sdot_strided_batched rocblas_sdot_strided_batched_64;
        dot dot_strided<f64>: rocblas_ddot rocblas_ddot_64, rocblas_ddot_strided_batched rocblas_ddot_strided_batched_64;
        dot dot_strided<C32>: rocblas_cdotu rocblas_cdotu_64, rocblas_cdotu_strided_batched rocblas_cdotu_strided_batched_64;
        dot dot_strided<C64>: rocblas_zdotu rocblas_zdotu_64, rocblas_zdotu_strided_batched rocblas_zdotu_strided_batched_64;
        dotc dotc_strided<C32>: rocblas_cdotc rocblas_cdotc_64, rocblas_cdotc_strided_batched rocblas_cdotc_strided_batched_64;
        dotc dotc_strided<C64>: rocblas_zdotc rocblas_zdotc_64, rocblas_zdotc_strided_batched rocblas_zdotc_strided_batched_64;
        nrm2 nrm2_strided<f32, f32>: rocblas_snrm2 rocblas_snrm2_64, rocblas_snrm2_strided_batched rocblas_snrm2_strided_batched_64;
        nrm2 nrm2_strided<f64, f64>: rocblas_dnrm2 rocblas_dnrm2_64, rocblas_dnrm2_strided_batched rocblas_dnrm2_strided_batched_64;
        nrm2 nrm2_strided<C32, f32>: rocblas_scnrm2 rocblas_scnrm2_64, rocblas_scnrm2_strided_batched rocblas_scnrm2_strided_batched_64;
        nrm2 nrm2_strided<C64, f64>: rocblas_dznrm2 rocblas_dznrm2_64, rocblas_dznrm2_strided_batched rocblas_dznrm2_strided_batched_64;
        asum asum_strided<f32, f32>: rocblas_sasum rocblas_sasum_64, rocblas_sasum_strided_batched rocblas_sasum_strided_batched_64;
        asum asum_strided<f64, f64>: rocblas_dasum rocblas_dasum_64, rocblas_dasum_strided_batched rocblas_dasum_strided_batched_64;
        asum asum_strided<C32, f32>: rocblas_scasum rocblas_scasum_64, rocblas_scasum_strided_batched rocblas_scasum_strided_batched_64;
        asum asum_strided<C64, f64>: rocblas_dzasum rocblas_dzasum_64, rocblas_dzasum_strided_batched rocblas_dzasum_strided_batched_64;
        amax amax_strided<f32>: rocblas_isamax rocblas_isamax_64, rocblas_isamax_strided_batched rocblas_isamax_strided_batched_64;
        amax amax_strided<f64>: rocblas_idamax rocblas_idamax_64, rocblas_idamax_strided_batched rocblas_idamax_strided_batched_64;
        amax amax_strided<C32>: rocblas_icamax rocblas_icamax_64, rocblas_icamax_strided_batched rocblas_icamax_strided_batched_64;
        amax amax_strided<C64>: rocblas_izamax rocblas_izamax_64, rocblas_izamax_strided_batched rocblas_izamax_strided_batched_64;
        amin amin_strided<f32>: rocblas_isamin rocblas_isamin_64, rocblas_isamin_strided_batched rocblas_isamin_strided_batched_64;
        amin amin_strided<f64>: rocblas_idamin rocblas_idamin_64, rocblas_idamin_strided_batched rocblas_idamin_strided_batched_64;
        amin amin_strided<C32>: rocblas_icamin rocblas_icamin_64, rocblas_icamin_strided_batched rocblas_icamin_strided_batched_64;
        amin amin_strided<C64>: rocblas_izamin rocblas_izamin_64, rocblas_izamin_strided_batched rocblas_izamin_strided_batched_64;
        rot rot_strided<f32, f32, f32>: rocblas_srot rocblas_srot_64, rocblas_srot_strided_batched rocblas_srot_strided_batched_64;
        rot rot_strided<f64, f64, f64>: rocblas_drot rocblas_drot_64, rocblas_drot_strided_batched rocblas_drot_strided_batched_64;
        rot rot_strided<C32, f32, C32>: rocblas_crot rocblas_crot_64, rocblas_crot_strided_batched rocblas_crot_strided_batched_64;
        rot rot_strided<C64, f64, C64>: rocblas_zrot rocblas_zrot_64, rocblas_zrot_strided_batched rocblas_zrot_strided_batched_64;
        rot rot_strided<C32, f32, f32>: rocblas_csrot rocblas_csrot_64, rocblas_csrot_strided_batched rocblas_csrot_strided_batched_64;
        rot rot_strided<C64, f64, f64>: rocblas_zdrot rocblas_zdrot_64, rocblas_zdrot_strided_batched rocblas_zdrot_strided_batched_64;
    }
}

/// Reductions. For empty vectors the results are zero.
///
/// # Safety
/// There is room for so many results.
unsafe fn reduction<I: Int, R>(handle: &Handle, elements: bool, count: I, results: *mut R) -> Outcome {
    // SAFETY: S11: as promised above.
    unsafe { reduction_of(handle, elements, count, results.cast(), size_of::<R>()) }
}

/// The same for results of so many bytes each.
///
/// # Safety
/// As above.
pub(super) unsafe fn reduction_of<I: Int>(
    handle: &Handle,
    elements: bool,
    count: I,
    results: *mut c_void,
    bytes: usize,
) -> Outcome {
    if count.long() > 0 {
        there(results)?;
    }
    if !elements {
        let bytes = usize::try_from(count.long()).unwrap_or(0).saturating_mul(bytes);
        // SAFETY: S11: as promised above.
        unsafe { handle.zero(results, bytes) }?;
    }
    done_if(!elements || count.long() <= 0)
}

adapt! {
    /// `y += alpha x`
    axpy, axpy_strided<I, T> = Axpy.axpy |handle, count|
    (n: I, alpha: *const T, x: *const T [incx, stride_x], y: *mut T [incy, stride_y]) {
        done_if(n <= I::of(0) || count <= I::of(0))?;
        there(alpha)?;
        done_if(handle.is(alpha, 0))?;
        there(x)?;
        there(y)?;
    }

    /// `x *= alpha`
    scal, scal_strided<I, S, T> = Scal.scal |handle, count| (n: I, alpha: *const S, x: *mut T [incx, stride_x]) {
        done_if(n <= I::of(0) || incx <= I::of(0) || count <= I::of(0))?;
        there(alpha)?;
        there(x)?;
    }

    /// `y = x`
    copy, copy_strided<I, T> = CopyTo.copy_to |handle, count|
    (n: I, x: *const T [incx, stride_x], y: *mut T [incy, stride_y]) {
        done_if(n <= I::of(0) || count <= I::of(0))?;
        there(x)?;
        there(y)?;
    }

    /// `x` and `y` are exchanged.
    swap, swap_strided<I, T> = Swap.swap |handle, count|
    (n: I, x: *mut T [incx, stride_x], y: *mut T [incy, stride_y]) {
        done_if(n <= I::of(0) || count <= I::of(0))?;
        there(x)?;
        there(y)?;
    }

    /// The sum of `x y`
    dot, dot_strided<I, T> = Dot.dot |handle, count|
    (n: I, x: *const T [incx, stride_x], y: *const T [incy, stride_y]; result: T) {
        reduction(handle, n > I::of(0), count, result)?;
        there(x)?;
        there(y)?;
    }

    /// The sum of `conj(x) y`
    dotc, dotc_strided<I, T> = Dotc.dotc |handle, count|
    (n: I, x: *const T [incx, stride_x], y: *const T [incy, stride_y]; result: T) {
        reduction(handle, n > I::of(0), count, result)?;
        there(x)?;
        there(y)?;
    }

    /// The Euclidean norm
    nrm2, nrm2_strided<I, T, R> = Nrm2.nrm2 |handle, count| (n: I, x: *const T [incx, stride_x]; result: R) {
        reduction(handle, n > I::of(0) && incx > I::of(0), count, result)?;
        there(x)?;
    }

    /// The sum of the magnitudes
    asum, asum_strided<I, T, R> = Asum.asum |handle, count| (n: I, x: *const T [incx, stride_x]; result: R) {
        reduction(handle, n > I::of(0) && incx > I::of(0), count, result)?;
        there(x)?;
    }

    /// The index of the greatest magnitude, from 1
    amax, amax_strided<I, T> = Amax.amax |handle, count| (n: I, x: *const T [incx, stride_x]; result: I) {
        reduction(handle, n > I::of(0) && incx > I::of(0), count, result)?;
        there(x)?;
    }

    /// The index of the least magnitude, from 1
    amin, amin_strided<I, T> = Amin.amin |handle, count| (n: I, x: *const T [incx, stride_x]; result: I) {
        reduction(handle, n > I::of(0) && incx > I::of(0), count, result)?;
        there(x)?;
    }

    /// A rotation in the plane
    rot, rot_strided<I, T, C, S> = Rot.rot |handle, count|
    (n: I, x: *mut T [incx, stride_x], y: *mut T [incy, stride_y], c: *const C, s: *const S) {
        done_if(n <= I::of(0) || count <= I::of(0))?;
        there(x)?;
        there(y)?;
        there(c)?;
        there(s)?;
    }
}
