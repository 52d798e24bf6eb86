//! Indexing as in candle: `x.i(3)`, `x.i(1..)`, `x.i((.., 2, 0..=4))`, `x.i((&ids, 0))`.

use std::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use super::Tensor;
use crate::error::{ErrorKind, On, Result};

/// An index along one axis.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TensorIndexer {
    /// One index; the axis disappears.
    Select(usize),
    /// A range of indices.
    Narrow(Bound<usize>, Bound<usize>),
    /// The indices in a tensor of rank 1 on the same device.
    IndexSelect(Tensor),
    /// Indices in host memory. Copying them to a HIP device waits for it.
    Ids(Vec<u32>),
}

impl From<usize> for TensorIndexer {
    fn from(index: usize) -> Self {
        TensorIndexer::Select(index)
    }
}

impl From<&Tensor> for TensorIndexer {
    fn from(ids: &Tensor) -> Self {
        TensorIndexer::IndexSelect(ids.clone())
    }
}

impl From<Vec<u32>> for TensorIndexer {
    fn from(ids: Vec<u32>) -> Self {
        TensorIndexer::Ids(ids)
    }
}

impl From<&[u32]> for TensorIndexer {
    fn from(ids: &[u32]) -> Self {
        TensorIndexer::Ids(ids.to_vec())
    }
}

macro_rules! ranges {
    ($($range:ty),+) => {
        $(impl From<$range> for TensorIndexer {
            fn from(range: $range) -> Self {
                TensorIndexer::Narrow(range.start_bound().cloned(), RangeBounds::<usize>::end_bound(&range).cloned())
            }
        })+
    };
}

ranges!(Range<usize>, RangeFrom<usize>, RangeInclusive<usize>, RangeTo<usize>, RangeToInclusive<usize>);

impl From<RangeFull> for TensorIndexer {
    fn from(_: RangeFull) -> Self {
        TensorIndexer::Narrow(Bound::Unbounded, Bound::Unbounded)
    }
}

/// Parts of a tensor by index, as in candle.
///
/// An index is a `usize`, which drops its axis; any range of `usize`, such as `..`; or ids: a tensor of rank 1 (see
/// [`Tensor::index_select`]), a `Vec<u32>` or a slice of `u32`. A tuple indexes the first axes, up to six; the other
/// axes are kept. Without ids the result is a view, and nothing is moved.
///
/// ```
/// use tensor_core::{Device, IndexOp, Tensor};
///
/// # fn main() -> tensor_core::Result<()> {
/// let x = Tensor::new([[0f32, 1.0, 2.0], [10.0, 11.0, 12.0]], &Device::Cpu)?;
/// assert_eq!(x.i(1)?.to_vec1::<f32>()?, [10.0, 11.0, 12.0]);
/// assert_eq!(x.i((.., 2))?.to_vec1::<f32>()?, [2.0, 12.0]);
/// assert_eq!(x.i((1, 1..))?.to_vec1::<f32>()?, [11.0, 12.0]);
/// let ids = Tensor::new([2u32, 0], &Device::Cpu)?;
/// assert_eq!(x.i((.., &ids))?.to_vec2::<f32>()?, [[2.0, 0.0], [12.0, 10.0]]);
/// # Ok(())
/// # }
/// ```
pub trait IndexOp<T> {
    /// The part selected by `index`.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for more indices than axes; [`ErrorKind::Index`] or [`ErrorKind::Range`] for an index or a
    /// range past the end of its axis; for ids the errors of [`Tensor::index_select`].
    fn i(&self, index: T) -> Result<Tensor>;
}

impl Tensor {
    fn indexed(&self, indexers: &[TensorIndexer]) -> Result<Tensor> {
        if indexers.len() > self.rank() {
            let kind = ErrorKind::Rank { shape: self.shape().clone(), expected: "an axis for each index" };
            return Err(self.error("i", kind));
        }
        // Selected axes are squeezed last, so that messages number the axes as this tensor does. Views come first and
        // ids after them, so that ids move less.
        let mut layout = self.layout.clone();
        for (axis, indexer) in indexers.iter().enumerate() {
            match indexer {
                TensorIndexer::Select(index) if *index >= self.dims()[axis] => {
                    let kind = ErrorKind::Index { index: *index, axis, shape: self.shape().clone() };
                    return Err(self.error("i", kind));
                }
                TensorIndexer::Select(index) => layout = layout.narrow(axis, *index, 1, "i").on(self)?,
                TensorIndexer::Narrow(start, end) => {
                    let (start, length) = self.span(axis, *start, *end)?;
                    layout = layout.narrow(axis, start, length, "i").on(self)?;
                }
                TensorIndexer::IndexSelect(_) | TensorIndexer::Ids(_) => {}
            }
        }
        let mut tensor = self.with_layout(layout)?;
        for (axis, indexer) in indexers.iter().enumerate() {
            match indexer {
                TensorIndexer::IndexSelect(ids) => tensor = tensor.index_select(ids, axis)?,
                TensorIndexer::Ids(ids) => {
                    let ids = Tensor::from_slice(ids, ids.len(), &self.device())?;
                    tensor = tensor.index_select(&ids, axis)?;
                }
                TensorIndexer::Select(_) | TensorIndexer::Narrow(..) => {}
            }
        }
        for axis in (0..indexers.len()).rev() {
            if matches!(indexers[axis], TensorIndexer::Select(_)) {
                tensor = tensor.squeeze(axis)?;
            }
        }
        Ok(tensor)
    }

    /// First index and length of a range along an axis. A range that ends before it starts is empty.
    fn span(&self, axis: usize, start: Bound<usize>, end: Bound<usize>) -> Result<(usize, usize)> {
        let whole = self.dims()[axis];
        let first = match start {
            Bound::Unbounded => 0,
            Bound::Included(start) => start,
            Bound::Excluded(start) => start.saturating_add(1),
        };
        let end = match end {
            Bound::Unbounded => whole.max(first),
            Bound::Included(end) => end.saturating_add(1),
            Bound::Excluded(end) => end,
        };
        let length = end.saturating_sub(first);
        if first > whole || end > whole {
            let kind = ErrorKind::Range { start: first, length, axis, shape: self.shape().clone() };
            return Err(self.error("i", kind));
        }
        Ok((first, length))
    }
}

impl<A: Into<TensorIndexer>> IndexOp<A> for Tensor {
    fn i(&self, index: A) -> Result<Tensor> {
        self.indexed(&[index.into()])
    }
}

macro_rules! tuples {
    ($(($($part:ident),+))+) => {
        $(impl<$($part: Into<TensorIndexer>),+> IndexOp<($($part,)+)> for Tensor {
            fn i(&self, index: ($($part,)+)) -> Result<Tensor> {
                #[allow(non_snake_case)]
                let ($($part,)+) = index;
                self.indexed(&[$($part.into()),+])
            }
        })+
    };
}

tuples! { (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) }
