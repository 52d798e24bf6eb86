//! Sparse vectors whose indices were checked.

use crate::raw::VectorDescription;
use crate::{Error, Index, Result, Scalar, check};
use hip_safe::{DeviceBuffer, DeviceSlice, DeviceSliceMut, DeviceViewMut, Stream};
use std::fmt;

/// A sparse vector in device memory: indices, which ascend, and numbers. `A` holds indices and `V` numbers, as in a
/// [`SparseMatrix`](crate::SparseMatrix).
pub struct SparseVector<A, V> {
    elements: usize,
    indices: A,
    values: V,
}

impl<I: Index, T: Scalar> SparseVector<DeviceBuffer<I>, DeviceBuffer<T>> {
    /// Checks data of the host, for a vector of so many elements, and copies it to the stream's device.
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::Length`], [`Error::Index`], [`Error::Order`] for indices that do not ascend; [`Error::Hip`].
    pub fn upload(stream: &Stream, elements: usize, indices: &[I], values: &[T]) -> Result<Self> {
        check_sizes::<I>(elements, indices.len(), values.len())?;
        check::vector(elements, indices)?;
        Ok(Self { elements, indices: stream.upload(indices)?, values: stream.upload(values)? })
    }
}

impl<I: Index, A: DeviceSlice<Item = I>, V: DeviceSlice<Item: Scalar>> SparseVector<A, V> {
    /// A vector of memory of a device. Its indices are copied to the host and checked.
    ///
    /// # Errors
    /// As [`SparseVector::upload`]; [`Error::WrittenByGraph`] for indices that a graph's launches may change, or whose stream captures a
    /// graph.
    pub fn new(stream: &Stream, elements: usize, indices: A, values: V) -> Result<Self> {
        let (view, len) = (indices.as_view(), values.as_view().len());
        check_sizes::<I>(elements, view.len(), len)?;
        check::not_written_by_graphs("the indices", view)?;
        check::vector(elements, &stream.download(&view)?)?;
        Ok(Self { elements, indices, values })
    }

    /// The elements that it stores.
    pub fn stored(&self) -> usize {
        self.values.as_view().len()
    }

    pub(crate) fn describe(&self) -> VectorDescription {
        VectorDescription {
            sizes: [self.elements, self.stored()],
            indices: self.indices.as_view().device_ptr().cast_mut().cast(),
            values: self.values.as_view().device_ptr().cast_mut().cast(),
            index: I::TYPE,
            kind: V::Item::TYPE,
        }
    }
}

impl<A, V> SparseVector<A, V> {
    /// Its elements, zeros included.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Its indices.
    pub fn indices(&self) -> &A {
        &self.indices
    }

    /// Its numbers.
    pub fn values(&self) -> &V {
        &self.values
    }

    /// Gives its memory back: indices and numbers.
    pub fn into_parts(self) -> (A, V) {
        (self.indices, self.values)
    }

    /// Its indices to read and its numbers to write, for one call.
    pub(crate) fn split(&mut self) -> (&A, &mut V) {
        (&self.indices, &mut self.values)
    }
}

impl<A, V: DeviceSliceMut> SparseVector<A, V> {
    /// Its numbers, to change.
    pub fn values_mut(&mut self) -> DeviceViewMut<'_, V::Item> {
        self.values.as_view_mut()
    }
}

fn check_sizes<I: Index>(elements: usize, indices: usize, values: usize) -> Result<()> {
    if elements > I::MOST {
        let what = "the number of elements";
        return Err(Error::TooLarge { what, size: elements, index: I::NAME, most: I::MOST });
    }
    if indices != values {
        return Err(Error::Length { what: "the values", needed: indices, len: values });
    }
    Ok(())
}

impl<A, V> fmt::Debug for SparseVector<A, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SparseVector of {}", self.elements)
    }
}
