//! A triangular matrix that is applied from the left.

use super::super::check::Op;
use super::super::parallel;
use super::super::scalar::Field;
use super::matrix::Matrix;
use std::ops::Range;

/// Rows and columns of the diagonal blocks, which are applied row by row. The parts beside them are multiplied as whole matrices.
const BLOCK: usize = 32;
/// Columns per task of a thread.
const PANEL: usize = 128;
/// Columns to which a block is applied at once.
const LANES: usize = 16;

/// A triangular matrix as it is applied from the left, after transposition and conjugation.
pub(super) struct Triangle<T> {
    matrix: Matrix<T>,
    lower: bool,
    unit: bool,
}

// SAFETY: S8: an address, of what is only read.
unsafe impl<T: Sync> Sync for Triangle<T> {}

/// The parts of a triangle that is cut: two smaller triangles along its diagonal, and the rectangle beside both.
pub(super) struct Halves<T> {
    /// The rows of b that the rectangle is multiplied with, and the rows that the product is added to.
    pub(super) from: Range<usize>,
    pub(super) to: Range<usize>,
    pub(super) rectangle: Matrix<T>,
}

impl<T: Field> Triangle<T> {
    /// op(a). If it is applied from the right, op(a)ᵀ, which is applied to transposed matrices.
    pub(super) fn new(a: Matrix<T>, op: Op, left: bool, lower: bool, unit: bool) -> Self {
        let matrix = if left { a.after(op) } else { a.after(op).transposed() };
        Self { matrix, lower: lower ^ op.transposed ^ !left, unit }
    }

    /// Calls a function for ranges that together cover all columns. The work of a range is that of so many rows.
    pub(super) fn panels(rows: usize, columns: usize, call: &(dyn Fn(Range<usize>) + Sync)) {
        parallel::ranges(columns, PANEL, rows as f64 * rows as f64, call);
    }

    /// Cuts a part of the diagonal in two; `None` if it is a single block.
    pub(super) fn halves(&self, part: &Range<usize>) -> Option<Halves<T>> {
        if part.len() <= BLOCK {
            return None;
        }
        let middle = part.start + (part.len() / 2).next_multiple_of(BLOCK);
        let (first, last) = (part.start..middle, middle..part.end);
        let (from, to) = if self.lower { (first, last) } else { (last, first) };
        let rectangle = self.matrix.from(to.start, from.start);
        Some(Halves { from, to, rectangle })
    }

    /// The diagonal block of a part.
    ///
    /// # Safety
    /// The block is initialised, and is no larger than a block may be.
    pub(super) unsafe fn block(&self, part: &Range<usize>) -> Block<T> {
        let mut rows = vec![[T::ZERO; BLOCK]; part.len()];
        let corner = self.matrix.from(part.start, part.start);
        let size = part.len();
        for (row, values) in rows.iter_mut().enumerate() {
            let stored = if self.lower { 0..row + 1 } else { row..size };
            for column in stored {
                values[column] = if row == column && self.unit {
                    T::ONE
                } else {
                    // SAFETY: S2: the caller vouches for the block.
                    unsafe { corner.get(row, column) }.conj_if(self.matrix.conjugated)
                };
            }
        }
        Block { rows, lower: self.lower, unit: self.unit }
    }
}

/// A diagonal block in row order, with ones on the diagonal if it is a unit triangle.
pub(super) struct Block<T> {
    rows: Vec<[T; BLOCK]>,
    lower: bool,
    unit: bool,
}

/// The rows of a tile of so many columns.
type Tile<T> = [[T; LANES]; BLOCK];

impl<T: Field> Block<T> {
    /// c = alpha block b, for so many columns; c may be b.
    ///
    /// # Safety
    /// b and c have as many rows as the block, and nobody else uses c.
    pub(super) unsafe fn multiply(&self, columns: usize, alpha: T, b: Matrix<T>, c: Matrix<T>) {
        pulp::Arch::new().dispatch(Job::<T, false> { block: self, columns, alpha, from: b, to: c });
    }

    /// b = block⁻¹ b, for so many columns.
    ///
    /// # Safety
    /// b has as many rows as the block, and nobody else uses it.
    pub(super) unsafe fn solve(&self, columns: usize, b: Matrix<T>) {
        let alpha = T::ONE;
        pulp::Arch::new().dispatch(Job::<T, true> { block: self, columns, alpha, from: b, to: b });
    }

    /// alpha times the block's product with the tile.
    #[inline(always)]
    fn multiply_tile(&self, alpha: T, tile: &mut Tile<T>) {
        // A row that no other row needs is overwritten first.
        for step in (0..self.rows.len()).rev() {
            let (row, others) = self.row(step);
            let own = self.rows[row][row];
            let mut sum = tile[row].map(|value| own * value);
            for k in others {
                let factor = self.rows[row][k];
                for (sum, value) in sum.iter_mut().zip(&tile[k]) {
                    *sum = *sum + factor * *value;
                }
            }
            tile[row] = sum.map(|sum| alpha * sum);
        }
    }

    /// The tile that the block's product with is this one.
    #[inline(always)]
    fn solve_tile(&self, tile: &mut Tile<T>) {
        for step in 0..self.rows.len() {
            let (row, others) = self.row(step);
            let mut left = tile[row];
            for k in others {
                let factor = self.rows[row][k];
                for (left, value) in left.iter_mut().zip(&tile[k]) {
                    *left = *left - factor * *value;
                }
            }
            let own = self.rows[row][row];
            tile[row] = if self.unit { left } else { left.map(|left| left.over(own)) };
        }
    }

    /// The row that a step of the solution computes, and the columns beside its diagonal.
    #[inline(always)]
    fn row(&self, step: usize) -> (usize, Range<usize>) {
        if self.lower {
            (step, 0..step)
        } else {
            let row = self.rows.len() - 1 - step;
            (row, row + 1..self.rows.len())
        }
    }
}

/// One application or solution of a block, compiled for AVX2 if the machine has it. The caller of the constructor vouches for the matrices.
struct Job<'a, T, const SOLVES: bool> {
    block: &'a Block<T>,
    columns: usize,
    alpha: T,
    from: Matrix<T>,
    to: Matrix<T>,
}

impl<T: Field, const SOLVES: bool> pulp::NullaryFnOnce for Job<'_, T, SOLVES> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { block, columns, alpha, from, to } = self;
        let mut tile = [[T::ZERO; LANES]; BLOCK];
        for first in (0..columns).step_by(LANES) {
            let lanes = LANES.min(columns - first);
            for lane in 0..lanes {
                for (row, values) in tile.iter_mut().enumerate().take(block.rows.len()) {
                    // SAFETY: S2: who made the job vouches for the matrices.
                    values[lane] = unsafe { from.get(row, first + lane) };
                }
            }
            if SOLVES {
                block.solve_tile(&mut tile);
            } else {
                block.multiply_tile(alpha, &mut tile);
            }
            for lane in 0..lanes {
                for (row, values) in tile.iter().enumerate().take(block.rows.len()) {
                    // SAFETY: S2: as above.
                    unsafe { to.set(row, first + lane, values[lane]) };
                }
            }
        }
    }
}
