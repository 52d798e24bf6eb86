//! Matrices in memory, by their strides.

use super::super::check::Op;
use super::super::scalar::Scalar;

/// A matrix in memory, read as it is used: transposed and conjugated if requested.
pub(super) struct Matrix<T> {
    start: *mut T,
    /// The distance in elements to the next row and to the next column.
    pub(super) steps: (isize, isize),
    pub(super) conjugated: bool,
}

impl<T> Clone for Matrix<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Matrix<T> {}

// SAFETY: S8: an address; whoever follows it has a part of its own or only reads.
unsafe impl<T: Send> Send for Matrix<T> {}
// SAFETY: S8: as above.
unsafe impl<T: Sync> Sync for Matrix<T> {}

impl<T: Scalar> Matrix<T> {
    /// A column-major matrix with this leading dimension.
    pub(super) fn new(start: *mut T, leading: i64) -> Self {
        Self { start, steps: (1, leading as isize), conjugated: false }
    }

    /// A column-major matrix without gaps, in a slice.
    pub(super) fn of(values: &mut [T], rows: usize) -> Self {
        Self::new(values.as_mut_ptr(), rows as i64)
    }

    /// The matrix after an operation.
    pub(super) fn after(self, op: Op) -> Self {
        let turned = if op.transposed { self.transposed() } else { self };
        Self { conjugated: turned.conjugated ^ op.conjugated, ..turned }
    }

    pub(super) fn transposed(self) -> Self {
        Self { steps: (self.steps.1, self.steps.0), ..self }
    }

    /// The part that begins at this row and column.
    pub(super) fn from(self, row: usize, column: usize) -> Self {
        Self { start: self.address_of(row, column), ..self }
    }

    pub(super) fn address_of(&self, row: usize, column: usize) -> *mut T {
        let rows = (row as isize).wrapping_mul(self.steps.0);
        self.start.wrapping_offset(rows.wrapping_add((column as isize).wrapping_mul(self.steps.1)))
    }

    pub(super) fn start(&self) -> *mut T {
        self.start
    }

    /// # Safety
    /// The element is in the matrix and is initialised.
    #[inline(always)]
    pub(super) unsafe fn get(&self, row: usize, column: usize) -> T {
        // SAFETY: S2: the caller vouches for it.
        unsafe { self.address_of(row, column).read() }
    }

    /// # Safety
    /// The element is in the matrix, and nobody else uses it.
    #[inline(always)]
    pub(super) unsafe fn set(&self, row: usize, column: usize, value: T) {
        // SAFETY: S2: the caller vouches for it.
        unsafe { self.address_of(row, column).write(value) }
    }
}
