//! Views: the same elements, or some of them, with another order or shape. No element is moved, except where
//! [`Tensor::reshape`] and [`Tensor::contiguous`] say so.

use super::Tensor;
use crate::axis::{Axes, Axis};
use crate::error::{Error, ErrorKind, On, Result};
use crate::hole::ShapeWithHole;
use crate::layout::Layout;
use crate::shape::Shape;
use crate::storage::by_device;

impl Tensor {
    /// The elements, in row-major order, with another shape. Copies them only if no strides can express the result. One
    /// length of a tuple may be `()`: see [`ShapeWithHole`].
    ///
    /// # Errors
    /// [`ErrorKind::ElementCount`] if the element counts differ, [`ErrorKind::Argument`] if no length fits for `()`,
    /// and the errors of [`Tensor::contiguous`].
    pub fn reshape(&self, shape: impl ShapeWithHole) -> Result<Tensor> {
        let shape = shape.into_shape(self.elements(), "reshape").on(self)?;
        self.require_count(&shape, "reshape")?;
        if let Some(layout) = self.layout.view(&shape) {
            return self.with_layout(layout);
        }
        let storage = by_device!(copy::copy(x, &self.layout), x = self.storage()).on(self)?;
        Tensor::tight(storage, shape, "reshape")
    }

    /// As [`Tensor::reshape`], but never copies.
    ///
    /// # Errors
    /// [`ErrorKind::View`] if a copy would be needed, [`ErrorKind::ElementCount`] if the element counts differ.
    pub fn view(&self, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        self.require_count(&shape, "view")?;
        match self.layout.view(&shape) {
            Some(layout) => self.with_layout(layout),
            None => {
                let from = self.shape().clone();
                Err(self.error("view", ErrorKind::View { from, strides: self.strides().to_vec(), to: shape }))
            }
        }
    }

    /// The elements of the tensor's storage at the offsets of `layout`, which may be others than the tensor's own. No
    /// element is moved.
    ///
    /// ```
    /// use tensor_core::{Device, Layout, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::arange(0f32, 6.0, &Device::Cpu)?;
    /// let windows = x.as_strided(Layout::strided([3, 2], &[2, 1], 0, "windows")?)?;
    /// assert_eq!(windows.to_vec2::<f32>()?, [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::OutOfStorage`] if the layout reaches past the end of the storage.
    #[inline]
    pub fn as_strided(&self, layout: Layout) -> Result<Tensor> {
        self.require_offsets(&layout, "as_strided")?;
        self.view_at(layout)
    }

    /// [`Tensor::as_strided`] of this tensor itself. It holds the storage as before, so that a tensor that has its
    /// storage alone can be written in place through each of several layouts.
    ///
    /// # Errors
    /// As [`Tensor::as_strided`]; the tensor is then unchanged.
    #[inline]
    pub fn as_strided_(&mut self, layout: Layout) -> Result<()> {
        self.require_offsets(&layout, "as_strided_")?;
        self.layout = layout;
        Ok(())
    }

    #[inline]
    fn require_offsets(&self, layout: &Layout, operation: &'static str) -> Result<()> {
        if layout.end() <= self.storage.len() { Ok(()) } else { Err(self.out_of_storage(layout, operation)) }
    }

    #[cold]
    fn out_of_storage(&self, layout: &Layout, operation: &'static str) -> Error {
        let kind = ErrorKind::OutOfStorage { shape: layout.shape().clone(), length: self.storage.len() };
        self.error(operation, kind)
    }

    /// All elements along one axis.
    ///
    /// # Errors
    /// As [`Tensor::contiguous`].
    #[doc(alias = "flatten_all")]
    pub fn flatten(&self) -> Result<Tensor> {
        self.reshape(self.elements())
    }

    /// The tensor with contiguous, row-major elements: itself if it is contiguous already, else a copy.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`], or an error of the device.
    pub fn contiguous(&self) -> Result<Tensor> {
        if self.is_contiguous() { self.share() } else { self.copy() }
    }

    /// A contiguous copy of the elements on new storage.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`], or an error of the device.
    #[doc(alias = "try_clone")]
    pub fn copy(&self) -> Result<Tensor> {
        let storage = by_device!(copy::copy(x, &self.layout), x = self.storage()).on(self)?;
        Tensor::tight(storage, self.shape().clone(), "copy")
    }

    /// The tensor with two axes exchanged.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`].
    pub fn transpose(&self, first: impl Axis, second: impl Axis) -> Result<Tensor> {
        let first = first.resolve(self.shape(), "transpose").on(self)?;
        let second = second.resolve(self.shape(), "transpose").on(self)?;
        self.with_layout(self.layout.transpose(first, second))
    }

    /// The tensor with its last two axes exchanged.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] if there are fewer than two.
    pub fn t(&self) -> Result<Tensor> {
        match self.rank() {
            0 | 1 => {
                Err(self.error("t", ErrorKind::Rank { shape: self.shape().clone(), expected: "at least 2" }))
            }
            rank => self.with_layout(self.layout.transpose(rank - 2, rank - 1)),
        }
    }

    /// The axes in another order: axis `i` of the result is axis `axes[i]` of this tensor.
    ///
    /// # Errors
    /// [`ErrorKind::Permutation`], [`ErrorKind::Axis`] or [`ErrorKind::RepeatedAxis`] unless every axis is given once.
    pub fn permute(&self, axes: impl Axes) -> Result<Tensor> {
        let axes = axes.resolve_all(self.shape(), "permute").on(self)?;
        self.with_layout(self.layout.permute(&axes, "permute").on(self)?)
    }

    /// The elements `start..start + length` along `axis`.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`], or [`ErrorKind::Range`] if they go past the end.
    pub fn narrow(&self, axis: impl Axis, start: usize, length: usize) -> Result<Tensor> {
        let axis = axis.resolve(self.shape(), "narrow").on(self)?;
        self.with_layout(self.layout.narrow(axis, start, length, "narrow").on(self)?)
    }

    /// The elements at `index` along `axis`, without that axis.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`] or [`ErrorKind::Index`].
    pub fn select(&self, axis: impl Axis, index: usize) -> Result<Tensor> {
        let axis = axis.resolve(self.shape(), "select").on(self)?;
        if index >= self.dims()[axis] {
            return Err(self.error("select", ErrorKind::Index { index, axis, shape: self.shape().clone() }));
        }
        let row = self.layout.narrow(axis, index, 1, "select").on(self)?;
        self.with_layout(row.squeeze(axis, "select").on(self)?)
    }

    /// The elements at `index` along the first axis, without that axis.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`] for a scalar, or [`ErrorKind::Index`].
    pub fn get(&self, index: usize) -> Result<Tensor> {
        self.select(0, index)
    }

    /// Drops `axis` if it has length 1; otherwise returns the tensor unchanged.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`].
    pub fn squeeze(&self, axis: impl Axis) -> Result<Tensor> {
        let axis = axis.resolve(self.shape(), "squeeze").on(self)?;
        if self.dims()[axis] != 1 {
            return self.share();
        }
        self.with_layout(self.layout.squeeze(axis, "squeeze").on(self)?)
    }

    /// Adds an axis of length 1, which becomes axis `axis` of the result; `-1` puts it last.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`].
    pub fn unsqueeze(&self, axis: impl Axis) -> Result<Tensor> {
        // Negative axes count from the end of the result, which has one axis more.
        let mut longer = self.shape().clone();
        longer.dims_mut().push(1);
        let axis = axis.resolve(&longer, "unsqueeze").map_err(|error| match error.kind() {
            ErrorKind::Axis { axis, .. } => {
                self.error("unsqueeze", ErrorKind::Axis { axis: *axis, shape: self.shape().clone() })
            }
            _ => error,
        })?;
        self.with_layout(self.layout.unsqueeze(axis))
    }

    /// Broadcasts the tensor to `shape`: axes of length 1 repeat, and new axes are added in front. No element is
    /// copied.
    ///
    /// # Errors
    /// [`ErrorKind::Expand`] if another axis differs in length, [`ErrorKind::Overflow`].
    #[doc(alias = "broadcast_as")]
    pub fn expand(&self, shape: impl Into<Shape>) -> Result<Tensor> {
        self.with_layout(self.layout.expand(&shape.into(), "expand").on(self)?)
    }

    /// The same as [`Tensor::expand`], under candle's name.
    ///
    /// # Errors
    /// As [`Tensor::expand`].
    pub fn broadcast_as(&self, shape: impl Into<Shape>) -> Result<Tensor> {
        self.with_layout(self.layout.expand(&shape.into(), "broadcast_as").on(self)?)
    }

    fn require_count(&self, shape: &Shape, operation: &'static str) -> Result<()> {
        if shape.count() == Some(self.elements()) {
            return Ok(());
        }
        let kind = ErrorKind::ElementCount { from: self.shape().clone(), to: shape.clone() };
        Err(self.error(operation, kind))
    }
}
