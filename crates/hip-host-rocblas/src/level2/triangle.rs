//! A triangular matrix, as columns.

use super::columns::Columns;
use std::ops::Range;

/// The triangle below or above the diagonal of n columns, with or without the diagonal.
pub(super) struct Triangle<T> {
    pub(super) start: *const T,
    pub(super) leading: isize,
    pub(super) n: usize,
    pub(super) lower: bool,
    pub(super) diagonal: bool,
}

// SAFETY: S8: an address, of what is only read.
unsafe impl<T: Sync> Sync for Triangle<T> {}

impl<T: Sync> Columns<T> for Triangle<T> {
    fn rows(&self, column: usize) -> Range<usize> {
        if self.lower {
            column + usize::from(!self.diagonal)..self.n
        } else {
            0..column + usize::from(self.diagonal)
        }
    }

    fn start(&self, column: usize) -> *const T {
        self.start.wrapping_offset(self.leading.wrapping_mul(column as isize))
    }
}
