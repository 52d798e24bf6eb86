//! Matrices in device memory.

use crate::storage::{self, Storage, cut, cut_mut};
use crate::stored::Stored;
use crate::{Layout, MatrixBatch, MatrixBatchMut, Operable, Result};
use hip_safe::{DeviceSlice, DeviceView, DeviceViewMut};

/// A matrix in device memory, to read. Copying it copies the reference.
///
/// It borrows only the part of the view that it uses. Transposing it is free.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let platform = hip_host::platform();
/// # let stream = hip_safe::Device::new(&platform, 0)?.new_stream()?;
/// use rocblas_safe::{Layout, Matrix};
/// let numbers = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let a = Matrix::new(numbers.view(), 2, 3, Layout::RowMajor)?; // [1 2 3] and [4 5 6]
/// assert_eq!((a.t().rows(), a.t().cols()), (3, 2));
/// assert!(Matrix::new(numbers.view(), 3, 3, Layout::RowMajor).is_err()); // nine elements of six
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a, T> {
    pub(crate) stored: Stored,
    pub(crate) view: DeviceView<'a, T>,
}

/// A matrix in device memory, to read and to write: the only reference to its elements while it lives.
#[derive(Debug)]
pub struct MatrixMut<'a, T> {
    pub(crate) stored: Stored,
    pub(crate) view: DeviceViewMut<'a, T>,
}

impl<'a, T: Operable> Matrix<'a, T> {
    /// A matrix whose rows, or columns, follow each other without gaps.
    ///
    /// # Errors
    /// [`Error::Span`](crate::Error::Span) if the view is too short.
    pub fn new(view: DeviceView<'a, T>, rows: usize, cols: usize, layout: Layout) -> Result<Self> {
        Self::of(Stored::new(rows, cols, layout, None)?, view)
    }

    /// A matrix with `ld` elements from the beginning of one row to that of the next, if it is row-major, or of one column.
    ///
    /// # Errors
    /// [`Error::LeadingDimension`](crate::Error::LeadingDimension) if `ld` is less than a row or column is long;
    /// [`Error::Span`](crate::Error::Span) if the view is too short.
    pub fn with_ld(
        view: DeviceView<'a, T>,
        rows: usize,
        cols: usize,
        layout: Layout,
        ld: usize,
    ) -> Result<Self> {
        Self::of(Stored::new(rows, cols, layout, Some(ld))?, view)
    }

    /// A matrix by the distances in elements from one row to the next and from one column to the next, as tensors have them. One of them must
    /// be 1, and the other must not be shorter than a row or column. The stride of a dimension of length 1 is ignored.
    ///
    /// # Errors
    /// [`Error::Strides`](crate::Error::Strides) if no BLAS can express them: then a copy is needed;
    /// [`Error::Span`](crate::Error::Span) if the view is too short.
    pub fn from_strides(
        view: DeviceView<'a, T>,
        rows: usize,
        cols: usize,
        row_stride: usize,
        col_stride: usize,
    ) -> Result<Self> {
        Self::of(Stored::from_strides(rows, cols, row_stride, col_stride)?, view)
    }

    fn of(stored: Stored, view: DeviceView<'a, T>) -> Result<Self> {
        Ok(Self { stored, view: cut("matrix", view, stored.span()?)? })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.stored.seen_rows()
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.stored.seen_cols()
    }

    /// The transposed matrix.
    #[must_use]
    pub fn t(self) -> Self {
        Self { stored: self.stored.t(), ..self }
    }

    /// The conjugate transposed matrix; of real numbers, the transposed one.
    #[must_use]
    pub fn h(self) -> Self {
        self.t().conj()
    }

    /// The matrix of the conjugate numbers; of real numbers, itself. BLAS conjugates only when it transposes, and whether it transposes depends
    /// on the layouts. If it cannot, the operation returns an error.
    #[must_use]
    pub fn conj(self) -> Self {
        Self { stored: self.stored.conj(T::COMPLEX), ..self }
    }

    /// A batch of `count` times this matrix.
    pub fn repeat(self, count: usize) -> MatrixBatch<'a, T> {
        MatrixBatch { stored: self.stored, storage: Storage::Strided { view: self.view, stride: 0, count } }
    }
}

impl<'a, T: Operable> MatrixMut<'a, T> {
    /// As [`Matrix::new`].
    ///
    /// # Errors
    /// As there.
    pub fn new(view: DeviceViewMut<'a, T>, rows: usize, cols: usize, layout: Layout) -> Result<Self> {
        Self::of(Stored::new(rows, cols, layout, None)?, view)
    }

    /// As [`Matrix::with_ld`]. Gaps between the rows or columns are not written.
    ///
    /// # Errors
    /// As there.
    pub fn with_ld(
        view: DeviceViewMut<'a, T>,
        rows: usize,
        cols: usize,
        layout: Layout,
        ld: usize,
    ) -> Result<Self> {
        Self::of(Stored::new(rows, cols, layout, Some(ld))?, view)
    }

    /// As [`Matrix::from_strides`].
    ///
    /// # Errors
    /// As there.
    pub fn from_strides(
        view: DeviceViewMut<'a, T>,
        rows: usize,
        cols: usize,
        row_stride: usize,
        col_stride: usize,
    ) -> Result<Self> {
        Self::of(Stored::from_strides(rows, cols, row_stride, col_stride)?, view)
    }

    fn of(stored: Stored, view: DeviceViewMut<'a, T>) -> Result<Self> {
        debug_assert!(storage::is_injective(&stored.extents()));
        Ok(Self { stored, view: cut_mut("matrix", view, stored.span()?)? })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.stored.seen_rows()
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.stored.seen_cols()
    }

    /// The transposed matrix, to write.
    #[must_use]
    pub fn t(self) -> Self {
        Self { stored: self.stored.t(), ..self }
    }

    /// The whole matrix for reading, while this borrow lasts.
    pub fn view(&self) -> Matrix<'_, T> {
        Matrix { stored: self.stored, view: self.view.view() }
    }

    /// The whole matrix for writing, while this borrow lasts.
    pub fn reborrow(&mut self) -> MatrixMut<'_, T> {
        MatrixMut { stored: self.stored, view: self.view.reborrow() }
    }
}

impl<'a, T: Operable> From<Matrix<'a, T>> for MatrixBatch<'a, T> {
    fn from(Matrix { stored, view }: Matrix<'a, T>) -> Self {
        Self { stored, storage: Storage::One(view) }
    }
}

impl<'a, T: Operable> From<MatrixMut<'a, T>> for MatrixBatchMut<'a, T> {
    fn from(MatrixMut { stored, view }: MatrixMut<'a, T>) -> Self {
        Self { stored, storage: Storage::One(view) }
    }
}

impl<'a, T: Operable> From<&'a mut MatrixMut<'_, T>> for MatrixBatchMut<'a, T> {
    fn from(matrix: &'a mut MatrixMut<'_, T>) -> Self {
        matrix.reborrow().into()
    }
}

impl<'a, T: Operable> From<&'a MatrixMut<'_, T>> for MatrixBatch<'a, T> {
    fn from(matrix: &'a MatrixMut<'_, T>) -> Self {
        Self { stored: matrix.stored, storage: Storage::One(matrix.view.as_view()) }
    }
}
