//! Matrices as libraries above BLAS take them.

use crate::storage::Storage;
use crate::stored::Stored;
use crate::{MatrixBatch, MatrixBatchMut, Operable};
use hip_safe::{DeviceView, DeviceViewMut};

/// A column-major matrix, or several at equal distances, in parts: for crates that call a library above BLAS, such as rocsolver-safe.
#[derive(Debug)]
pub struct Columns<V> {
    /// The memory from the first element to the last one.
    pub view: V,
    /// The rows of a matrix.
    pub rows: usize,
    /// Its columns.
    pub cols: usize,
    /// The elements from one column to the next.
    pub ld: usize,
    /// How many matrices there are, and the elements from one to the next; `None` for a single one.
    pub batch: Option<(usize, usize)>,
}

impl<'a, T: Operable> MatrixBatch<'a, T> {
    /// Its parts, if it is column-major, and a single matrix or a batch at equal distances. A transposed row-major matrix is column-major; a conjugated
    /// one has no such parts.
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
    let (view, batch) = match storage {
        Storage::One(view) => (view, None),
        Storage::Strided { view, stride, count } => (view, Some((count, stride))),
        Storage::Many(_) => return None,
    };
    Some(Columns { view, rows: stored.rows, cols: stored.cols, ld: stored.ld, batch })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;

    #[test]
    fn only_columns_have_parts() {
        let of = |layout| Stored::new(2, 3, layout, Some(5)).unwrap();
        let parts = |stored| columns(stored, Storage::One(())).map(|c| (c.rows, c.cols, c.ld, c.batch));
        assert_eq!(parts(of(Layout::ColMajor)), Some((2, 3, 5, None)));
        assert_eq!(parts(of(Layout::RowMajor)), None);
        assert_eq!(parts(of(Layout::RowMajor).t()), Some((3, 2, 5, None)));
        assert_eq!(parts(of(Layout::ColMajor).conj(true)), None);
        let batch = columns(of(Layout::ColMajor), Storage::Strided { view: (), stride: 20, count: 4 });
        assert_eq!(batch.and_then(|c| c.batch), Some((4, 20)));
        assert!(columns(of(Layout::ColMajor), Storage::Many(vec![()])).is_none());
    }
}
