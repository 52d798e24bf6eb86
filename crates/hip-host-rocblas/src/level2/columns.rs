//! Products of a vector and a matrix whose columns are only partly stored.

use super::super::level1::reduce::part;
use super::super::parallel;
use super::super::scalar::{Field, Scalar};
use std::ops::Range;

/// The columns of a matrix. Of each, a contiguous part is stored.
pub(super) trait Columns<T>: Sync {
    /// The rows of a column that are stored.
    fn rows(&self, column: usize) -> Range<usize>;
    /// The address of row 0 of a column, whether or not it is stored.
    fn start(&self, column: usize) -> *const T;
}

/// A whole matrix.
pub(super) struct Whole<T> {
    pub(super) start: *const T,
    pub(super) rows: usize,
    pub(super) leading: isize,
}

// SAFETY: S8: an address, of what is only read.
unsafe impl<T: Sync> Sync for Whole<T> {}

impl<T: Sync> Columns<T> for Whole<T> {
    fn rows(&self, _: usize) -> Range<usize> {
        0..self.rows
    }

    fn start(&self, column: usize) -> *const T {
        self.start.wrapping_offset(self.leading.wrapping_mul(column as isize))
    }
}

/// Rows per task of a thread; their sums fit the cache.
const ROWS: usize = 512;

/// The matrix times x: one sum for each of so many rows. There are as many columns as x has elements.
///
/// # Safety
/// The columns are allocated and initialised.
pub(super) unsafe fn times<T: Scalar>(matrix: &impl Columns<T>, rows: usize, x: &[T::Wide]) -> Vec<T::Wide> {
    let parts = parallel::collect(rows, ROWS, 2.0 * x.len() as f64, &|range| {
        let mut sums = vec![T::Wide::ZERO; range.len()];
        for (column, x) in x.iter().enumerate() {
            let has = matrix.rows(column);
            let (first, last) = (has.start.max(range.start), has.end.min(range.end));
            let start = matrix.start(column);
            let sums = sums.get_mut(first.saturating_sub(range.start)..last.saturating_sub(range.start));
            for (sum, row) in sums.unwrap_or_default().iter_mut().zip(first..last) {
                // SAFETY: S2: the caller vouches for the columns.
                let value = unsafe { start.wrapping_add(row).read().wide() };
                *sum = *sum + value * *x;
            }
        }
        sums
    });
    parts.concat()
}

/// The transposed matrix times x: one sum for each of so many columns. x has as many elements as there are rows.
///
/// # Safety
/// As [`times`].
pub(super) unsafe fn transposed_times<T: Scalar>(
    matrix: &impl Columns<T>,
    columns: usize,
    x: &[T::Wide],
    conj: bool,
) -> Vec<T::Wide> {
    let grain = 1 + (1 << 14) / (x.len() + 1);
    let parts = parallel::collect(columns, grain, 2.0 * x.len() as f64, &|range| {
        let column = |column| {
            let start = matrix.start(column);
            // SAFETY: S2: the caller vouches for the columns, and that x is as long.
            let product = |row: usize| unsafe {
                start.wrapping_add(row).read().wide().conj_if(conj) * *x.get_unchecked(row)
            };
            part(matrix.rows(column), &product)
        };
        range.map(column).collect::<Vec<_>>()
    });
    parts.concat()
}
