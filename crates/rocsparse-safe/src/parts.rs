//! The memory of a sparse matrix, with its sizes: what a matrix is made of, and what it gives back.

use crate::{Error, Index, Result};
use std::fmt;

/// How the entries of a sparse matrix lie in its three pieces of memory: `outer`, `inner` and `values`. Indices start at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// By rows: `outer` has rows + 1 offsets; `inner` has column indices.
    Csr,
    /// By columns: `outer` has columns + 1 offsets; `inner` has row indices.
    Csc,
    /// Each entry with both its indices: `outer` has row indices, `inner` column indices.
    Coo,
    /// Square blocks by rows of blocks: `outer` has offsets of rows of blocks, `inner` columns of blocks, `values` whole blocks.
    Bsr {
        /// The rows and columns of a block.
        block: usize,
        /// How the numbers of a block lie.
        layout: BlockLayout,
    },
    /// So many entries for each row: there is no `outer`. Entry `p` of row `i` is at `p * rows + i`. An index of −1 is padding, which ends a row.
    Ell {
        /// The entries of each row, padding included.
        width: usize,
    },
}

/// How the numbers of a block lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockLayout {
    /// Row by row.
    RowMajor,
    /// Column by column.
    ColumnMajor,
}

/// The memory of a sparse matrix. `A` holds indices and `V` numbers: slices or vectors of the host, or buffers or views of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts<A, V> {
    /// Its rows.
    pub rows: usize,
    /// Its columns.
    pub cols: usize,
    /// How the entries lie.
    pub format: Format,
    /// See [`Format`].
    pub outer: Option<A>,
    /// See [`Format`].
    pub inner: A,
    /// The numbers.
    pub values: V,
}

impl<A, V> Parts<A, V> {
    /// A matrix by rows.
    pub fn csr(rows: usize, cols: usize, offsets: A, col_indices: A, values: V) -> Self {
        Self { rows, cols, format: Format::Csr, outer: Some(offsets), inner: col_indices, values }
    }

    /// A matrix by columns.
    pub fn csc(rows: usize, cols: usize, offsets: A, row_indices: A, values: V) -> Self {
        Self { rows, cols, format: Format::Csc, outer: Some(offsets), inner: row_indices, values }
    }

    /// A matrix of entries with both their indices.
    pub fn coo(rows: usize, cols: usize, row_indices: A, col_indices: A, values: V) -> Self {
        Self { rows, cols, format: Format::Coo, outer: Some(row_indices), inner: col_indices, values }
    }

    /// A matrix of square blocks. Rows and columns are those of numbers, and multiples of `block`.
    pub fn bsr(
        [rows, cols]: [usize; 2],
        (block, layout): (usize, BlockLayout),
        offsets: A,
        col_indices: A,
        values: V,
    ) -> Self {
        let format = Format::Bsr { block, layout };
        Self { rows, cols, format, outer: Some(offsets), inner: col_indices, values }
    }

    /// A matrix with so many entries in each row.
    pub fn ell(rows: usize, cols: usize, width: usize, col_indices: A, values: V) -> Self {
        Self { rows, cols, format: Format::Ell { width }, outer: None, inner: col_indices, values }
    }

    /// Checks the sizes and the lengths of the memory. Returns the stored entries; of a matrix in blocks, the blocks.
    pub(crate) fn check_sizes<I: Index>(
        &self,
        outer: Option<usize>,
        inner: usize,
        values: usize,
    ) -> Result<usize> {
        let fits = |what, size| {
            if size > I::MOST {
                return Err(Error::TooLarge { what, size, index: I::NAME, most: I::MOST });
            }
            Ok(())
        };
        fits("the number of rows", self.rows)?;
        fits("the number of columns", self.cols)?;
        fits("the number of stored entries", inner)?;
        let long =
            |what, needed, len| if needed == len { Ok(()) } else { Err(Error::Length { what, needed, len }) };
        let offsets = |what, needed| {
            outer.map_or(Err(Error::Length { what, needed, len: 0 }), |len| long(what, needed, len))
        };
        let mut per_entry = 1;
        match self.format {
            Format::Csr => offsets("the row offsets", self.rows + 1)?,
            Format::Csc => offsets("the column offsets", self.cols + 1)?,
            Format::Coo => offsets("the row indices", inner)?,
            Format::Bsr { block, .. } => {
                let whole = block > 0 && self.rows.is_multiple_of(block) && self.cols.is_multiple_of(block);
                if !whole {
                    let wanted = "rows and columns have to be multiples of it, and it is at least 1";
                    return Err(Error::Argument { what: "the size of a block", value: block, wanted });
                }
                offsets("the offsets of rows of blocks", self.rows / block + 1)?;
                // Kernels count the elements of blocks in the type of the indices.
                per_entry = block.saturating_mul(block);
                fits("the number of elements of a block", per_entry)?;
                fits("the number of elements of all blocks", inner.saturating_mul(per_entry))?;
            }
            Format::Ell { width } => {
                let Some(needed) = width.checked_mul(self.rows).filter(|&needed| needed <= I::MOST) else {
                    let what = "the number of entries, rows times width,";
                    return Err(Error::TooLarge { what, size: usize::MAX, index: I::NAME, most: I::MOST });
                };
                long("the column indices", needed, inner)?;
                if let Some(len) = outer {
                    return Err(Error::Length {
                        what: "the offsets, which this format has not",
                        needed: 0,
                        len,
                    });
                }
            }
        }
        let needed = inner.saturating_mul(per_entry);
        long("the values", needed, values)?;
        Ok(inner)
    }
}

impl<I, T> Parts<Vec<I>, Vec<T>> {
    /// The same of slices, as [`Parts::upload`] takes them.
    pub fn as_slices(&self) -> Parts<&[I], &[T]> {
        let Self { rows, cols, format, outer, inner, values } = self;
        Parts { rows: *rows, cols: *cols, format: *format, outer: outer.as_deref(), inner, values }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Csr => "CSR",
            Self::Csc => "CSC",
            Self::Coo => "COO",
            Self::Bsr { .. } => "BSR",
            Self::Ell { .. } => "ELL",
        })
    }
}
