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

/// A factor of a product: columns of elements in memory, `leading` elements apart, and the operation on them.
pub struct Factor<W> {
    start: *const u8,
    element_bytes: usize,
    leading: i64,
    op: Op,
    widen: Widen<W>,
}

/// Reads as many elements from an address as the slice has, and writes them there.
pub type Widen<W> = unsafe fn(from: *const u8, to: &mut [W]);

/// Sums of a part of the result: those of a column lie together.
pub struct Tile<'a, W> {
    /// The first row of the part.
    pub row: usize,
    /// Its first column.
    pub column: usize,
    /// How many rows it has.
    pub rows: usize,
    /// The sums, column by column.
    pub sums: &'a [W],
}

/// d = alpha op(a) op(b) + beta c, in `Out::Wide`. c may be d. If `beta` is zero c is not read; if `alpha` or `k` is zero a and b are not.
///
/// # Safety
/// op(a) is m × k, op(b) is k × n, c and d are m × n; nobody else uses d. The factors have elements of type `In`.
pub(super) unsafe fn multiply<In, Out>(
    size: (usize, usize, usize),
    alpha: Out::Wide,
    a: &Factor<In::Wide>,
    b: &Factor<In::Wide>,
    beta: Out::Wide,
    c: Matrix<Out>,
    d: Matrix<Out>,
) where
    In: Scalar,
    Out: Scalar<Wide = In::Wide>,
{
    let (m, n, _) = size;
    let wide = TypeId::of::<In::Wide>();
    // SAFETY: S2, S12: the caller vouches for the matrices; the types are the same where they are cast; the tiles of d are disjoint.
    unsafe {
        if TypeId::of::<In>() == wide && TypeId::of::<Out>() == wide {
            let a = Matrix::new(a.start.cast_mut().cast::<In::Wide>(), a.leading).after(a.op);
            let b = Matrix::new(b.start.cast_mut().cast::<In::Wide>(), b.leading).after(b.op);
            let target = Matrix::new(d.start().cast::<In::Wide>(), d.steps.1 as i64);
            if beta != In::Wide::ZERO && c.start() != d.start() {
                copy(m, n, c, d);
            }
            return product(size, alpha, a, b, beta, target);
        }
        let (zero, (m, n, k)) = (Out::Wide::ZERO, size);
        let depth = if alpha == zero { 0 } else { k };
        sums((m, n, depth), a, b, &|tile| {
            for (y, column) in tile.sums.chunks_exact(tile.rows).enumerate() {
                for (x, &sum) in column.iter().enumerate() {
                    let (row, column) = (tile.row + x, tile.column + y);
                    let old = (beta != zero).then(|| c.get(row, column));
                    let value = if depth == 0 {
                        old.map_or(Out::narrow(zero), |old| Out::combine(zero, zero, beta, Some(old)))
                    } else {
                        Out::combine(alpha, sum, beta, old)
                    };
                    d.set(row, column, value);
                }
            }
        });
    }
}

/// # Safety
/// c and d are m × n; nobody else uses d.
unsafe fn copy<T: Scalar>(m: usize, n: usize, c: Matrix<T>, d: Matrix<T>) {
    parallel::ranges(n, 1 + (1 << 15) / (m + 1), m as f64, &|columns| {
        for column in columns {
            // SAFETY: S2, S12: the caller vouches for the matrices; the columns are disjoint.
            unsafe { std::ptr::copy(c.address_of(0, column), d.address_of(0, column), m) };
        }
    });
}

// SAFETY: S8: an address, of what is only read.
unsafe impl<W> Sync for Factor<W> {}

impl<W> Factor<W> {
    /// A factor with elements of so many bytes each, of which `widen` knows the type.
    pub fn new(
        start: *const u8,
        element_bytes: usize,
        leading: i64,
        transposed: bool,
        widen: Widen<W>,
    ) -> Self {
        Self { start, element_bytes, leading, op: Op { transposed, conjugated: false }, widen }
    }

    /// A factor with elements of type `T`.
    pub(super) fn of<T: Scalar<Wide = W>>(start: *const T, leading: i64, op: Op) -> Self {
        Self { start: start.cast(), element_bytes: size_of::<T>(), leading, op, widen: widen::<T> }
    }

    /// Widens a part of the matrix, after its operation, into a buffer: so many rows and columns from that one on.
    ///
    /// # Safety
    /// The part is in the matrix and is initialised.
    unsafe fn widen(
        &self,
        (row, column): (usize, usize),
        (rows, columns): (usize, usize),
        to: &mut Vec<W>,
    ) -> Matrix<W>
    where
        W: Field,
    {
        to.resize(rows * columns, W::ZERO);
        // Contiguous memory: a column, or a row if the matrix is transposed.
        let (first, length, from, count) =
            if self.op.transposed { (column, columns, row, rows) } else { (row, rows, column, columns) };
        for (line, run) in to.chunks_exact_mut(length.max(1)).enumerate().take(count) {
            let index = ((from + line) as isize).wrapping_mul(self.leading as isize);
            let index = index.wrapping_add(first as isize).wrapping_mul(self.element_bytes as isize);
            // SAFETY: S2, S12: the caller vouches for the part.
            unsafe { (self.widen)(self.start.wrapping_offset(index), run) };
        }
        Matrix::of(to, length).after(self.op)
    }
}

/// # Safety
/// There are as many elements as `to` has.
unsafe fn widen<T: Scalar>(from: *const u8, to: &mut [T::Wide]) {
    // SAFETY: S2, S12: the caller vouches for them.
    let from = unsafe { std::slice::from_raw_parts(from.cast(), to.len()) };
    T::widen(from, to);
}

/// Sums of op(a) op(b) for every element of the result, in parts that together cover it, on several threads if it is large. If `k` is zero
/// the sums are zero, and a and b are not read.
///
/// # Safety
/// op(a) is m × k and op(b) is k × n.
pub(crate) unsafe fn sums<W: Field>(
    (m, n, k): (usize, usize, usize),
    a: &Factor<W>,
    b: &Factor<W>,
    finish: &(dyn Fn(&Tile<'_, W>) + Sync),
) {
    if m == 0 || n == 0 {
        return;
    }
    let (zero, one) = (W::ZERO, W::ONE);
    let down = m.div_ceil(TILE);
    let tile = |index: usize| {
        let (row, column) = (index % down * TILE, index / down * TILE);
        let (rows, columns) = (TILE.min(m - row), TILE.min(n - column));
        let mut sums = vec![zero; rows * columns];
        let all = Matrix::of(&mut sums, rows);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for first in (0..k).step_by(DEPTH) {
            let part = DEPTH.min(k - first);
            // SAFETY: S2, S12: the caller vouches for the matrices; the buffers are this tile's.
            unsafe {
                let left = a.widen((row, first), (rows, part), &mut left);
                let right = b.widen((first, column), (part, columns), &mut right);
                product((rows, columns, part), one, left, right, if first == 0 { zero } else { one }, all);
            }
        }
        finish(&Tile { row, column, rows, sums: &sums });
    };
    let each = steps((TILE.min(m), TILE.min(n), k)) + (TILE * TILE) as f64;
    parallel::each(down * n.div_ceil(TILE), each.min(1e5), &tile);
}
