//! Sorting along an axis.

use super::Tensor;
use crate::axis::Axis;
use crate::error::{ErrorKind, On, Result};
use crate::layout::Layout;

/// Sorting along an axis of any length, in either direction, on every device with the same result to the bit.
///
/// NaN is the greatest of all, and −0 comes before +0. Descending turns that order round: NaN first, +0 before −0.
/// Equal elements (all NaN are equal) keep their order in both directions. Positions are `u32`.
///
/// The results have storage of their own. They are tight if the axis is the last one, else views with that axis moved
/// to its place. Sorting reads an axis that is not the last, and any strided input, through a tight copy.
impl Tensor {
    /// The elements in order along `axis`, and the positions that they had: `(values, positions)`.
    ///
    /// Moves each element and each position about twice for every doubling of the axis beyond 2048 on a GPU; of a million elements or more
    /// in rows of 32,768 or more, of 4 bytes at most each, twice for every 8 bits of an element.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::new([[2f32, f32::NAN, 1.0, 2.0]], &Device::Cpu)?;
    /// let (values, positions) = x.sort(-1, true)?;
    /// assert_eq!(positions.to_vec2::<u32>()?, [[1, 0, 3, 2]]);
    /// assert_eq!(values.narrow(1, 1, 3)?.to_vec2::<f32>()?, [[2.0, 2.0, 1.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors [`ErrorKind::Axis`]; [`ErrorKind::TooLongForPosition`] if the axis has more than `u32::MAX` elements;
    /// or an error of the device.
    pub fn sort(&self, axis: impl Axis, descending: bool) -> Result<(Tensor, Tensor)> {
        let axis = axis.resolve(self.shape(), "sort").on(self)?;
        self.sorted(axis, descending, self.dims()[axis], "sort")
    }

    /// The positions of the elements in order along `axis`, as `u32`: those of [`Tensor::sort`], without its values.
    ///
    /// # Errors
    /// As [`Tensor::sort`].
    pub fn argsort(&self, axis: impl Axis, descending: bool) -> Result<Tensor> {
        let axis = axis.resolve(self.shape(), "argsort").on(self)?;
        self.argsorted(axis, descending, "argsort")
    }

    /// [`Tensor::sort`] along the last axis: ascending if `asc`, else descending.
    ///
    /// # Errors
    /// As [`Tensor::sort`]; [`ErrorKind::Axis`] for a scalar.
    pub fn sort_last_dim(&self, asc: bool) -> Result<(Tensor, Tensor)> {
        let axis = (-1).resolve(self.shape(), "sort_last_dim").on(self)?;
        self.sorted(axis, !asc, self.dims()[axis], "sort_last_dim")
    }

    /// [`Tensor::argsort`] along the last axis: ascending if `asc`, else descending.
    ///
    /// # Errors
    /// As [`Tensor::sort`]; [`ErrorKind::Axis`] for a scalar.
    pub fn arg_sort_last_dim(&self, asc: bool) -> Result<Tensor> {
        let axis = (-1).resolve(self.shape(), "arg_sort_last_dim").on(self)?;
        self.argsorted(axis, !asc, "arg_sort_last_dim")
    }

    /// The `k` greatest elements along `axis`, the greatest first, or the `k` least, the least first, and the
    /// positions that they had. These are the first `k` of [`Tensor::sort`], descending if `largest`: NaN counts as
    /// the greatest, and of equal elements the first are taken.
    ///
    /// On a GPU no pass after the first moves more than `k` elements of each 2048.
    ///
    /// # Errors
    /// As [`Tensor::sort`]; [`ErrorKind::Argument`] if the axis has fewer than `k` elements.
    pub fn topk(&self, k: usize, axis: impl Axis, largest: bool) -> Result<(Tensor, Tensor)> {
        let axis = axis.resolve(self.shape(), "topk").on(self)?;
        if k > self.dims()[axis] {
            let what =
                format!("{k} elements wanted of {} along axis {axis} of {}", self.dims()[axis], self.shape());
            return Err(self.error("topk", ErrorKind::Argument { what }));
        }
        self.sorted(axis, largest, k, "topk")
    }

    /// The first `keep` elements in order along `axis`, and their positions.
    fn sorted(
        &self,
        axis: usize,
        descending: bool,
        keep: usize,
        operation: &'static str,
    ) -> Result<(Tensor, Tensor)> {
        let layout = self.last(axis, operation)?;
        let (values, positions) = self.storage.sort(&layout, descending, keep, operation).on(self)?;
        let mut shape = layout.shape().clone();
        shape.dims_mut()[self.rank() - 1] = keep;
        let back =
            |storage| Tensor::tight(storage, shape.clone(), operation)?.transpose(axis, self.rank() - 1);
        Ok((back(values)?, back(positions)?))
    }

    fn argsorted(&self, axis: usize, descending: bool, operation: &'static str) -> Result<Tensor> {
        let layout = self.last(axis, operation)?;
        let positions = self.storage.argsort(&layout, descending, self.dims()[axis], operation).on(self)?;
        Tensor::tight(positions, layout.shape().clone(), operation)?.transpose(axis, self.rank() - 1)
    }

    /// The layout with `axis` exchanged with the last, if positions along it fit `u32`.
    fn last(&self, axis: usize, operation: &'static str) -> Result<Layout> {
        let length = self.dims()[axis];
        if length > u32::MAX as usize {
            let kind = ErrorKind::TooLongForPosition { shape: self.shape().clone(), length };
            return Err(self.error(operation, kind));
        }
        Ok(self.layout.transpose(axis, self.rank() - 1))
    }
}
