//! trsm: b = alpha op(a)⁻¹ b, or alpha b op(a)⁻¹, of a triangular matrix.

use super::super::c::forms::forms;
use super::super::check::{
    NOT_IMPLEMENTED, Outcome, POINTER, SIZE, counts, ensure, is_left, is_lower, is_unit, matrix, operation,
};
use super::super::handle::{Call, begin, status, there};
use super::super::operand::{Operand, Plan};
use super::super::scalar::{Element, Field, Int};
use super::matrix::Matrix;
use super::product::{product, scale, steps};
use super::triangle::{Halves, Triangle};
use hip_sys::rocblas::{
    rocblas_diagonal, rocblas_fill, rocblas_handle, rocblas_operation, rocblas_side, rocblas_status,
};
use num_complex::{Complex32, Complex64};
use std::ops::Range;

forms! { "trsm", "" [T: Element<Value: Field>] [T::Value]
trsm(side: rocblas_side, uplo: rocblas_fill, trans: rocblas_operation, diag: rocblas_diagonal, m: int, n: int,
    alpha: *const T, [a: in T, lda, stride_a], [b: out T, ldb, stride_b], batch) }

/// The type is an argument. The given inverse of the diagonal blocks is not used.
pub(crate) mod ex {
    use super::*;
    use hip_sys::rocblas::rocblas_datatype;
    use std::ffi::c_void;

    forms! { "trsm", "_ex" [] []
    trsm_ex(side: rocblas_side, uplo: rocblas_fill, trans: rocblas_operation, diag: rocblas_diagonal, m: int, n: int,
        alpha: *const c_void, [a: reads, lda, stride_a], [b: writes, ldb, stride_b], batch,
        [inverse: reads, inverse_size, stride_inverse], compute_type: rocblas_datatype) }

    unsafe fn trsm_ex(
        call: Call,
        side: rocblas_side,
        uplo: rocblas_fill,
        trans: rocblas_operation,
        diag: rocblas_diagonal,
        m: i64,
        n: i64,
        alpha: *const c_void,
        a: Operand,
        b: Operand,
        batch: i64,
        _inverse: Operand,
        compute_type: rocblas_datatype,
    ) -> Outcome {
        // SAFETY: S11: the C function's contract.
        unsafe {
            match compute_type {
                rocblas_datatype::rocblas_datatype_f32_r => {
                    trsm::<f32>(call, side, uplo, trans, diag, m, n, alpha, a, b, batch)
                }
                rocblas_datatype::rocblas_datatype_f64_r => {
                    trsm::<f64>(call, side, uplo, trans, diag, m, n, alpha, a, b, batch)
                }
                rocblas_datatype::rocblas_datatype_f32_c => {
                    trsm::<Complex32>(call, side, uplo, trans, diag, m, n, alpha, a, b, batch)
                }
                rocblas_datatype::rocblas_datatype_f64_c => {
                    trsm::<Complex64>(call, side, uplo, trans, diag, m, n, alpha, a, b, batch)
                }
                _ => Err(NOT_IMPLEMENTED),
            }
        }
    }
}

unsafe fn trsm<T: Field>(
    call: Call,
    side: rocblas_side,
    uplo: rocblas_fill,
    trans: rocblas_operation,
    diag: rocblas_diagonal,
    m: i64,
    n: i64,
    alpha: *const impl Sized,
    a: Operand,
    b: Operand,
    batch: i64,
) -> Outcome {
    let (left, lower, op, unit) = (is_left(side)?, is_lower(uplo)?, operation(trans)?, is_unit(diag)?);
    ensure(b.step >= m && a.step >= if left { m } else { n }, SIZE)?;
    let [m, n, batch] = counts([m, n, batch])?;
    if m == 0 || n == 0 || batch == 0 {
        return Ok(());
    }
    ensure(!b.is_null(), POINTER)?;
    there(alpha)?;
    let mut plan = Plan::new(call, batch);
    // SAFETY: S11: the C function's contract; the types have the same layout.
    let alpha = unsafe { plan.scalar(alpha.cast::<T>())? };
    let used = usize::from(!alpha.is(T::ZERO));
    ensure(used == 0 || !a.is_null(), POINTER)?;
    let order = if left { m } else { n };
    let a = plan.read::<T>(a, used * matrix(order, order, a.step))?;
    let b = plan.write::<T>(b, matrix(m, n, b.step))?;
    let body = move |index| {
        let alpha = alpha.value();
        // SAFETY: S2: named above; what has no part in the result is not followed.
        unsafe {
            let b = Matrix::<T>::new(b.at(index), b.step());
            scale(m, n, alpha, b);
            if alpha == T::ZERO {
                return;
            }
            let a = Triangle::new(Matrix::<T>::new(a.at(index), a.step()), op, left, lower, unit);
            if left {
                solve(m, n, &a, b);
            } else {
                solve(n, m, &a, b.transposed());
            }
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(steps((m, n, order)) / 2.0, body) }
}

/// b = a⁻¹ b, with so many rows and columns of b.
///
/// # Safety
/// The matrices are there, and nobody else uses b.
unsafe fn solve<T: Field>(rows: usize, columns: usize, a: &Triangle<T>, b: Matrix<T>) {
    Triangle::<T>::panels(rows, columns, &|range| {
        // SAFETY: S2, S12: the caller vouches for the matrices; the panels are disjoint.
        unsafe { part(0..rows, range.len(), a, b.from(0, range.start)) };
    });
}

/// Solves the rows that belong to a part of the diagonal, as if the triangle ended there.
///
/// # Safety
/// As [`solve`].
unsafe fn part<T: Field>(rows: Range<usize>, columns: usize, a: &Triangle<T>, b: Matrix<T>) {
    // SAFETY: S2: the caller vouches for the matrices.
    unsafe {
        let Some(Halves { from, to, rectangle }) = a.halves(&rows) else {
            return a.block(&rows).solve(columns, b.from(rows.start, 0));
        };
        let (solved, left) = (b.from(from.start, 0), b.from(to.start, 0));
        let size = (to.len(), columns, from.len());
        part(from, columns, a, b);
        product(size, -T::ONE, rectangle, solved, T::ONE, left);
        part(to, columns, a, b);
    }
}
