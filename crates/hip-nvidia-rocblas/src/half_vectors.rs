//! Level 1 of 16-bit elements, by cuBLAS's functions with types as arguments, which compute in 32 bits.

use super::check::Int;
use super::ex::{axpy_ex, axpy_strided_ex, dot_ex, dot_strided_ex};
use super::functions::{AxpyEx, Cublas, DotEx};
use super::table::put;
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_bfloat16, rocblas_datatype, rocblas_half};
use hip_sys::rocblas::{rocblas_handle, rocblas_status, rocblas_stride};

#[rustfmt::skip]
pub(super) fn fill(table: &mut RocblasTable) {
    put! { table;
        haxpy haxpy_strided: rocblas_haxpy rocblas_haxpy_64, rocblas_haxpy_strided_batched rocblas_haxpy_strided_batched_64;
        hdot hdot_strided: rocblas_hdot rocblas_hdot_64, rocblas_hdot_strided_batched rocblas_hdot_strided_batched_64;
        bfdot bfdot_strided: rocblas_bfdot rocblas_bfdot_64, rocblas_bfdot_strided_batched rocblas_bfdot_strided_batched_64;
    }
}

const F16: rocblas_datatype = rocblas_datatype::rocblas_datatype_f16_r;
const BF16: rocblas_datatype = rocblas_datatype::rocblas_datatype_bf16_r;
const F32: rocblas_datatype = rocblas_datatype::rocblas_datatype_f32_r;

unsafe extern "C" fn haxpy<I: Int>(
    handle: rocblas_handle,
    n: I,
    alpha: *const rocblas_half,
    x: *const rocblas_half,
    incx: I,
    y: *mut rocblas_half,
    incy: I,
) -> rocblas_status
where
    Cublas: AxpyEx<I>,
{
    // SAFETY: S11: the caller's arguments, which are of these types.
    unsafe { axpy_ex(handle, n, alpha.cast(), F16, x.cast(), F16, incx, y.cast(), F16, incy, F32) }
}

unsafe extern "C" fn haxpy_strided<I: Int>(
    handle: rocblas_handle,
    n: I,
    alpha: *const rocblas_half,
    x: *const rocblas_half,
    incx: I,
    stride_x: rocblas_stride,
    y: *mut rocblas_half,
    incy: I,
    stride_y: rocblas_stride,
    count: I,
) -> rocblas_status
where
    Cublas: AxpyEx<I>,
{
    let (alpha, x, y) = (alpha.cast(), x.cast(), y.cast());
    // SAFETY: S11: the caller's arguments, which are of these types.
    unsafe {
        axpy_strided_ex(handle, n, alpha, F16, x, F16, incx, stride_x, y, F16, incy, stride_y, count, F32)
    }
}

macro_rules! dots {
    ($($one:ident $many:ident $T:ident $data:ident;)*) => {$(
        unsafe extern "C" fn $one<I: Int>(
            handle: rocblas_handle,
            n: I,
            x: *const $T,
            incx: I,
            y: *const $T,
            incy: I,
            result: *mut $T,
        ) -> rocblas_status
        where
            Cublas: DotEx<I>,
        {
            let (x, y, result) = (x.cast(), y.cast(), result.cast());
            // SAFETY: S11: the caller's arguments, which are of these types.
            unsafe { dot_ex(handle, n, x, $data, incx, y, $data, incy, result, $data, F32) }
        }

        unsafe extern "C" fn $many<I: Int>(
            handle: rocblas_handle,
            n: I,
            x: *const $T,
            incx: I,
            stride_x: rocblas_stride,
            y: *const $T,
            incy: I,
            stride_y: rocblas_stride,
            count: I,
            result: *mut $T,
        ) -> rocblas_status
        where
            Cublas: DotEx<I>,
        {
            let (x, y, result) = (x.cast(), y.cast(), result.cast());
            // SAFETY: S11: the caller's arguments, which are of these types.
            unsafe {
                dot_strided_ex(
                    handle, n, x, $data, incx, stride_x, y, $data, incy, stride_y, count, result, $data, F32,
                )
            }
        }
    )*};
}

dots! {
    hdot hdot_strided rocblas_half F16;
    bfdot bfdot_strided rocblas_bfloat16 BF16;
}
