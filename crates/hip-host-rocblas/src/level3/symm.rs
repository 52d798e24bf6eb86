//! symm: c = alpha a b + beta c, or alpha b a + beta c, of a symmetric a with one triangle in memory.

use super::super::c::forms::forms;
use super::super::check::{Outcome, POINTER, SIZE, counts, ensure, is_left, is_lower, matrix};
use super::super::handle::{Call, begin, status};
use super::super::operand::{Operand, Plan};
use super::super::parallel;
use super::super::scalar::{Element, Field, Int};
use super::matrix::Matrix;
use super::product::{product, scale, steps};
use hip_host::library;
use hip_sys::rocblas::{rocblas_fill, rocblas_handle, rocblas_side, rocblas_status};
use std::ops::Range;

forms! { "symm", "" [T: Element<Value: Field>] [T::Value]
symm(side: rocblas_side, uplo: rocblas_fill, m: int, n: int, alpha: *const T, [a: in T, lda, stride_a],
    [b: in T, ldb, stride_b], beta: *const T, [c: out T, ldc, stride_c], batch) }

/// From this many rows and columns on, a is copied with both triangles before it is multiplied.
const WORTH_COPY: usize = 64;
/// The smallest and the largest number of rows in a panel of the copy. The thread that copies a panel also multiplies it.
const PANEL: Range<usize> = 64..512;
/// Columns of a panel that are copied and multiplied together, so that they fit the cache.
const DEPTH: usize = 512;
/// Rows and columns that are copied together. One triangle is read by columns, the other by rows, so so many columns must fit the cache,
/// even if their addresses are powers of two apart. A panel has this many rows or a multiple.
const CELL: usize = 16;
/// Copying an element takes as long as this many multiplications.
const COPY: f64 = 8.0;
/// Without a copy: rows and columns of the diagonal blocks, which are completed to square matrices.
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
            let whole = m >= WORTH_COPY && n >= WORTH_COPY;
            if !whole {
                scale(m, n, beta, c);
            }
            // From the right it is the same product of the transposed matrices.
            let (columns, b, c) = if left { (n, b, c) } else { (m, b.transposed(), c.transposed()) };
            let a = Half { matrix: a, lower };
            if whole {
                multiply((order, columns), alpha, &a, left, b, beta, c);
            } else {
                add((order, columns), alpha, &a, b, c);
            }
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(steps((m, n, order)), body) }
}

/// A symmetric matrix with one triangle in memory.
struct Half<T> {
    matrix: Matrix<T>,
    lower: bool,
}

impl<T: Field> Half<T> {
    /// Writes a part of the whole matrix as contiguous columns.
    ///
    /// # Safety
    /// The triangle is initialised, the copy is large enough, and nobody else uses it.
    unsafe fn copy(&self, rows: Range<usize>, columns: Range<usize>, to: *mut T) -> Matrix<T> {
        let to = Matrix::new(to, rows.len() as i64);
        parallel::ranges(columns.len(), CELL, COPY * rows.len() as f64, &|part| {
            let here = columns.start + part.start..columns.start + part.end;
            for first in rows.clone().step_by(CELL) {
                let down = first..rows.end.min(first + CELL);
                // SAFETY: S2, S12: the caller vouches for the half; the columns of the copy are disjoint, and it has room.
                unsafe { self.copy_cell(down, here.clone(), to.from(first - rows.start, part.start)) };
            }
        });
        to
    }

    /// As [`Half::copy`], for at most one cell, to contiguous columns.
    ///
    /// # Safety
    /// As for [`Half::copy`].
    unsafe fn copy_cell(&self, rows: Range<usize>, columns: Range<usize>, to: Matrix<T>) {
        let (below, above) = (rows.start >= columns.end, columns.start >= rows.end);
        let full = rows.len() == CELL && columns.len() == CELL;
        for (index, column) in columns.enumerate() {
            let target = to.address_of(0, index);
            // SAFETY: S2: the caller vouches for the half and for the copy.
            unsafe {
                if full && (below || above) {
                    // A length that the compiler knows is faster.
                    if below == self.lower {
                        self.matrix.address_of(rows.start, column).copy_to_nonoverlapping(target, CELL);
                    } else {
                        let (source, step) =
                            (self.matrix.address_of(column, rows.start), self.matrix.steps.1);
                        for row in 0..CELL {
                            target.add(row).write(source.offset(row as isize * step).read());
                        }
                    }
                } else {
                    for (index, row) in rows.clone().enumerate() {
                        let stored = row == column || (row > column) == self.lower;
                        let (row, column) = if stored { (row, column) } else { (column, row) };
                        target.add(index).write(self.matrix.get(row, column));
                    }
                }
            }
        }
    }
}

/// The rows of a panel: evenly divided among the threads, or all rows if that would be too few.
fn panel(rows: usize) -> usize {
    let threads = library::threads();
    if rows < PANEL.start * threads {
        return rows;
    }
    let rounds = rows.div_ceil(PANEL.end * threads);
    rows.div_ceil(rounds * threads).next_multiple_of(CELL)
}

/// c = alpha a b + beta c, with so many rows and columns of c. Each thread copies a panel of a and multiplies it.
///
/// # Safety
/// The matrices are there, and nobody else uses c.
unsafe fn multiply<T: Field>(
    (rows, columns): (usize, usize),
    alpha: T,
    a: &Half<T>,
    left: bool,
    b: Matrix<T>,
    beta: T,
    c: Matrix<T>,
) {
    parallel::ranges(rows, panel(rows), steps((1, columns, rows)), &|part| {
        let mut copy = Vec::with_capacity(part.len() * DEPTH.min(rows));
        for first in (0..rows).step_by(DEPTH) {
            let depth = first..rows.min(first + DEPTH);
            let size = (part.len(), columns, depth.len());
            // SAFETY: S2, S12: the caller vouches for the matrices; the copy has room, and the rows of c are disjoint.
            unsafe {
                // Contiguous memory runs along the rows of c.
                let panel = if left {
                    a.copy(part.clone(), depth, copy.as_mut_ptr())
                } else {
                    a.copy(depth, part.clone(), copy.as_mut_ptr()).transposed()
                };
                let beta = if first == 0 { beta } else { T::ONE };
                product(size, alpha, panel, b.from(first, 0), beta, c.from(part.start, 0));
            }
        }
    });
}

/// c += alpha a b, with so many rows and columns of c.
///
/// # Safety
/// The matrices are there, and nobody else uses c.
unsafe fn add<T: Field>((rows, columns): (usize, usize), alpha: T, a: &Half<T>, b: Matrix<T>, c: Matrix<T>) {
    let side = BLOCK.min(rows);
    let mut block = Vec::with_capacity(side * side);
    for first in (0..rows).step_by(BLOCK) {
        let next = rows.min(first + BLOCK);
        let (size, rest) = (next - first, rows - next);
        // SAFETY: S2: the caller vouches for the matrices; the block has room.
        unsafe {
            let whole = a.copy(first..next, first..next, block.as_mut_ptr());
            let (b_here, b_rest) = (b.from(first, 0), b.from(next, 0));
            let (c_here, c_rest) = (c.from(first, 0), c.from(next, 0));
            product((size, columns, size), alpha, whole, b_here, T::ONE, c_here);
            // The panel below the diagonal block. If the upper triangle is stored, it is the transposed panel beside the block.
            let panel =
                if a.lower { a.matrix.from(next, first) } else { a.matrix.from(first, next).transposed() };
            product((rest, columns, size), alpha, panel, b_here, T::ONE, c_rest);
            product((size, columns, rest), alpha, panel.transposed(), b_rest, T::ONE, c_here);
        }
    }
}
