//! A matrix without its memory: how it is stored and how it is used.

use crate::flag::Flag;
use crate::storage::{self, Extent};
use crate::{Error, Layout, Result};

/// Columns of `rows` elements each, `ld` elements apart, and what happens to them before use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) ld: usize,
    pub(crate) flag: Flag,
}

impl Stored {
    /// A matrix of `rows` x `cols` as its user sees it; no `ld`: the least one.
    pub(crate) fn new(rows: usize, cols: usize, layout: Layout, ld: Option<usize>) -> Result<Self> {
        let (inner, outer, name, step, flag) = match layout {
            Layout::ColMajor => (rows, cols, "column-major", "column", Flag::NONE),
            Layout::RowMajor => (cols, rows, "row-major", "row", Flag::NONE.t()),
        };
        let ld = ld.unwrap_or(inner.max(1));
        let least = inner.max(1);
        if ld < least {
            return Err(Error::LeadingDimension { layout: name, rows, cols, ld, least, step });
        }
        Self { rows: inner, cols: outer, ld, flag }.checked()
    }

    /// A matrix with these distances, if a BLAS has a word for it.
    pub(crate) fn from_strides(
        rows: usize,
        cols: usize,
        row_stride: usize,
        col_stride: usize,
    ) -> Result<Self> {
        if rows == 0 || cols == 0 {
            return Self::new(rows, cols, Layout::ColMajor, None);
        }
        let by_columns = (row_stride == 1 || rows == 1) && (cols == 1 || col_stride >= rows);
        let by_rows = (col_stride == 1 || cols == 1) && (rows == 1 || row_stride >= cols);
        // The distance between things of which there is one says nothing.
        if by_columns {
            Self::new(rows, cols, Layout::ColMajor, (cols > 1).then_some(col_stride))
        } else if by_rows {
            Self::new(rows, cols, Layout::RowMajor, (rows > 1).then_some(row_stride))
        } else {
            Err(Error::Strides { rows, cols, row_stride, col_stride })
        }
    }

    fn checked(self) -> Result<Self> {
        let fits = |size: usize| i64::try_from(size).is_ok();
        if fits(self.rows) && fits(self.cols) && fits(self.ld) {
            Ok(self)
        } else {
            Err(Error::SizeOverflow { what: "matrix" })
        }
    }

    /// Rows as its user sees them.
    pub(crate) fn seen_rows(self) -> usize {
        if self.flag.transposed { self.cols } else { self.rows }
    }

    /// Columns as its user sees them.
    pub(crate) fn seen_cols(self) -> usize {
        if self.flag.transposed { self.rows } else { self.cols }
    }

    pub(crate) fn t(self) -> Self {
        Self { flag: self.flag.t(), ..self }
    }

    pub(crate) fn conj(self, complex: bool) -> Self {
        Self { flag: self.flag.conj(complex), ..self }
    }

    /// The same elements seen the same way, stored so that they are used transposed, or not. Only rows and columns can be stored in
    /// either way.
    pub(crate) fn stored_as(self, transposed: bool) -> Option<Self> {
        if self.flag.transposed == transposed {
            return Some(self);
        }
        let flag = Flag { transposed, ..self.flag };
        if self.rows == 0 || self.cols == 0 {
            Some(Self { rows: self.cols, cols: self.rows, ld: self.cols.max(1), flag })
        } else if self.cols == 1 {
            // A column of neighbours: as many columns of one element.
            Some(Self { rows: 1, cols: self.rows, ld: 1, flag })
        } else if self.rows == 1 {
            (self.ld == 1).then_some(Self { rows: self.cols, cols: 1, ld: self.cols, flag })
        } else {
            None
        }
    }

    /// The ways in which these elements can be said to be stored: one, or both.
    pub(crate) fn ways(self) -> impl Iterator<Item = Self> {
        std::iter::once(self).chain(self.stored_as(!self.flag.transposed))
    }

    /// The way for which C has a word, once it is transposed or not.
    pub(crate) fn expressible(self, transpose: bool) -> Option<Self> {
        self.ways().find(|way| way.flag.t_if(transpose).operation().is_some())
    }

    pub(crate) fn extents(self) -> [Extent; 2] {
        [(self.rows, 1), (self.cols, self.ld)]
    }

    pub(crate) fn span(self) -> Result<usize> {
        storage::span("matrix", &self.extents())
    }

    /// Its size in messages.
    pub(crate) fn size(self) -> String {
        format!("{} x {}", self.seen_rows(), self.seen_cols())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(stored: Stored) -> (usize, usize, usize, bool) {
        (stored.rows, stored.cols, stored.ld, stored.flag.transposed)
    }

    #[test]
    fn strides_that_a_blas_knows() {
        let of = |rows, cols, rs, cs| Stored::from_strides(rows, cols, rs, cs).map(parts).ok();
        assert_eq!(of(2, 3, 1, 2), Some((2, 3, 2, false)));
        assert_eq!(of(2, 3, 1, 7), Some((2, 3, 7, false)));
        assert_eq!(of(2, 3, 3, 1), Some((3, 2, 3, true)));
        assert_eq!(of(2, 3, 4, 1), Some((3, 2, 4, true)));
        // One row, its elements five apart; one column, likewise.
        assert_eq!(of(1, 3, 99, 5), Some((1, 3, 5, false)));
        assert_eq!(of(3, 1, 5, 99), Some((1, 3, 5, true)));
        assert_eq!(of(1, 1, 0, 0), Some((1, 1, 1, false)));
        assert_eq!(of(0, 3, 0, 0), Some((0, 3, 1, false)));
        // Broadcast, overlapping, or with gaps in both directions.
        assert_eq!(of(2, 3, 0, 1), None);
        assert_eq!(of(2, 3, 1, 1), None);
        assert_eq!(of(2, 3, 2, 6), None);
    }

    #[test]
    fn rows_and_columns_are_both_ways() {
        let column = Stored::new(3, 1, Layout::ColMajor, Some(8)).unwrap();
        assert_eq!(parts(column.stored_as(true).unwrap()), (1, 3, 1, true));
        let row = Stored::new(1, 3, Layout::ColMajor, None).unwrap();
        assert_eq!(parts(row.stored_as(true).unwrap()), (3, 1, 3, true));
        assert!(Stored::new(1, 3, Layout::ColMajor, Some(2)).unwrap().stored_as(true).is_none());
        let square = Stored::new(2, 2, Layout::RowMajor, None).unwrap();
        assert_eq!(square.stored_as(true), Some(square));
        assert!(square.stored_as(false).is_none());
    }

    #[test]
    fn leading_dimensions() {
        assert!(Stored::new(2, 3, Layout::RowMajor, Some(2)).is_err());
        assert!(Stored::new(2, 3, Layout::ColMajor, Some(2)).is_ok());
        assert!(Stored::new(0, 0, Layout::ColMajor, Some(0)).is_err());
        assert!(Stored::new(usize::MAX, 0, Layout::ColMajor, None).is_err());
        let message = Stored::new(2, 3, Layout::RowMajor, Some(2)).unwrap_err().to_string();
        assert_eq!(
            message,
            "a row-major matrix of 2 x 3 needs a leading dimension of 3 at least, not 2: it counts elements from one row to the next"
        );
    }
}
