//! Products of narrow numbers. Each tile is widened, multiplied and summed, and the sums are rounded once.

use super::super::check::Op;
use super::super::parallel;
use super::super::scalar::{Field, Scalar};
use super::matrix::Matrix;
use super::product::{product, steps};
use std::any::TypeId;

/// Rows and columns of a tile of the result, and the depth that is summed at once. They limit one thread's memory.
const TILE: usize = 256;
const DEPTH: usize = 1024;

/// A matrix in memory, and the operation on it.
pub(super) struct Narrow<T> {
    pub(super) start: *mut T,
    pub(super) leading: i64,
    pub(super) op: Op,
}

/// d = alpha op(a) op(b) + beta c, in `Out::Wide`. c may be d. If `beta` is zero c is not read; if `alpha` or `k` is zero a and b are not.
///
/// # Safety
/// op(a) is m × k, op(b) is k × n, c and d are m × n; nobody else uses d.
pub(super) unsafe fn multiply<In, Out>(
    size: (usize, usize, usize),
    alpha: Out::Wide,
    a: Narrow<In>,
    b: Narrow<In>,
    beta: Out::Wide,
    c: Matrix<Out>,
    d: Matrix<Out>,
) where
    In: Scalar,
    Out: Scalar<Wide = In::Wide>,
{
    let (m, n, _) = size;
    let wide = TypeId::of::<In::Wide>();
    // SAFETY: S2, S12: the caller vouches for the matrices; the types are the same where they are cast.
    unsafe {
        if TypeId::of::<In>() == wide && TypeId::of::<Out>() == wide {
            let a = Matrix::new(a.start.cast::<In::Wide>(), a.leading).after(a.op);
            let b = Matrix::new(b.start.cast::<In::Wide>(), b.leading).after(b.op);
            let target = Matrix::new(d.start().cast::<In::Wide>(), d.steps.1 as i64);
            if beta != In::Wide::ZERO && c.start() != d.start() {
                copy(m, n, c, d);
            }
            return product(size, alpha, a, b, beta, target);
        }
        tiles(size, alpha, &a, &b, beta, c, d);
    }
}

/// # Safety
/// c and d are m × n; nobody else uses d.
unsafe fn copy<T: Scalar>(m: usize, n: usize, c: Matrix<T>, d: Matrix<T>) {
    parallel::ranges(n, 1 + (1 << 15) / (m + 1), m as f64, &|columns| {
        for column in columns {
            // SAFETY: S2, S12: the caller vouches for the matrices; the columns are disjoint.
            unsafe { std::ptr::copy(c.place(0, column), d.place(0, column), m) };
        }
    });
}

// SAFETY: S8: an address, of what is only read.
unsafe impl<T: Sync> Sync for Narrow<T> {}

impl<T: Scalar> Narrow<T> {
    /// Widens a part of the matrix, after its operation, into a buffer: so many rows and columns from that one on.
    ///
    /// # Safety
    /// The part is in the matrix and is initialised.
    unsafe fn widen(
        &self,
        (row, column): (usize, usize),
        (rows, columns): (usize, usize),
        to: &mut Vec<T::Wide>,
    ) -> Matrix<T::Wide> {
        to.resize(rows * columns, T::Wide::ZERO);
        // Contiguous memory: a column, or a row if the matrix is transposed.
        let (first, length, from, count) =
            if self.op.transposed { (column, columns, row, rows) } else { (row, rows, column, columns) };
        let stored = Matrix::new(self.start, self.leading);
        for (place, run) in to.chunks_exact_mut(length.max(1)).enumerate().take(count) {
            // SAFETY: S2, S12: the caller vouches for the part.
            let values = unsafe { std::slice::from_raw_parts(stored.place(first, from + place), length) };
            T::widen(values, run);
        }
        Matrix::of(to, length).after(self.op)
    }
}

/// # Safety
/// As [`multiply`].
unsafe fn tiles<In, Out>(
    (m, n, k): (usize, usize, usize),
    alpha: Out::Wide,
    a: &Narrow<In>,
    b: &Narrow<In>,
    beta: Out::Wide,
    c: Matrix<Out>,
    d: Matrix<Out>,
) where
    In: Scalar,
    Out: Scalar<Wide = In::Wide>,
{
    let (zero, one) = (Out::Wide::ZERO, Out::Wide::ONE);
    let (down, depth) = (m.div_ceil(TILE), if alpha == zero { 0 } else { k });
    let tile = |index: usize| {
        let (row, column) = (index % down * TILE, index / down * TILE);
        let (rows, columns) = (TILE.min(m - row), TILE.min(n - column));
        let mut sums = vec![zero; rows * columns];
        let all = Matrix::of(&mut sums, rows);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for first in (0..depth).step_by(DEPTH) {
            let part = DEPTH.min(depth - first);
            // SAFETY: S2, S12: the caller vouches for the matrices; the buffers are this tile's.
            unsafe {
                let left = a.widen((row, first), (rows, part), &mut left);
                let right = b.widen((first, column), (part, columns), &mut right);
                product((rows, columns, part), one, left, right, if first == 0 { zero } else { one }, all);
            }
        }
        for y in 0..columns {
            for x in 0..rows {
                // SAFETY: S2, S12: as above; the tiles of d are disjoint.
                unsafe {
                    let old = (beta != zero).then(|| c.get(row + x, column + y));
                    let sum = all.get(x, y);
                    let value = if depth == 0 {
                        old.map_or(Out::narrow(zero), |old| Out::combine(zero, zero, beta, Some(old)))
                    } else {
                        Out::combine(alpha, sum, beta, old)
                    };
                    d.set(row + x, column + y, value);
                }
            }
        }
    };
    let each = steps((TILE.min(m), TILE.min(n), depth)) + (TILE * TILE) as f64;
    parallel::each(down * n.div_ceil(TILE), each.min(1e5), &tile);
}
