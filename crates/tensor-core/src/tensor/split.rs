//! Splitting tensors, merging axes, and grids. These are views; only a merge may have to copy.

use super::Tensor;
use crate::axis::Axis;
use crate::error::{Error, ErrorKind, On, Result};
use crate::shape::Shape;

/// Splitting along an axis into views.
impl Tensor {
    /// Splits the tensor into `count` parts along `axis`. If they cannot be equal, the first parts are longer by one. A
    /// shorter axis gives one part per element, and an empty axis one empty part.
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

    /// Splits the tensor into parts of `size` along `axis`; the last one may be shorter. An empty axis gives one empty
    /// part.
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

    /// Splits the tensor into parts of the given lengths along `axis`. Their sum must be the axis's length.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for another sum, [`ErrorKind::Axis`].
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

/// Merging axes.
impl Tensor {
    /// Merges all axes; the same as [`Tensor::flatten`], under candle's name.
    ///
    /// # Errors
    /// As [`Tensor::reshape`].
    pub fn flatten_all(&self) -> Result<Tensor> {
        self.flatten()
    }

    /// Merges the axes from `first` to `last`, inclusive. Copies only if no strides can express the result.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`], [`ErrorKind::Argument`] if `last` comes before `first`, and the errors of
    /// [`Tensor::reshape`].
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

    /// Merges the axes from `first` on. Copies only if no strides can express the result.
    ///
    /// # Errors
    /// As [`Tensor::flatten_axes`].
    pub fn flatten_from(&self, first: impl Axis) -> Result<Tensor> {
        self.flatten_axes(first, -1)
    }

    /// Merges the axes up to `last`, inclusive. Copies only if no strides can express the result.
    ///
    /// # Errors
    /// As [`Tensor::flatten_axes`].
    pub fn flatten_to(&self, last: impl Axis) -> Result<Tensor> {
        self.flatten_axes(0, last)
    }

    /// A coordinate grid: for each vector, a view of the grid's shape that varies along one axis.
    ///
    /// Tensor `i` varies along axis `i`. `xy_indexing` reverses the order of the axes, so that of two vectors the first
    /// varies along the columns.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if no tensor is given, [`ErrorKind::Rank`] if one is not a vector,
    /// [`ErrorKind::Overflow`].
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
