//! trmm: c = alpha op(a) b, or alpha b op(a), of a triangle; c may be b.

use super::super::c::forms::forms;
use super::super::check::{
    Outcome, POINTER, SIZE, VALUE, counts, ensure, is_left, is_lower, is_unit, matrix, operation,
};
use super::super::handle::{Call, begin, status, there};
use super::super::operand::{Operand, Plan};
use super::super::parallel;
use super::super::scalar::{Element, Field, Int};
use super::matrix::Matrix;
use super::product::{product, scale, steps};
use super::triangle::{BLOCK, PANEL, Triangle};
use hip_sys::rocblas::{
    rocblas_diagonal, rocblas_fill, rocblas_handle, rocblas_operation, rocblas_side, rocblas_status,
};

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
    let each = rows as f64 * rows as f64;
    parallel::ranges(columns, PANEL, each, &|range| {
        let (first, width) = (range.start, range.len());
        // SAFETY: S2, S12: the caller vouches for the matrices; the panels are disjoint.
        unsafe { panel(rows, width, alpha, a, b.from(0, first), c.from(0, first)) };
    });
}

/// # Safety
/// As [`multiply`].
unsafe fn panel<T: Field>(
    rows: usize,
    columns: usize,
    alpha: T,
    a: &Triangle<T>,
    b: Matrix<T>,
    c: Matrix<T>,
) {
    // c may be b, so b is read before anything is written.
    let mut kept = vec![T::ZERO; rows * columns];
    let mut block = [T::ZERO; BLOCK * BLOCK];
    let old = Matrix::of(&mut kept, rows);
    // SAFETY: S2: the caller vouches for the matrices; the buffers have room.
    unsafe {
        for column in 0..columns {
            for row in 0..rows {
                old.set(row, column, b.get(row, column));
            }
        }
        for first in (0..rows).step_by(BLOCK) {
            let size = BLOCK.min(rows - first);
            a.block(first, size, &mut block);
            for column in 0..columns {
                let mut sums = [T::ZERO; BLOCK];
                for k in 0..size {
                    let (factor, of) = (old.get(first + k, column), &block[k * BLOCK..][..size]);
                    sums[k] = sums[k] + of[k] * factor;
                    for row in a.beside(k, size) {
                        sums[row] = sums[row] + of[row] * factor;
                    }
                }
                for (row, sum) in sums.iter().enumerate().take(size) {
                    c.set(first + row, column, alpha * *sum);
                }
            }
            // What lies left of the block, or right of it.
            let (from, count) = if a.lower { (0, first) } else { (first + size, rows - first - size) };
            let beside = a.matrix.from(first, from);
            product((size, columns, count), alpha, beside, old.from(from, 0), T::ONE, c.from(first, 0));
        }
    }
}
