//! Batches of vectors: at equal distances, or anywhere.

use crate::storage::{self, Storage, cut, cut_mut};
use crate::vector::Line;
use crate::{Element, Error, Result, Vector, VectorMut};
use hip_safe::{DeviceView, DeviceViewMut};

/// Vectors of one length and increment, to read. A [`Vector`] is one too: an operation uses it with every member of the other batches.
#[derive(Debug, Clone)]
pub struct VectorBatch<'a, T> {
    pub(crate) line: Line,
    pub(crate) storage: Storage<DeviceView<'a, T>>,
}

/// Vectors of one length and increment, to read and to write. A [`VectorMut`] is one of one member.
#[derive(Debug)]
pub struct VectorBatchMut<'a, T> {
    pub(crate) line: Line,
    pub(crate) storage: Storage<DeviceViewMut<'a, T>>,
}

impl<'a, T: Element> VectorBatch<'a, T> {
    /// `count` vectors of `len` elements with the increment `inc`, each `stride` elements behind the one before; 0: all of them are the same.
    ///
    /// # Errors
    /// As [`Vector::with_inc`].
    pub fn strided(
        view: DeviceView<'a, T>,
        len: usize,
        inc: isize,
        (count, stride): (usize, usize),
    ) -> Result<Self> {
        let line = Line::new(len, inc)?;
        let needed = storage::span("batch", &[line.extent(), (count, stride)])?;
        Ok(Self { line, storage: Storage::Strided { view: cut("batch", view, needed)?, stride, count } })
    }

    /// Vectors anywhere: calls get an array of their addresses. They have one length and increment. Calls wait as with
    /// [`MatrixBatch::from_matrices`](crate::MatrixBatch::from_matrices).
    ///
    /// # Errors
    /// [`Error::Uneven`] if they differ.
    pub fn from_vectors(vectors: impl IntoIterator<Item = Vector<'a, T>>) -> Result<Self> {
        let (line, views) = alike(vectors.into_iter().map(|Vector { line, view }| (line, view)))?;
        Ok(Self { line, storage: Storage::Many(views) })
    }

    /// The same elements from the first one in memory on, for operations in which their order does not matter.
    pub(crate) fn forward(self) -> Self {
        Self { line: self.line.forward(), ..self }
    }

    /// How many vectors it has.
    pub fn count(&self) -> usize {
        self.storage.count()
    }

    /// How many elements each has.
    pub fn len(&self) -> usize {
        self.line.len
    }

    /// Whether they have none.
    pub fn is_empty(&self) -> bool {
        self.line.len == 0
    }
}

impl<'a, T: Element> VectorBatchMut<'a, T> {
    /// As [`VectorBatch::strided`]. They may be interleaved, and do not overlap.
    ///
    /// # Errors
    /// [`Error::Overlap`], and as [`Vector::with_inc`].
    pub fn strided(
        view: DeviceViewMut<'a, T>,
        len: usize,
        inc: isize,
        (count, stride): (usize, usize),
    ) -> Result<Self> {
        let line = Line::new(len, inc)?;
        let extents = [line.extent(), (count, stride)];
        let needed = storage::span("batch", &extents)?;
        if needed > 0 && !storage::is_injective(&extents) {
            return Err(Error::Overlap { count, stride });
        }
        Ok(Self { line, storage: Storage::Strided { view: cut_mut("batch", view, needed)?, stride, count } })
    }

    /// As [`VectorBatch::from_vectors`].
    ///
    /// # Errors
    /// As there.
    pub fn from_vectors(vectors: impl IntoIterator<Item = VectorMut<'a, T>>) -> Result<Self> {
        let (line, views) = alike(vectors.into_iter().map(|VectorMut { line, view }| (line, view)))?;
        Ok(Self { line, storage: Storage::Many(views) })
    }

    /// The same elements from the first one in memory on, for operations in which their order does not matter.
    pub(crate) fn forward(self) -> Self {
        Self { line: self.line.forward(), ..self }
    }

    /// How many vectors it has.
    pub fn count(&self) -> usize {
        self.storage.count()
    }

    /// How many elements each has.
    pub fn len(&self) -> usize {
        self.line.len
    }

    /// Whether they have none.
    pub fn is_empty(&self) -> bool {
        self.line.len == 0
    }
}

/// The members' views, if they are alike.
fn alike<V>(members: impl Iterator<Item = (Line, V)>) -> Result<(Line, Vec<V>)> {
    let mut first = None;
    let mut views = Vec::new();
    for (index, (line, view)) in members.enumerate() {
        let known: Line = *first.get_or_insert(line);
        if line != known {
            let what = if line.len == known.len { "increment" } else { "length" };
            return Err(Error::Uneven { index, what });
        }
        views.push(view);
    }
    Ok((first.unwrap_or(Line { len: 0, inc: 1 }), views))
}

impl<'a, T: Element> From<&VectorBatch<'a, T>> for VectorBatch<'a, T> {
    fn from(batch: &VectorBatch<'a, T>) -> Self {
        batch.clone()
    }
}

impl<'a, T: Element> From<&'a mut VectorBatchMut<'_, T>> for VectorBatchMut<'a, T> {
    fn from(batch: &'a mut VectorBatchMut<'_, T>) -> Self {
        let storage = match &mut batch.storage {
            Storage::One(view) => Storage::One(view.reborrow()),
            &mut Storage::Strided { ref mut view, stride, count } => {
                Storage::Strided { view: view.reborrow(), stride, count }
            }
            Storage::Many(views) => Storage::Many(views.iter_mut().map(DeviceViewMut::reborrow).collect()),
        };
        Self { line: batch.line, storage }
    }
}
