//! trmm: c = alpha op(a) b, or alpha b op(a), of a triangular matrix; c may be b.

use super::super::c::forms::forms;
use super::super::check::{
    Outcome, POINTER, SIZE, VALUE, counts, ensure, is_left, is_lower, is_unit, matrix, operation,
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
use std::ops::Range;

forms! { "trmm", "" [T: Element<Value: Field>] [T::Value]
trmm(side: rocblas_side, uplo: rocblas_fill, trans: rocblas_operation, diag: rocblas_diagonal, m: int, n: int,
    alpha: *const T, [a: in T, lda, stride_a], [b: in T, ldb, stride_b], [c: out T, ldc, stride_c], batch) }

unsafe fn trmm<T: Field>(
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
    c: Operand,
    batch: i64,
) -> Outcome {
    let (left, lower, op, unit) = (is_left(side)?, is_lower(uplo)?, operation(trans)?, is_unit(diag)?);
    ensure(c.step >= m && b.step >= m && a.step >= if left { m } else { n }, SIZE)?;
    let [m, n, batch] = counts([m, n, batch])?;
    if m == 0 || n == 0 || batch == 0 {
        return Ok(());
    }
    ensure(!c.is_null(), POINTER)?;
    there(alpha)?;
    let mut plan = Plan::new(call, batch);
    // SAFETY: S11: the C function's contract; the types have the same layout.
    let alpha = unsafe { plan.scalar(alpha.cast::<T>())? };
    let used = usize::from(!alpha.is(T::ZERO));
    ensure(used == 0 || !a.is_null() && !b.is_null(), POINTER)?;
    ensure(!b.is(c) || b.step == c.step, VALUE)?;
    let order = if left { m } else { n };
    let a = plan.read::<T>(a, used * matrix(order, order, a.step))?;
    let b = plan.read::<T>(b, used * matrix(m, n, b.step))?;
    let c = plan.write::<T>(c, matrix(m, n, c.step))?;
    let body = move |index| {
        let alpha = alpha.value();
        // SAFETY: S2: named above; what has no part in the result is not followed.
        unsafe {
            let c = Matrix::<T>::new(c.at(index), c.step());
            if alpha == T::ZERO {
                return scale(m, n, T::ZERO, c);
            }
            let a = Triangle::new(Matrix::<T>::new(a.at(index), a.step()), op, left, lower, unit);
            let b = Matrix::<T>::new(b.at(index), b.step());
            if left {
                multiply(m, n, alpha, &a, b, c);
            } else {
                multiply(n, m, alpha, &a, b.transposed(), c.transposed());
            }
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(steps((m, n, order)) / 2.0, body) }
}

/// c = alpha a b, with so many rows and columns of c.
///
/// # Safety
/// The matrices are there, and nobody else uses c, which may be b.
unsafe fn multiply<T: Field>(
    rows: usize,
    columns: usize,
    alpha: T,
    a: &Triangle<T>,
    b: Matrix<T>,
    c: Matrix<T>,
) {
    Triangle::<T>::panels(rows, columns, &|range| {
        let (b, c) = (b.from(0, range.start), c.from(0, range.start));
        // SAFETY: S2, S12: the caller vouches for the matrices; the panels are disjoint.
        unsafe { part(0..rows, range.len(), alpha, a, b, c) };
    });
}

/// Computes the rows of the result that belong to a part of the diagonal, from the same rows of b.
///
/// # Safety
/// As [`multiply`].
unsafe fn part<T: Field>(
    rows: Range<usize>,
    columns: usize,
    alpha: T,
    a: &Triangle<T>,
    b: Matrix<T>,
    c: Matrix<T>,
) {
    // SAFETY: S2: the caller vouches for the matrices.
    unsafe {
        let Some(Halves { from, to, rectangle }) = a.halves(&rows) else {
            let (b, c) = (b.from(rows.start, 0), c.from(rows.start, 0));
            return a.block(&rows).multiply(columns, alpha, b, c);
        };
        // c may be b, so rows that other rows need are overwritten last.
        let (b_from, c_to) = (b.from(from.start, 0), c.from(to.start, 0));
        let size = (to.len(), columns, from.len());
        part(to, columns, alpha, a, b, c);
        product(size, alpha, rectangle, b_from, T::ONE, c_to);
        part(from, columns, alpha, a, b, c);
    }
}
