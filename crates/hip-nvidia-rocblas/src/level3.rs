//! Level 3 except `gemm`: operations on matrices.
#![allow(non_snake_case, reason = "BLAS's names")]

use super::adapt::adapt;
use super::check::{At, Choice, Int, Outcome, SIZE, Scalar, VALUE, done_if, ensure, leading, sizes, there};
use super::convert::Pass;
use super::functions::{Cublas, Dgmm, Geam, Symm, Syrk, Trmm, Trsm, TrsmBatched};
use super::handle::{done, with};
use super::held::{Hold, aligned};
use super::level2::{given, scaled_sum};
use super::library::cublas;
use super::table::put;
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_diagonal, rocblas_double_complex as C64, rocblas_fill};
use hip_sys::rocblas::{rocblas_float_complex as C32, rocblas_handle, rocblas_operation, rocblas_side};
use hip_sys::rocblas::{rocblas_status, rocblas_stride};

#[rustfmt::skip]
pub(super) fn fill(table: &mut RocblasTable) {
    put! { table;
        symm symm_strided<f32>: rocblas_ssymm rocblas_ssymm_64, rocblas_ssymm_strided_batched rocblas_ssymm_strided_batched_64;
        symm symm_strided<f64>: rocblas_dsymm rocblas_dsymm_64, rocblas_dsymm_strided_batched rocblas_dsymm_strided_batched_64;
        symm symm_strided<C32>: rocblas_csymm rocblas_csymm_64, rocblas_csymm_strided_batched rocblas_csymm_strided_batched_64;
        symm symm_strided<C64>: rocblas_zsymm rocblas_zsymm_64, rocblas_zsymm_strided_batched rocblas_zsymm_strided_batched_64;
        syrk syrk_strided<f32, f32>: rocblas_ssyrk rocblas_ssyrk_64, rocblas_ssyrk_strided_batched rocblas_ssyrk_strided_batched_64;
        syrk syrk_strided<f64, f64>: rocblas_dsyrk rocblas_dsyrk_64, rocblas_dsyrk_strided_batched rocblas_dsyrk_strided_batched_64;
        syrk syrk_strided<C32, C32>: rocblas_csyrk rocblas_csyrk_64, rocblas_csyrk_strided_batched rocblas_csyrk_strided_batched_64;
        syrk syrk_strided<C64, C64>: rocblas_zsyrk rocblas_zsyrk_64, rocblas_zsyrk_strided_batched rocblas_zsyrk_strided_batched_64;
        syrk syrk_strided<f32, C32>: rocblas_cherk rocblas_cherk_64, rocblas_cherk_strided_batched rocblas_cherk_strided_batched_64;
        syrk syrk_strided<f64, C64>: rocblas_zherk rocblas_zherk_64, rocblas_zherk_strided_batched rocblas_zherk_strided_batched_64;
        trmm trmm_strided<f32>: rocblas_strmm rocblas_strmm_64, rocblas_strmm_strided_batched rocblas_strmm_strided_batched_64;
        trmm trmm_strided<f64>: rocblas_dtrmm rocblas_dtrmm_64, rocblas_dtrmm_strided_batched rocblas_dtrmm_strided_batched_64;
        trmm trmm_strided<C32>: rocblas_ctrmm rocblas_ctrmm_64, rocblas_ctrmm_strided_batched rocblas_ctrmm_strided_batched_64;
        trmm trmm_strided<C64>: rocblas_ztrmm rocblas_ztrmm_64, rocblas_ztrmm_strided_batched rocblas_ztrmm_strided_batched_64;
        trsm trsm_strided trsm_batched<f32>: rocblas_strsm rocblas_strsm_64, rocblas_strsm_strided_batched rocblas_strsm_strided_batched_64, rocblas_strsm_batched rocblas_strsm_batched_64;
        trsm trsm_strided trsm_batched<f64>: rocblas_dtrsm rocblas_dtrsm_64, rocblas_dtrsm_strided_batched rocblas_dtrsm_strided_batched_64, rocblas_dtrsm_batched rocblas_dtrsm_batched_64;
        trsm trsm_strided trsm_batched<C32>: rocblas_ctrsm rocblas_ctrsm_64, rocblas_ctrsm_strided_batched rocblas_ctrsm_strided_batched_64, rocblas_ctrsm_batched rocblas_ctrsm_batched_64;
        trsm trsm_strided trsm_batched<C64>: rocblas_ztrsm rocblas_ztrsm_64, rocblas_ztrsm_strided_batched rocblas_ztrsm_strided_batched_64, rocblas_ztrsm_batched rocblas_ztrsm_batched_64;
        geam geam_strided<f32>: rocblas_sgeam rocblas_sgeam_64, rocblas_sgeam_strided_batched rocblas_sgeam_strided_batched_64;
        geam geam_strided<f64>: rocblas_dgeam rocblas_dgeam_64, rocblas_dgeam_strided_batched rocblas_dgeam_strided_batched_64;
        geam geam_strided<C32>: rocblas_cgeam rocblas_cgeam_64, rocblas_cgeam_strided_batched rocblas_cgeam_strided_batched_64;
        geam geam_strided<C64>: rocblas_zgeam rocblas_zgeam_64, rocblas_zgeam_strided_batched rocblas_zgeam_strided_batched_64;
        dgmm dgmm_strided<f32>: rocblas_sdgmm rocblas_sdgmm_64, rocblas_sdgmm_strided_batched rocblas_sdgmm_strided_batched_64;
        dgmm dgmm_strided<f64>: rocblas_ddgmm rocblas_ddgmm_64, rocblas_ddgmm_strided_batched rocblas_ddgmm_strided_batched_64;
        dgmm dgmm_strided<C32>: rocblas_cdgmm rocblas_cdgmm_64, rocblas_cdgmm_strided_batched rocblas_cdgmm_strided_batched_64;
        dgmm dgmm_strided<C64>: rocblas_zdgmm rocblas_zdgmm_64, rocblas_zdgmm_strided_batched rocblas_zdgmm_strided_batched_64;
    }
}

adapt! {
    /// `C = alpha A B + beta C` of a symmetric `A`, or `B A`
    symm, symm_strided<I, T> = Symm.symm |handle, count|
    (
        side: rocblas_side, uplo: rocblas_fill, m: I, n: I, alpha: *const T, A: *const T [lda, stride_a],
        B: *const T [ldb, stride_b], beta: *const T, C: *mut T [ldc, stride_c]
    ) {
        side.valid()?;
        uplo.valid()?;
        check_square_operand(side, [m, n, count], lda, &[ldb, ldc])?;
        scaled_sum(handle, (alpha, beta), [A, B], C.cast_const())?;
    }

    /// `C = alpha A A^T + beta C`, or with the conjugate where the scalars are real and the elements complex; one triangle of it
    syrk, syrk_strided<I, S, T> = Syrk.syrk |handle, count|
    (
        uplo: rocblas_fill, transA: rocblas_operation, n: I, k: I, alpha: *const S, A: *const T [lda, stride_a],
        beta: *const S, C: *mut T [ldc, stride_c]
    ) {
        let zero = I::of(0);
        uplo.valid()?;
        let transA = rank_k::<S, T>(transA)?;
        sizes(n >= zero && k >= zero && count >= zero && ldc >= n)?;
        sizes(lda >= if transA == rocblas_operation::rocblas_operation_none { n } else { k })?;
        let lda = leading(lda);
        done_if(n == zero || count == zero)?;
        there(beta)?;
        // With k zero alpha is not used and may be null.
        let alpha = if k == zero { beta } else { alpha };
        there(alpha)?;
        let nothing = k == zero || handle.is(alpha, 0);
        done_if(nothing && handle.is(beta, 1))?;
        there(C)?;
        let A = if k == zero { C.cast_const() } else { A };
        given(nothing, &[A])?;
    }

    /// `C = alpha A B` of a triangular `A`, or `B A`
    trmm, trmm_strided<I, T> = Trmm.trmm |handle, count|
    (
        side: rocblas_side, uplo: rocblas_fill, transA: rocblas_operation, diag: rocblas_diagonal, m: I, n: I,
        alpha: *const T, A: *const T [lda, stride_a], B: *const T [ldb, stride_b], C: *mut T [ldc, stride_c]
    ) {
        triangle(side, uplo, transA, diag)?;
        check_square_operand(side, [m, n, count], lda, &[ldb, ldc])?;
        there(C)?;
        there(alpha)?;
        given(handle.is(alpha, 0), &[A, B])?;
        ensure(B != C.cast_const() || ldb == ldc, VALUE)?;
    }

    /// `A X = alpha B` of a triangular `A`, or `X A`, for `X`
    trsm, trsm_strided<I, T> = Trsm.trsm |handle, count|
    (
        side: rocblas_side, uplo: rocblas_fill, transA: rocblas_operation, diag: rocblas_diagonal, m: I, n: I,
        alpha: *const T, A: *const T [lda, stride_a], B: *mut T [ldb, stride_b]
    ) {
        triangle(side, uplo, transA, diag)?;
        check_square_operand(side, [m, n, count], lda, &[ldb])?;
        there(B)?;
        there(alpha)?;
        given(handle.is(alpha, 0), &[A])?;
    }

    /// `C = alpha A + beta B`
    geam, geam_strided<I, T> = Geam.geam |handle, count|
    (
        transA: rocblas_operation, transB: rocblas_operation, m: I, n: I, alpha: *const T,
        A: *const T [lda, stride_a], beta: *const T, B: *const T [ldb, stride_b], C: *mut T [ldc, stride_c]
    ) {
        let zero = I::of(0);
        let plain = rocblas_operation::rocblas_operation_none;
        transA.valid()?;
        transB.valid()?;
        sizes(m >= zero && n >= zero && count >= zero && ldc >= m)?;
        sizes(lda >= if transA == plain { m } else { n } && ldb >= if transB == plain { m } else { n })?;
        ensure(A != C.cast_const() || lda == ldc && transA == plain, SIZE)?;
        ensure(B != C.cast_const() || ldb == ldc && transB == plain, SIZE)?;
        done_if(m == zero || n == zero || count == zero)?;
        there(C)?;
        there(alpha)?;
        there(beta)?;
        given(handle.is(alpha, 0), &[A])?;
        given(handle.is(beta, 0), &[B])?;
    }

    /// `C = A diag(x)`, or `diag(x) A`
    dgmm, dgmm_strided<I, T> = Dgmm.dgmm |handle, count|
    (
        side: rocblas_side, m: I, n: I, A: *const T [lda, stride_a], x: *const T [incx, stride_x],
        C: *mut T [ldc, stride_c]
    ) {
        let zero = I::of(0);
        side.valid()?;
        sizes(m >= zero && n >= zero && count >= zero && ldc >= m && lda >= m)?;
        done_if(m == zero || n == zero || count == zero)?;
        given(false, &[A, x, C.cast_const()])?;
    }
}

/// Checks the sizes of a square matrix left or right of an `m` by `n` matrix.
fn check_square_operand<I: Int>(side: rocblas_side, [m, n, count]: [I; 3], lda: I, others: &[I]) -> Outcome {
    let zero = I::of(0);
    let order = if side == rocblas_side::rocblas_side_left { m } else { n };
    sizes(m >= zero && n >= zero && count >= zero)?;
    sizes(lda >= order && others.iter().all(|leading| *leading >= m))?;
    done_if(m == zero || n == zero || count == zero)
}

fn triangle(
    side: rocblas_side,
    uplo: rocblas_fill,
    operation: rocblas_operation,
    diagonal: rocblas_diagonal,
) -> Outcome {
    side.valid()?;
    uplo.valid()?;
    operation.valid()?;
    diagonal.valid()
}

/// The operation of `syrk`, where all three are the transpose or none for real elements, and of `herk`, whose scalars are real and
/// elements complex.
fn rank_k<S: Scalar, T: Scalar>(operation: rocblas_operation) -> Outcome<rocblas_operation> {
    operation.valid()?;
    let transpose = rocblas_operation::rocblas_operation_transpose;
    let conjugate = rocblas_operation::rocblas_operation_conjugate_transpose;
    match (S::COMPLEX, T::COMPLEX) {
        (false, false) => Ok(if operation == conjugate { transpose } else { operation }),
        (true, _) => ensure(operation != conjugate, VALUE).map(|()| operation),
        (false, true) => ensure(operation != transpose, VALUE).map(|()| operation),
    }
}

/// cuBLAS has this operation for a batch by addresses.
pub(super) unsafe extern "C" fn trsm_batched<I: Int, T: Scalar>(
    handle: rocblas_handle,
    side: rocblas_side,
    uplo: rocblas_fill,
    transA: rocblas_operation,
    diag: rocblas_diagonal,
    m: I,
    n: I,
    alpha: *const T,
    A: *const *const T,
    lda: I,
    B: *const *mut T,
    ldb: I,
    count: I,
) -> rocblas_status
where
    Cublas: TrsmBatched<I, T>,
{
    // SAFETY: S2, S11: the caller's arguments; a live handle with its context current.
    with(handle, |handle| unsafe {
        triangle(side, uplo, transA, diag)?;
        check_square_operand(side, [m, n, count], lda, &[ldb])?;
        there(B)?;
        there(alpha)?;
        given(handle.is(alpha, 0), &[A])?;
        let alpha = alpha.hold(handle)?;
        done(cublas().trsm_batched()(
            handle.raw,
            side.pass(),
            uplo.pass(),
            transA.pass(),
            diag.pass(),
            m,
            n,
            alpha.pointer(),
            A,
            lda,
            B,
            ldb,
            count,
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::super::check::SUCCESS;
    use super::*;

    const TRANSPOSE: rocblas_operation = rocblas_operation::rocblas_operation_transpose;
    const CONJUGATE: rocblas_operation = rocblas_operation::rocblas_operation_conjugate_transpose;

    #[test]
    fn a_rank_k_update_accepts_only_its_types_operations() {
        assert_eq!(rank_k::<f32, f32>(CONJUGATE), Ok(TRANSPOSE));
        assert_eq!(rank_k::<C32, C32>(TRANSPOSE), Ok(TRANSPOSE));
        assert_eq!(rank_k::<C32, C32>(CONJUGATE), Err(VALUE));
        assert_eq!(rank_k::<f64, C64>(CONJUGATE), Ok(CONJUGATE));
        assert_eq!(rank_k::<f64, C64>(TRANSPOSE), Err(VALUE));
        assert_eq!(rank_k::<f64, f64>(rocblas_operation(7)), Err(VALUE));
    }

    #[test]
    fn the_square_matrix_s_size_follows_from_its_side() {
        let (left, right) = (rocblas_side::rocblas_side_left, rocblas_side::rocblas_side_right);
        assert_eq!(check_square_operand(left, [2, 5, 1], 2, &[2, 3]), Ok(()));
        assert_eq!(check_square_operand(right, [2, 5, 1], 4, &[2, 3]), Err(SIZE));
        assert_eq!(check_square_operand(right, [2, 5, 1], 5, &[2, 1]), Err(SIZE));
        assert_eq!(check_square_operand(left, [2, 5, -1], 2, &[2]), Err(SIZE));
        assert_eq!(check_square_operand(left, [2, 0, 1], 2, &[2]), Err(SUCCESS));
    }
}
