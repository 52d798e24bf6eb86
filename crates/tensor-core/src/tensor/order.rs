//! Sorting along an axis.

use super::Tensor;
use crate::axis::Axis;
use crate::error::{ErrorKind, On, Result};
use crate::layout::Layout;
use crate::storage::by_device;

/// Sorting along an axis of any length, in either direction. Every device gives the same bits.
///
/// NaN is the largest value, and −0 comes before +0. Descending reverses this order: NaN first, +0 before −0. The sort
/// is stable in both directions, and all NaN are equal. Positions are `u32`.
///
/// The results have new storage. They are contiguous if the axis is the last one, else views with the axis moved back.
/// Sorting along another axis, or a strided tensor, makes a contiguous copy first.
impl Tensor {
    /// The sorted elements along `axis` and their former positions: `(values, positions)`.
    ///
    /// On a GPU, moves each element and each position about twice per doubling of the axis beyond 2048. A million
    /// elements or more, of at most 4 bytes and in rows of 32,768 or more, move twice per 8 bits of an element.
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
    /// # Errors
    /// [`ErrorKind::Axis`]; [`ErrorKind::TooLongForPosition`] if the axis has more than `u32::MAX` elements;
    /// or an error of the device.
    pub fn sort(&self, axis: impl Axis, descending: bool) -> Result<(Tensor, Tensor)> {
        let axis = axis.resolve(self.shape(), "sort").on(self)?;
        self.sorted(axis, descending, self.dims()[axis], "sort")
    }

    /// The positions that sort the elements along `axis`, as `u32`: those of [`Tensor::sort`], without the values.
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

    /// The `k` largest elements along `axis`, largest first, or the `k` smallest, smallest first, and their positions.
    /// These are the first `k` of [`Tensor::sort`], descending if `largest`: NaN is the largest, and among equal
    /// elements the first are taken.
    ///
    /// On a GPU, passes after the first move at most `k` elements of each 2048.
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

    /// The first `keep` sorted elements along `axis`, and their positions.
    fn sorted(
        &self,
        axis: usize,
        descending: bool,
        keep: usize,
        operation: &'static str,
    ) -> Result<(Tensor, Tensor)> {
        let layout = self.last(axis, operation)?;
        let sorted = by_device!(sort::sort(x, &layout, descending, keep, operation), x = self.storage());
        let (values, positions) = sorted.on(self)?;
        let mut shape = layout.shape().clone();
        shape.dims_mut()[self.rank() - 1] = keep;
        let back =
            |storage| Tensor::tight(storage, shape.clone(), operation)?.transpose(axis, self.rank() - 1);
        Ok((back(values)?, back(positions)?))
    }

    fn argsorted(&self, axis: usize, descending: bool, operation: &'static str) -> Result<Tensor> {
        let layout = self.last(axis, operation)?;
        let keep = self.dims()[axis];
        let positions =
            by_device!(sort::argsort(x, &layout, descending, keep, operation), x = self.storage());
        Tensor::tight(positions.on(self)?, layout.shape().clone(), operation)?
            .transpose(axis, self.rank() - 1)
    }

    /// The layout with `axis` and the last axis exchanged. An error if positions along `axis` do not fit `u32`.
    fn last(&self, axis: usize, operation: &'static str) -> Result<Layout> {
        let length = self.dims()[axis];
        if length > u32::MAX as usize {
            let kind = ErrorKind::TooLongForPosition { shape: self.shape().clone(), length };
            return Err(self.error(operation, kind));
        }
        Ok(self.layout.transpose(axis, self.rank() - 1))
    }
}
