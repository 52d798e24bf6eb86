//! Matrices as libraries above BLAS take them.

use crate::storage::Storage;
use crate::stored::Stored;
use crate::{MatrixBatch, MatrixBatchMut, Operable};
use hip_safe::{DeviceView, DeviceViewMut};

/// A column-major matrix, or several, in parts: for crates that call a library above BLAS, such as rocsolver-safe.
#[derive(Debug)]
pub struct Columns<V> {
    /// Where the elements are: each view from a matrix's first element to its last.
    pub storage: Storage<V>,
    /// The rows of a matrix.
    pub rows: usize,
    /// Its columns.
    pub cols: usize,
    /// The elements from one column to the next.
    pub ld: usize,
}

impl<'a, T: Operable> MatrixBatch<'a, T> {
    /// Its parts, if it is column-major. A transposed row-major matrix is column-major; a conjugated one has no such parts.
    pub fn into_columns(self) -> Option<Columns<DeviceView<'a, T>>> {
        columns(self.stored, self.storage)
    }
}

impl<'a, T: Operable> MatrixBatchMut<'a, T> {
    /// As [`MatrixBatch::into_columns`].
    pub fn into_columns(self) -> Option<Columns<DeviceViewMut<'a, T>>> {
        columns(self.stored, self.storage)
    }
}

fn columns<V>(stored: Stored, storage: Storage<V>) -> Option<Columns<V>> {
    let stored = stored.stored_as(false).filter(|stored| !stored.flag.conjugated)?;
    Some(Columns { storage, rows: stored.rows, cols: stored.cols, ld: stored.ld })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;

    #[test]
    fn only_columns_have_parts() {
        let of = |layout| Stored::new(2, 3, layout, Some(5)).unwrap();
        let parts = |stored| columns(stored, Storage::One(())).map(|c| (c.rows, c.cols, c.ld));
        assert_eq!(parts(of(Layout::ColMajor)), Some((2, 3, 5)));
        assert_eq!(parts(of(Layout::RowMajor)), None);
        assert_eq!(parts(of(Layout::RowMajor).t()), Some((3, 2, 5)));
        assert_eq!(parts(of(Layout::ColMajor).conj(true)), None);
        let batch = columns(of(Layout::ColMajor), Storage::Strided { view: (), stride: 20, count: 4 });
        assert_eq!(batch.map(|columns| columns.storage.count()), Some(4));
    }
}
