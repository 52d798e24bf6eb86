//! A triangular matrix that stands left of what it is applied to.

use super::super::check::Op;
use super::super::scalar::Field;
use super::matrix::Matrix;

/// Rows and columns of the blocks on the diagonal, which plain loops work on.
pub(super) const BLOCK: usize = 64;
/// Columns that one thread works on at once.
pub(super) const PANEL: usize = 128;

/// A triangle as it is applied from the left, whatever was done to it.
pub(super) struct Triangle<T> {
    pub(super) matrix: Matrix<T>,
    pub(super) lower: bool,
    unit: bool,
}

// SAFETY: S8: an address, of what is only read.
unsafe impl<T: Sync> Sync for Triangle<T> {}

/// A block on the diagonal, as tight columns, with zeros in the other half.
pub(super) type Block<T> = [T; BLOCK * BLOCK];

impl<T: Field> Triangle<T> {
    /// op(a), or from the right op(a)ᵀ, which is applied to transposed matrices.
    pub(super) fn new(a: Matrix<T>, op: Op, left: bool, lower: bool, unit: bool) -> Self {
        let matrix = if left { a.after(op) } else { a.after(op).transposed() };
        Self { matrix, lower: lower ^ op.transposed ^ !left, unit }
    }

    /// Copies the block that begins there, and has so many rows: as it is applied, with the diagonal that is meant.
    ///
    /// # Safety
    /// The block is there and is written.
    pub(super) unsafe fn block(&self, first: usize, size: usize, to: &mut Block<T>) {
        let corner = self.matrix.from(first, first);
        for column in 0..size {
            for row in 0..size {
                let inside = if self.lower { row > column } else { row < column };
                let value = if row == column && self.unit {
                    T::ONE
                } else if row == column || inside {
                    // SAFETY: S2: the caller vouches for the block.
                    let stored = unsafe { corner.get(row, column) };
                    stored.conj_if(self.matrix.conjugated)
                } else {
                    T::ZERO
                };
                to[column * BLOCK + row] = value;
            }
        }
    }

    /// The rows of a column of a block of so many that lie off its diagonal.
    pub(super) fn beside(&self, column: usize, size: usize) -> std::ops::Range<usize> {
        if self.lower { column + 1..size } else { 0..column }
    }
}
