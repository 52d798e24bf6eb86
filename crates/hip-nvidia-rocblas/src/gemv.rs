//! `gemv`: plain, strided and batched by addresses.
#![allow(non_snake_case, reason = "BLAS's names")]

use super::check::{Choice, Int, Outcome, Scalar, done_if, sizes};
use super::convert::Pass;
use super::functions::{Cublas, Gemv, GemvBatched, GemvStrided};
use super::handle::{Handle, done, with};
use super::held::{aligned, hold_both};
use super::level2::{holds, scaled_sum};
use super::library::cublas;
use super::table::put;
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_double_complex as C64, rocblas_float_complex as C32, rocblas_handle};
use hip_sys::rocblas::{rocblas_operation, rocblas_status, rocblas_stride};

#[rustfmt::skip]
pub(super) fn fill(table: &mut RocblasTable) {
    put! { table;
        gemv gemv_strided gemv_batched<f32>: rocblas_sgemv rocblas_sgemv_64, rocblas_sgemv_strided_batched rocblas_sgemv_strided_batched_64, rocblas_sgemv_batched rocblas_sgemv_batched_64;
        gemv gemv_strided gemv_batched<f64>: rocblas_dgemv rocblas_dgemv_64, rocblas_dgemv_strided_batched rocblas_dgemv_strided_batched_64, rocblas_dgemv_batched rocblas_dgemv_batched_64;
        gemv gemv_strided gemv_batched<C32>: rocblas_cgemv rocblas_cgemv_64, rocblas_cgemv_strided_batched rocblas_cgemv_strided_batched_64, rocblas_cgemv_batched rocblas_cgemv_batched_64;
        gemv gemv_strided gemv_batched<C64>: rocblas_zgemv rocblas_zgemv_64, rocblas_zgemv_strided_batched rocblas_zgemv_strided_batched_64, rocblas_zgemv_batched rocblas_zgemv_batched_64;
    }
}

/// # Safety
/// Scalars are null or live if they are on the host.
unsafe fn checked<I: Int, T: Scalar, P>(
    handle: &Handle,
    operation: rocblas_operation,
    [m, n, count]: [I; 3],
    lda: I,
    steps: [I; 2],
    scalars: (*const T, *const T),
    [matrix, x, y]: [*const P; 3],
) -> Outcome {
    let zero = I::of(0);
    operation.valid()?;
    sizes(m >= zero && n >= zero && count >= zero && !steps.contains(&zero) && holds(lda, m))?;
    done_if(m == zero || n == zero || count == zero)?;
    // SAFETY: S11: as promised above.
    unsafe { scaled_sum(handle, scalars, [matrix, x], y) }
}

unsafe extern "C" fn gemv<I: Int, T: Scalar>(
    handle: rocblas_handle,
    transA: rocblas_operation,
    m: I,
    n: I,
    alpha: *const T,
    A: *const T,
    lda: I,
    x: *const T,
    incx: I,
    beta: *const T,
    y: *mut T,
    incy: I,
) -> rocblas_status
where
    Cublas: Gemv<I, T>,
{
    // SAFETY: S2, S11: the caller's arguments; a live handle with its context current.
    with(handle, |handle| unsafe {
        checked(handle, transA, [m, n, I::of(1)], lda, [incx, incy], (alpha, beta), [A, x, y])?;
        let [alpha, beta] = hold_both(handle, (alpha, beta))?;
        [A, x, y].into_iter().try_for_each(aligned)?;
        done(cublas().gemv()(
            handle.raw,
            transA.pass(),
            m,
            n,
            alpha.pointer(),
            A,
            lda,
            x,
            incx,
            beta.pointer(),
            y,
            incy,
        ))
    })
}

unsafe extern "C" fn gemv_strided<I: Int, T: Scalar>(
    handle: rocblas_handle,
    transA: rocblas_operation,
    m: I,
    n: I,
    alpha: *const T,
    A: *const T,
    lda: I,
    stride_a: rocblas_stride,
    x: *const T,
    incx: I,
    stride_x: rocblas_stride,
    beta: *const T,
    y: *mut T,
    incy: I,
    stride_y: rocblas_stride,
    count: I,
) -> rocblas_status
where
    Cublas: GemvStrided<I, T>,
{
    // SAFETY: S2, S11: the caller's arguments; a live handle with its context current.
    with(handle, |handle| unsafe {
        checked(handle, transA, [m, n, count], lda, [incx, incy], (alpha, beta), [A, x, y])?;
        let [alpha, beta] = hold_both(handle, (alpha, beta))?;
        [A, x, y].into_iter().try_for_each(aligned)?;
        done(cublas().gemv_strided()(
            handle.raw,
            transA.pass(),
            m,
            n,
            alpha.pointer(),
            A,
            lda,
            stride_a,
            x,
            incx,
            stride_x,
            beta.pointer(),
            y,
            incy,
            stride_y,
            count,
        ))
    })
}

unsafe extern "C" fn gemv_batched<I: Int, T: Scalar>(
    handle: rocblas_handle,
    transA: rocblas_operation,
    m: I,
    n: I,
    alpha: *const T,
    A: *const *const T,
    lda: I,
    x: *const *const T,
    incx: I,
    beta: *const T,
    y: *const *mut T,
    incy: I,
    count: I,
) -> rocblas_status
where
    Cublas: GemvBatched<I, T>,
{
    // SAFETY: S2, S11: the caller's arguments; a live handle with its context current.
    with(handle, |handle| unsafe {
        checked(handle, transA, [m, n, count], lda, [incx, incy], (alpha, beta), [A, x, y.cast()])?;
        let [alpha, beta] = hold_both(handle, (alpha, beta))?;
        done(cublas().gemv_batched()(
            handle.raw,
            transA.pass(),
            m,
            n,
            alpha.pointer(),
            A,
            lda,
            x,
            incx,
            beta.pointer(),
            y,
            incy,
            count,
        ))
    })
}
