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
use std::ops::Range;

forms! { "symm", "" [T: Element<Value: Field>] [T::Value]
symm(side: rocblas_side, uplo: rocblas_fill, m: int, n: int, alpha: *const T, [a: in T, lda, stride_a],
    [b: in T, ldb, stride_b], beta: *const T, [c: out T, ldc, stride_c], batch) }

/// With so many rows and columns a product of whole matrices is worth a copy of a that has both halves.
const WORTH_COPY: usize = 64;
/// Rows and columns that are copied at once, of one half by columns and of the other by rows: so many columns find room in a cache,
/// also where they begin at powers of two.
const CELL: usize = 16;
/// To copy an element takes as long as so many steps of arithmetic.
const COPY: f64 = 8.0;
/// Without the copy: rows and columns of the blocks on the diagonal, which are filled up to whole ones.
const BLOCK: usize = 128;

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
            let a = Matrix::<T>::new(a.at(index), a.step());
            let b = Matrix::<T>::new(b.at(index), b.step());
            let mut copy = Vec::new();
            // An a that lies in memory has a size that is a number, of bytes too.
            if m >= WORTH_COPY && n >= WORTH_COPY && copy.try_reserve_exact(order * order).is_ok() {
                let whole = Matrix::new(copy.as_mut_ptr(), order as i64);
                fill(order, lower, a, whole);
                let (one, other) = if left { (whole, b) } else { (b, whole) };
                return product((m, n, order), alpha, one, other, beta, c);
            }
            scale(m, n, beta, c);
            // From the right it is the same of the transposed matrices.
            if left {
                add(m, n, alpha, lower, a, b, c);
            } else {
                add(n, m, alpha, lower, a, b.transposed(), c.transposed());
            }
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(steps((m, n, order)), body) }
}

/// Writes both halves of a, as tight columns.
///
/// # Safety
/// The half is there and is written, whole has room, and nobody else uses it.
unsafe fn fill<T: Field>(order: usize, lower: bool, a: Matrix<T>, whole: Matrix<T>) {
    parallel::ranges(order, CELL, COPY * order as f64, &|columns| {
        // SAFETY: S2, S12: the caller vouches for the half; the columns of the copy are disjoint, and it has room.
        unsafe {
            for column in columns.clone() {
                put(if lower { column..order } else { 0..column + 1 }, column, a, whole);
            }
            for first in (0..order).step_by(CELL) {
                for column in columns.clone() {
                    let other = if lower { 0..column } else { column + 1..order };
                    let rows = first.max(other.start)..(first + CELL).min(other.end);
                    put(rows, column, a.transposed(), whole);
                }
            }
        }
    });
}

/// Copies a part of a column to the same place.
///
/// # Safety
/// The part is there, in both, and nobody else uses the second, whose columns are without gaps.
#[inline(always)]
unsafe fn put<T: Field>(rows: Range<usize>, column: usize, from: Matrix<T>, to: Matrix<T>) {
    let (source, target) = (from.place(rows.start, column), to.place(rows.start, column));
    // SAFETY: S2: the caller vouches for the part.
    unsafe {
        if from.steps.0 == 1 {
            source.copy_to_nonoverlapping(target, rows.len());
        } else {
            for row in 0..rows.len() {
                target.add(row).write(source.offset(row as isize * from.steps.0).read());
            }
        }
    }
}

/// c += alpha a b, with so many rows and columns of c.
///
/// # Safety
/// The matrices are there, and nobody else uses c.
unsafe fn add<T: Field>(
    rows: usize,
    columns: usize,
    alpha: T,
    lower: bool,
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
) {
    let side = BLOCK.min(rows);
    let mut block = Vec::with_capacity(side * side);
    for first in (0..rows).step_by(BLOCK) {
        let size = BLOCK.min(rows - first);
        let (next, rest) = (first + size, rows - first - size);
        let whole = Matrix::new(block.as_mut_ptr(), size as i64);
        // SAFETY: S2: the caller vouches for the matrices; the block has room.
        unsafe {
            fill(size, lower, a.from(first, first), whole);
            let (b_here, b_rest) = (b.from(first, 0), b.from(next, 0));
            let (c_here, c_rest) = (c.from(first, 0), c.from(next, 0));
            product((size, columns, size), alpha, whole, b_here, T::ONE, c_here);
            // The panel below, seen as below or beside the diagonal.
            let panel = if lower { a.from(next, first) } else { a.from(first, next).transposed() };
            product((rest, columns, size), alpha, panel, b_here, T::ONE, c_rest);
            product((size, columns, rest), alpha, panel.transposed(), b_rest, T::ONE, c_here);
        }
    }
}
