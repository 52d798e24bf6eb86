//! Level 2: operations on a matrix and vectors.
#![allow(non_snake_case, reason = "BLAS's names")]

use super::adapt::adapt;
use super::check::{At, Choice, Int, NOT_IMPLEMENTED, Outcome, Scalar, done_if, sizes, there};
use super::convert::Pass;
use super::functions::{Cublas, Gbmv, Ger, Gerc, Symv, Syr, Trmv, Trsv};
use super::handle::{Handle, done, with};
use super::held::{Hold, aligned};
use super::library::cublas;
use super::table::put;
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_diagonal, rocblas_double_complex as C64, rocblas_fill};
use hip_sys::rocblas::{rocblas_float_complex as C32, rocblas_handle, rocblas_operation};
use hip_sys::rocblas::{rocblas_status, rocblas_stride};

#[rustfmt::skip]
pub(super) fn fill(table: &mut RocblasTable) {
    put! { table;
        gbmv gbmv_strided<f32>: rocblas_sgbmv rocblas_sgbmv_64, rocblas_sgbmv_strided_batched rocblas_sgbmv_strided_batched_64;
        gbmv gbmv_strided<f64>: rocblas_dgbmv rocblas_dgbmv_64, rocblas_dgbmv_strided_batched rocblas_dgbmv_strided_batched_64;
        gbmv gbmv_strided<C32>: rocblas_cgbmv rocblas_cgbmv_64, rocblas_cgbmv_strided_batched rocblas_cgbmv_strided_batched_64;
        gbmv gbmv_strided<C64>: rocblas_zgbmv rocblas_zgbmv_64, rocblas_zgbmv_strided_batched rocblas_zgbmv_strided_batched_64;
        symv symv_strided<f32>: rocblas_ssymv rocblas_ssymv_64, rocblas_ssymv_strided_batched rocblas_ssymv_strided_batched_64;
        symv symv_strided<f64>: rocblas_dsymv rocblas_dsymv_64, rocblas_dsymv_strided_batched rocblas_dsymv_strided_batched_64;
        symv symv_strided<C32>: rocblas_csymv rocblas_csymv_64, rocblas_csymv_strided_batched rocblas_csymv_strided_batched_64;
        symv symv_strided<C64>: rocblas_zsymv rocblas_zsymv_64, rocblas_zsymv_strided_batched rocblas_zsymv_strided_batched_64;
        ger ger_strided<f32>: rocblas_sger rocblas_sger_64, rocblas_sger_strided_batched rocblas_sger_strided_batched_64;
        ger ger_strided<f64>: rocblas_dger rocblas_dger_64, rocblas_dger_strided_batched rocblas_dger_strided_batched_64;
        ger ger_strided<C32>: rocblas_cgeru rocblas_cgeru_64, rocblas_cgeru_strided_batched rocblas_cgeru_strided_batched_64;
        ger ger_strided<C64>: rocblas_zgeru rocblas_zgeru_64, rocblas_zgeru_strided_batched rocblas_zgeru_strided_batched_64;
        gerc gerc_strided<C32>: rocblas_cgerc rocblas_cgerc_64, rocblas_cgerc_strided_batched rocblas_cgerc_strided_batched_64;
        gerc gerc_strided<C64>: rocblas_zgerc rocblas_zgerc_64, rocblas_zgerc_strided_batched rocblas_zgerc_strided_batched_64;
        syr syr_strided<f32>: rocblas_ssyr rocblas_ssyr_64, rocblas_ssyr_strided_batched rocblas_ssyr_strided_batched_64;
        syr syr_strided<f64>: rocblas_dsyr rocblas_dsyr_64, rocblas_dsyr_strided_batched rocblas_dsyr_strided_batched_64;
        syr syr_strided<C32>: rocblas_csyr rocblas_csyr_64, rocblas_csyr_strided_batched rocblas_csyr_strided_batched_64;
        syr syr_strided<C64>: rocblas_zsyr rocblas_zsyr_64, rocblas_zsyr_strided_batched rocblas_zsyr_strided_batched_64;
        trmv trmv_strided<f32>: rocblas_strmv rocblas_strmv_64, rocblas_strmv_strided_batched rocblas_strmv_strided_batched_64;
        trmv trmv_strided<f64>: rocblas_dtrmv rocblas_dtrmv_64, rocblas_dtrmv_strided_batched rocblas_dtrmv_strided_batched_64;
        trmv trmv_strided<C32>: rocblas_ctrmv rocblas_ctrmv_64, rocblas_ctrmv_strided_batched rocblas_ctrmv_strided_batched_64;
        trmv trmv_strided<C64>: rocblas_ztrmv rocblas_ztrmv_64, rocblas_ztrmv_strided_batched rocblas_ztrmv_strided_batched_64;
        trsv trsv_strided<f32>: rocblas_strsv rocblas_strsv_64, rocblas_strsv_strided_batched rocblas_strsv_strided_batched_64;
        trsv trsv_strided<f64>: rocblas_dtrsv rocblas_dtrsv_64, rocblas_dtrsv_strided_batched rocblas_dtrsv_strided_batched_64;
        trsv trsv_strided<C32>: rocblas_ctrsv rocblas_ctrsv_64, rocblas_ctrsv_strided_batched rocblas_ctrsv_strided_batched_64;
        trsv trsv_strided<C64>: rocblas_ztrsv rocblas_ztrsv_64, rocblas_ztrsv_strided_batched rocblas_ztrsv_strided_batched_64;
    }
}

/// Whether the leading dimension is at least the number of rows, and at least 1.
pub(super) fn holds<I: Int>(leading: I, rows: I) -> bool {
    leading >= rows && leading >= I::of(1)
}

/// Checks the scalars and pointers of `y = alpha A x + beta y`. If A and x must not be read, cuBLAS is not called, as it may read them.
///
/// # Safety
/// Scalars are null or live if they are on the host.
pub(super) unsafe fn scaled_sum<S: Scalar, A, Y>(
    handle: &Handle,
    (alpha, beta): (*const S, *const S),
    factors: [*const A; 2],
    y: *const Y,
) -> Outcome {
    there(alpha)?;
    there(beta)?;
    // SAFETY: S11: as promised above; they are not null.
    let (nothing, keeps) = unsafe { (handle.is(alpha, 0), handle.is(beta, 1)) };
    done_if(nothing && keeps)?;
    there(y)?;
    given(nothing, &factors)
}

/// Checks that the factors are not null. If their product is zero they may be null; then cuBLAS is not called, as it may read them.
pub(super) fn given<A>(needless: bool, factors: &[*const A]) -> Outcome {
    let all = factors.iter().all(|factor| !factor.is_null());
    super::check::ensure(all, if needless { NOT_IMPLEMENTED } else { super::check::POINTER })
}

adapt! {
    /// `y = alpha A x + beta y` of a band matrix
    gbmv, gbmv_strided<I, T> = Gbmv.gbmv |handle, count|
    (
        transA: rocblas_operation, m: I, n: I, kl: I, ku: I, alpha: *const T, A: *const T [lda, stride_a],
        x: *const T [incx, stride_x], beta: *const T, y: *mut T [incy, stride_y]
    ) {
        let zero = I::of(0);
        transA.valid()?;
        sizes(m >= zero && n >= zero && kl >= zero && ku >= zero && count >= zero && incx != zero && incy != zero)?;
        sizes(lda.long() > kl.long().saturating_add(ku.long()))?;
        done_if(m == zero || n == zero || count == zero)?;
        scaled_sum(handle, (alpha, beta), [A, x], y.cast_const())?;
    }

    /// `y = alpha A x + beta y` of a symmetric matrix
    symv, symv_strided<I, T> = Symv.symv |handle, count|
    (
        uplo: rocblas_fill, n: I, alpha: *const T, A: *const T [lda, stride_a], x: *const T [incx, stride_x],
        beta: *const T, y: *mut T [incy, stride_y]
    ) {
        let zero = I::of(0);
        uplo.valid()?;
        sizes(n >= zero && count >= zero && incx != zero && incy != zero && holds(lda, n))?;
        done_if(n == zero || count == zero)?;
        scaled_sum(handle, (alpha, beta), [A, x], y.cast_const())?;
    }

    /// `A += alpha x y^T`
    ger, ger_strided<I, T> = Ger.ger |handle, count|
    (
        m: I, n: I, alpha: *const T, x: *const T [incx, stride_x], y: *const T [incy, stride_y],
        A: *mut T [lda, stride_a]
    ) {
        rank_one(handle, [m, n, count], [incx, incy], lda, alpha, [x, y, A.cast_const()])?;
    }

    /// `A += alpha x y^H`
    gerc, gerc_strided<I, T> = Gerc.gerc |handle, count|
    (
        m: I, n: I, alpha: *const T, x: *const T [incx, stride_x], y: *const T [incy, stride_y],
        A: *mut T [lda, stride_a]
    ) {
        rank_one(handle, [m, n, count], [incx, incy], lda, alpha, [x, y, A.cast_const()])?;
    }

    /// `A += alpha x x^T`, one triangle of it
    syr, syr_strided<I, T> = Syr.syr |handle, count|
    (uplo: rocblas_fill, n: I, alpha: *const T, x: *const T [incx, stride_x], A: *mut T [lda, stride_a]) {
        uplo.valid()?;
        rank_one(handle, [n, n, count], [incx, incx], lda, alpha, [x, x, A.cast_const()])?;
    }

    /// `x = A x` of a triangular matrix
    trmv, trmv_strided<I, T> = Trmv.trmv |handle, count|
    (
        uplo: rocblas_fill, transA: rocblas_operation, diag: rocblas_diagonal, n: I, A: *const T [lda, stride_a],
        x: *mut T [incx, stride_x]
    ) {
        triangle(uplo, transA, diag, [n, lda, incx, count], [A, x.cast_const()])?;
    }

    /// `A x = b` of a triangular matrix, for `x`
    trsv, trsv_strided<I, T> = Trsv.trsv |handle, count|
    (
        uplo: rocblas_fill, transA: rocblas_operation, diag: rocblas_diagonal, n: I, A: *const T [lda, stride_a],
        x: *mut T [incx, stride_x]
    ) {
        triangle(uplo, transA, diag, [n, lda, incx, count], [A, x.cast_const()])?;
    }
}

/// # Safety
/// The scalar is null or live if it is on the host.
unsafe fn rank_one<I: Int, T: Scalar>(
    handle: &Handle,
    [m, n, count]: [I; 3],
    steps: [I; 2],
    lda: I,
    alpha: *const T,
    operands: [*const T; 3],
) -> Outcome {
    let zero = I::of(0);
    sizes(m >= zero && n >= zero && count >= zero && !steps.contains(&zero) && holds(lda, m))?;
    done_if(m == zero || n == zero || count == zero)?;
    there(alpha)?;
    // SAFETY: S11: as promised above; it is not null.
    done_if(unsafe { handle.is(alpha, 0) })?;
    given(false, &operands)
}

fn triangle<I: Int, T>(
    uplo: rocblas_fill,
    operation: rocblas_operation,
    diagonal: rocblas_diagonal,
    [n, lda, incx, count]: [I; 4],
    operands: [*const T; 2],
) -> Outcome {
    let zero = I::of(0);
    uplo.valid()?;
    operation.valid()?;
    diagonal.valid()?;
    sizes(n >= zero && count >= zero && incx != zero && holds(lda, n))?;
    done_if(n == zero || count == zero)?;
    given(false, &operands)
}
