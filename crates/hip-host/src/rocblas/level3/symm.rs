//! symm: c = alpha a b + beta c, or alpha b a + beta c, of a symmetric a of which one triangle lies in memory.

use super::super::c::forms::forms;
use super::super::check::{Outcome, POINTER, SIZE, counts, ensure, is_left, is_lower, matrix};
use super::super::handle::{Call, begin, status};
use super::super::operand::{Operand, Plan};
use super::super::parallel;
use super::super::scalar::{Element, Field, Int};
use super::matrix::Matrix;
use super::product::{product, scale, steps};
use hip_sys::rocblas::{rocblas_fill, rocblas_handle, rocblas_side, rocblas_status};
use std::cmp::Ordering;
use std::ops::Range;

forms! { "symm", "" [T: Element<Value: Field>] [T::Value]
symm(side: rocblas_side, uplo: rocblas_fill, m: int, n: int, alpha: *const T, [a: in T, lda, stride_a],
    [b: in T, ldb, stride_b], beta: *const T, [c: out T, ldc, stride_c], batch) }

/// Rows and columns that are copied at once, of one half by columns and of the other by rows.
const BLOCK: usize = 64;

unsafe fn symm<T: Field>(
    call: Call,
    side: rocblas_side,
    uplo: rocblas_fill,
    m: i64,
    n: i64,
    alpha: *const impl Sized,
    a: Operand,
    b: Operand,
    beta: *const impl Sized,
    c: Operand,
    batch: i64,
) -> Outcome {
    let (left, lower) = (is_left(side)?, is_lower(uplo)?);
    ensure(c.step >= m && b.step >= m && a.step >= if left { m } else { n }, SIZE)?;
    let [m, n, batch] = counts([m, n, batch])?;
    if m == 0 || n == 0 || batch == 0 {
        return Ok(());
    }
    ensure(!alpha.is_null() && !beta.is_null(), POINTER)?;
    let mut plan = Plan::new(call, batch);
    // SAFETY: S11: the C function's contract; the types have the same layout.
    let (alpha, beta) = unsafe { (plan.scalar(alpha.cast::<T>())?, plan.scalar(beta.cast::<T>())?) };
    if alpha.is(T::ZERO) && beta.is(T::ONE) {
        return Ok(());
    }
    let used = usize::from(!alpha.is(T::ZERO));
    ensure(!c.is_null() && (used == 0 || !a.is_null() && !b.is_null()), POINTER)?;
    let order = if left { m } else { n };
    let a = plan.read::<T>(a, used * matrix(order, order, a.step))?;
    let b = plan.read::<T>(b, used * matrix(m, n, b.step))?;
    let c = plan.write::<T>(c, matrix(m, n, c.step))?;
    let body = move |index| {
        let (alpha, beta) = (alpha.value(), beta.value());
        // SAFETY: S2: named above; what has no part in the result is not followed.
        unsafe {
            let c = Matrix::<T>::new(c.at(index), c.step());
            if alpha == T::ZERO {
                return scale(m, n, beta, c);
            }
            let mut copy = Vec::new();
            let a = whole(order, lower, Matrix::<T>::new(a.at(index), a.step()), &mut copy);
            let b = Matrix::<T>::new(b.at(index), b.step());
            let (one, other) = if left { (a, b) } else { (b, a) };
            product((m, n, order), alpha, one, other, beta, c);
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(steps((m, n, order)), body) }
}

/// Both halves of a symmetric matrix, as tight columns in memory of `to`: a product of whole matrices is worth the copy.
///
/// # Safety
/// The half is there and is written.
unsafe fn whole<T: Field>(order: usize, lower: bool, a: Matrix<T>, to: &mut Vec<T>) -> Matrix<T> {
    to.reserve_exact(order * order);
    let whole = Matrix::of(to, order);
    // The half that lies in memory, as the lower one.
    let stored = if lower { a } else { a.transposed() };
    parallel::ranges(order, BLOCK, order as f64, &|columns| {
        for first in (0..order).step_by(BLOCK) {
            let rows = first..order.min(first + BLOCK);
            // SAFETY: S2, S12: the caller vouches for the half; the columns of the copy are disjoint, and it has room.
            unsafe {
                match first.cmp(&columns.start) {
                    Ordering::Less => copy(rows, columns.clone(), stored.transposed(), whole),
                    Ordering::Greater => copy(rows, columns.clone(), stored, whole),
                    Ordering::Equal => {
                        for column in columns.clone() {
                            copy(first..column, column..column + 1, stored.transposed(), whole);
                            copy(column..rows.end, column..column + 1, stored, whole);
                        }
                    }
                }
            }
        }
    });
    whole
}

/// # Safety
/// The part is there, in both, and nobody else uses the second.
unsafe fn copy<T: Field>(rows: Range<usize>, columns: Range<usize>, from: Matrix<T>, to: Matrix<T>) {
    for column in columns {
        for row in rows.clone() {
            // SAFETY: S2: the caller vouches for the part.
            unsafe { to.set(row, column, from.get(row, column)) };
        }
    }
}
