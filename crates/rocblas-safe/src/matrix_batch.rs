//! Batches of matrices: at equal distances, or at arbitrary addresses.

use crate::storage::{self, Storage, cut, cut_mut};
use crate::stored::Stored;
use crate::{Error, Layout, Matrix, MatrixMut, Operable, Result};
use hip_safe::{DeviceSlice, DeviceView, DeviceViewMut};

/// Matrices of one size and layout, for reading. A [`Matrix`] converts to one: an operation uses it with every member of the other batches.
#[derive(Debug, Clone)]
pub struct MatrixBatch<'a, T> {
    pub(crate) stored: Stored,
    pub(crate) storage: Storage<DeviceView<'a, T>>,
}

/// Matrices of one size and layout, for reading and writing. A [`MatrixMut`] is a batch with one member.
#[derive(Debug)]
pub struct MatrixBatchMut<'a, T> {
    pub(crate) stored: Stored,
    pub(crate) storage: Storage<DeviceViewMut<'a, T>>,
}

impl<'a, T: Operable> MatrixBatch<'a, T> {
    /// `count` matrices with a distance of `stride` elements; 0 means that all of them are the same.
    ///
    /// # Errors
    /// As [`Matrix::with_ld`]; no `ld` stands for matrices without gaps.
    pub fn strided(
        view: DeviceView<'a, T>,
        (rows, cols): (usize, usize),
        layout: Layout,
        ld: Option<usize>,
        (count, stride): (usize, usize),
    ) -> Result<Self> {
        Self::of(Stored::new(rows, cols, layout, ld)?, view, count, stride)
    }

    /// `count` matrices with a distance of `stride` elements, by the strides of their rows and columns.
    ///
    /// # Errors
    /// As [`Matrix::from_strides`].
    pub fn from_strides(
        view: DeviceView<'a, T>,
        (rows, cols): (usize, usize),
        (row_stride, col_stride): (usize, usize),
        (count, stride): (usize, usize),
    ) -> Result<Self> {
        Self::of(Stored::from_strides(rows, cols, row_stride, col_stride)?, view, count, stride)
    }

    /// Matrices at arbitrary addresses: calls get an array of the addresses. They have one size, layout and leading dimension.
    ///
    /// A call with such a batch first copies the addresses to the device, and therefore waits for the earlier work of the handle's
    /// stream. In a capture it does not wait: the graph keeps the addresses.
    ///
    /// # Errors
    /// [`Error::Uneven`] if they differ.
    pub fn from_matrices(matrices: impl IntoIterator<Item = Matrix<'a, T>>) -> Result<Self> {
        let members = matrices.into_iter().map(|Matrix { stored, view }| (stored, view));
        let (stored, views) = alike(members)?;
        Ok(Self { stored, storage: Storage::Many(views) })
    }

    fn of(stored: Stored, view: DeviceView<'a, T>, count: usize, stride: usize) -> Result<Self> {
        let needed = batch_span(stored, count, stride)?;
        Ok(Self { stored, storage: Storage::Strided { view: cut("batch", view, needed)?, stride, count } })
    }

    /// How many matrices it has.
    pub fn count(&self) -> usize {
        self.storage.count()
    }

    /// How many rows each has.
    pub fn rows(&self) -> usize {
        self.stored.seen_rows()
    }

    /// How many columns each has.
    pub fn cols(&self) -> usize {
        self.stored.seen_cols()
    }

    /// Each of them transposed.
    #[must_use]
    pub fn t(self) -> Self {
        Self { stored: self.stored.t(), ..self }
    }

    /// Each of them transposed and conjugated.
    #[must_use]
    pub fn h(self) -> Self {
        self.t().conj()
    }

    /// As [`Matrix::conj`].
    #[must_use]
    pub fn conj(self) -> Self {
        Self { stored: self.stored.conj(T::COMPLEX), ..self }
    }
}

impl<'a, T: Operable> MatrixBatchMut<'a, T> {
    /// `count` matrices with a distance of `stride` elements. They may be interleaved, as blocks of columns are, but not overlap.
    ///
    /// # Errors
    /// [`Error::Overlap`], and as [`Matrix::with_ld`]; without `ld` the matrices have no gaps.
    pub fn strided(
        view: DeviceViewMut<'a, T>,
        (rows, cols): (usize, usize),
        layout: Layout,
        ld: Option<usize>,
        (count, stride): (usize, usize),
    ) -> Result<Self> {
        Self::of(Stored::new(rows, cols, layout, ld)?, view, count, stride)
    }

    /// As [`MatrixBatchMut::strided`], by the strides of rows and columns.
    ///
    /// # Errors
    /// [`Error::Overlap`], and as [`Matrix::from_strides`].
    pub fn from_strides(
        view: DeviceViewMut<'a, T>,
        (rows, cols): (usize, usize),
        (row_stride, col_stride): (usize, usize),
        (count, stride): (usize, usize),
    ) -> Result<Self> {
        Self::of(Stored::from_strides(rows, cols, row_stride, col_stride)?, view, count, stride)
    }

    /// As [`MatrixBatch::from_matrices`].
    ///
    /// # Errors
    /// As there.
    pub fn from_matrices(matrices: impl IntoIterator<Item = MatrixMut<'a, T>>) -> Result<Self> {
        let members = matrices.into_iter().map(|MatrixMut { stored, view }| (stored, view));
        let (stored, views) = alike(members)?;
        Ok(Self { stored, storage: Storage::Many(views) })
    }

    fn of(stored: Stored, view: DeviceViewMut<'a, T>, count: usize, stride: usize) -> Result<Self> {
        let needed = batch_span(stored, count, stride)?;
        let [inner, outer] = stored.extents();
        if needed > 0 && !storage::is_injective(&[inner, outer, (count, stride)]) {
            return Err(Error::Overlap { count, stride });
        }
        Ok(Self {
            stored,
            storage: Storage::Strided { view: cut_mut("batch", view, needed)?, stride, count },
        })
    }

    /// How many matrices it has.
    pub fn count(&self) -> usize {
        self.storage.count()
    }

    /// How many rows each has.
    pub fn rows(&self) -> usize {
        self.stored.seen_rows()
    }

    /// How many columns each has.
    pub fn cols(&self) -> usize {
        self.stored.seen_cols()
    }

    /// Each of them transposed, to write.
    #[must_use]
    pub fn t(self) -> Self {
        Self { stored: self.stored.t(), ..self }
    }
}

fn batch_span(stored: Stored, count: usize, stride: usize) -> Result<usize> {
    let [inner, outer] = stored.extents();
    storage::span("batch", &[inner, outer, (count, stride)])
}

/// The members' views, if all are stored alike.
fn alike<V>(members: impl Iterator<Item = (Stored, V)>) -> Result<(Stored, Vec<V>)> {
    let mut first = None;
    let mut views = Vec::new();
    for (index, (stored, view)) in members.enumerate() {
        let known = *first.get_or_insert(stored);
        if stored != known {
            let same_size = stored.size() == known.size();
            let what = if same_size { "layout or leading dimension" } else { "size" };
            return Err(Error::Uneven { index, what });
        }
        views.push(view);
    }
    let none = || Stored::new(0, 0, Layout::ColMajor, None);
    Ok((first.map_or_else(none, Ok)?, views))
}

impl<'a, T: Operable> From<&MatrixBatch<'a, T>> for MatrixBatch<'a, T> {
    fn from(batch: &MatrixBatch<'a, T>) -> Self {
        batch.clone()
    }
}

impl<'a, T: Operable> From<&'a mut MatrixBatchMut<'_, T>> for MatrixBatchMut<'a, T> {
    fn from(batch: &'a mut MatrixBatchMut<'_, T>) -> Self {
        let storage = match &mut batch.storage {
            Storage::One(view) => Storage::One(view.reborrow()),
            &mut Storage::Strided { ref mut view, stride, count } => {
                Storage::Strided { view: view.reborrow(), stride, count }
            }
            Storage::Many(views) => Storage::Many(views.iter_mut().map(DeviceViewMut::reborrow).collect()),
        };
        Self { stored: batch.stored, storage }
    }
}

impl<'a, T: Operable> From<&'a MatrixBatchMut<'_, T>> for MatrixBatch<'a, T> {
    fn from(batch: &'a MatrixBatchMut<'_, T>) -> Self {
        let storage = match &batch.storage {
            Storage::One(view) => Storage::One(view.as_view()),
            &Storage::Strided { ref view, stride, count } => {
                Storage::Strided { view: view.as_view(), stride, count }
            }
            Storage::Many(views) => Storage::Many(views.iter().map(DeviceSlice::as_view).collect()),
        };
        Self { stored: batch.stored, storage }
    }
}
