//! Parts and grids of tensors, and axes merged. These are views: nothing is moved, except where a merge needs it.

use super::Tensor;
use crate::axis::Axis;
use crate::error::{Error, ErrorKind, On, Result};
use crate::shape::Shape;

/// Parts along one axis, as views.
impl Tensor {
    /// The tensor in `count` parts along `axis`. If they cannot be equal, the first ones are longer by one; a shorter axis gives
    /// as many parts as it has elements, and an empty one a single empty part.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if `count` is 0, [`ErrorKind::Axis`].
    pub fn chunk(&self, count: usize, axis: impl Axis) -> Result<Vec<Tensor>> {
        let axis = axis.resolve(self.shape(), "chunk").on(self)?;
        if count == 0 {
            let what = format!("0 chunks of {} make no sense: at least 1 is needed", self.shape());
            return Err(self.error("chunk", ErrorKind::Argument { what }));
        }
        let length = self.dims()[axis];
        let count = count.min(length.max(1));
        self.parts(axis, (0..count).map(|i| length / count + usize::from(i < length % count)), "chunk")
    }

    /// The tensor in parts of `size` along `axis`; the last one may be shorter. An empty axis gives one empty part.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if `size` is 0, [`ErrorKind::Axis`].
    pub fn split(&self, size: usize, axis: impl Axis) -> Result<Vec<Tensor>> {
        let axis = axis.resolve(self.shape(), "split").on(self)?;
        if size == 0 {
            let what = format!("parts of 0 elements of {} make no sense: at least 1 is needed", self.shape());
            return Err(self.error("split", ErrorKind::Argument { what }));
        }
        let length = self.dims()[axis];
        let count = length.div_ceil(size).max(1);
        self.parts(axis, (0..count).map(|i| size.min(length - i * size)), "split")
    }

    /// The tensor in parts of the given lengths along `axis`, which are together the axis's length.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if they are not, [`ErrorKind::Axis`].
    pub fn split_with_sizes(&self, sizes: &[usize], axis: impl Axis) -> Result<Vec<Tensor>> {
        const NAME: &str = "split_with_sizes";
        let axis = axis.resolve(self.shape(), NAME).on(self)?;
        let sum = sizes.iter().try_fold(0usize, |sum, size| sum.checked_add(*size));
        if sum != Some(self.dims()[axis]) {
            let what = format!("{sizes:?} do not add up to axis {axis} of {}", self.shape());
            return Err(self.error(NAME, ErrorKind::Argument { what }));
        }
        self.parts(axis, sizes.iter().copied(), NAME)
    }

    fn parts(
        &self,
        axis: usize,
        sizes: impl Iterator<Item = usize>,
        operation: &'static str,
    ) -> Result<Vec<Tensor>> {
        let mut start = 0;
        sizes
            .map(|size| {
                let layout = self.layout.narrow(axis, start, size, operation).on(self)?;
                start += size;
                self.with_layout(layout)
            })
            .collect()
    }
}

/// Axes merged.
impl Tensor {
    /// All elements along one axis; the same as [`Tensor::flatten`], under candle's name.
    ///
    /// # Errors
    /// As [`Tensor::reshape`].
    pub fn flatten_all(&self) -> Result<Tensor> {
        self.flatten()
    }

    /// The axes from `first` to `last`, both included, as one. Copies only if the strides cannot say it.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`], [`ErrorKind::Argument`] if `last` comes before `first`, and the errors of [`Tensor::reshape`].
    pub fn flatten_axes(&self, first: impl Axis, last: impl Axis) -> Result<Tensor> {
        const NAME: &str = "flatten_axes";
        let first = first.resolve(self.shape(), NAME).on(self)?;
        let last = last.resolve(self.shape(), NAME).on(self)?;
        if last < first {
            let what = format!("axis {last} comes before axis {first} of {}", self.shape());
            return Err(self.error(NAME, ErrorKind::Argument { what }));
        }
        let dims = self.dims();
        let merged = Shape::from(&dims[first..=last]).elements(NAME).on(self)?;
        let shape = dims[..first].iter().copied().chain([merged]).chain(dims[last + 1..].iter().copied());
        self.reshape(shape.collect::<Shape>())
    }

    /// The axes from `first` on as one. Copies only if the strides cannot say it.
    ///
    /// # Errors
    /// As [`Tensor::flatten_axes`].
    pub fn flatten_from(&self, first: impl Axis) -> Result<Tensor> {
        self.flatten_axes(first, -1)
    }

    /// The axes up to `last`, included, as one. Copies only if the strides cannot say it.
    ///
    /// # Errors
    /// As [`Tensor::flatten_axes`].
    pub fn flatten_to(&self, last: impl Axis) -> Result<Tensor> {
        self.flatten_axes(0, last)
    }

    /// A grid of coordinates: for each of the vectors a tensor of the grid's shape, in which that vector varies along an axis of
    /// its own. These are views.
    ///
    /// Axis `i` belongs to tensor `i`; with `xy_indexing` the order of the axes is reversed, so that of two vectors the first
    /// varies along the columns.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] without a tensor, [`ErrorKind::Rank`] if one is no vector, [`ErrorKind::Overflow`].
    pub fn meshgrid<A: AsRef<Tensor>>(tensors: &[A], xy_indexing: bool) -> Result<Vec<Tensor>> {
        const NAME: &str = "meshgrid";
        if tensors.is_empty() {
            let what = "no tensors given: at least one is needed".into();
            return Err(Error::new(NAME, ErrorKind::Argument { what }));
        }
        let mut lengths = Vec::with_capacity(tensors.len());
        for tensor in tensors.iter().map(AsRef::as_ref) {
            let [length] = tensor.dims() else {
                let kind = ErrorKind::Rank { shape: tensor.shape().clone(), expected: "1" };
                return Err(tensor.error(NAME, kind));
            };
            lengths.push(*length);
        }
        let rank = lengths.len();
        let axis_of = |tensor: usize| if xy_indexing { rank - 1 - tensor } else { tensor };
        let shape: Shape = (0..rank).map(|axis| lengths[axis_of(axis)]).collect();
        let grid = |(number, tensor): (usize, &A)| {
            let tensor = tensor.as_ref();
            let mut dims = vec![1; rank];
            dims[axis_of(number)] = lengths[number];
            let column = tensor.view(dims)?;
            column.with_layout(column.layout.expand(&shape, NAME).on(&tensor.device())?)
        };
        tensors.iter().enumerate().map(grid).collect()
    }
}
