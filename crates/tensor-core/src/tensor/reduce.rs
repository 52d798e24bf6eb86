//! Reductions over any set of axes.

use super::Tensor;
use crate::axis::{Axes, all_axes, reduced_shape};
use crate::error::{ErrorKind, On, Result};
use crate::ops::ReduceOp;
use crate::storage::by_device;

/// Reductions chosen at run time. The named methods below call these.
impl Tensor {
    /// Reduces `axes` by `op`. The axes are dropped, or kept with length 1 if `keepdim`.
    ///
    /// With no axes, each element is reduced by itself. The position of argmin and argmax is the row-major index within
    /// the reduced axes.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`] or [`ErrorKind::RepeatedAxis`]; [`ErrorKind::EmptyReduction`] for min, max, argmin and
    /// argmax of no elements; [`ErrorKind::TooLongForPosition`] if a position does not fit `u32`; or an error of the
    /// device.
    pub fn reduce(&self, op: ReduceOp, axes: impl Axes, keepdim: bool) -> Result<Tensor> {
        let axes = axes.resolve_all(self.shape(), op.name()).on(self)?;
        self.reduce_axes(op, axes, keepdim)
    }

    /// `op` over all axes: a scalar.
    ///
    /// # Errors
    /// As [`Tensor::reduce`].
    pub fn reduce_all(&self, op: ReduceOp) -> Result<Tensor> {
        self.reduce_axes(op, all_axes(self.shape()), false)
    }

    fn reduce_axes(&self, op: ReduceOp, axes: Vec<usize>, keepdim: bool) -> Result<Tensor> {
        let shape = reduced_shape(self.shape(), &axes, keepdim);
        shape.elements(op.name()).on(self)?;
        let length: usize = axes.iter().map(|&axis| self.dims()[axis]).fold(1, usize::saturating_mul);
        if length == 0 && !op.has_identity() {
            return Err(
                self.error(op.name(), ErrorKind::EmptyReduction { shape: self.shape().clone(), axes })
            );
        }
        if op.is_position() && length > u32::MAX as usize {
            let kind = ErrorKind::TooLongForPosition { shape: self.shape().clone(), length };
            return Err(self.error(op.name(), kind));
        }
        let storage = by_device!(reduce::reduce(x, &self.layout, op, &axes), x = self.storage()).on(self)?;
        Tensor::tight(storage, shape, op.name())
    }

    fn mean_axes(&self, axes: Vec<usize>, keepdim: bool) -> Result<Tensor> {
        let remedy = "the mean of integers needs a cast: to_dtype(DType::F32)";
        self.require("mean", self.dtype().is_float(), remedy)?;
        let shape = reduced_shape(self.shape(), &axes, keepdim);
        shape.elements("mean").on(self)?;
        let storage = by_device!(reduce::mean(x, &self.layout, &axes), x = self.storage()).on(self)?;
        Tensor::tight(storage, shape, "mean")
    }
}

macro_rules! reductions {
    ($($op:ident, $method:ident($keepdim:ident, $all:ident), $doc:literal, $dtypes:ident;)+) => {
        /// Reductions by name. The plain form drops the reduced axes, `_keepdim` keeps them with length 1, `_all`
        /// reduces every axis. The errors are those of [`Tensor::reduce`].
        impl Tensor {
            $(
                #[doc = concat!($doc, " over `axes`, which are dropped.")]
                ///
                /// # Errors
                /// As [`Tensor::reduce`].
                pub fn $method(&self, axes: impl Axes) -> Result<Tensor> {
                    self.reduce(ReduceOp::$op, axes, false)
                }

                #[doc = concat!($doc, " over `axes`, which are kept with length 1.")]
                ///
                /// # Errors
                /// As [`Tensor::reduce`].
                pub fn $keepdim(&self, axes: impl Axes) -> Result<Tensor> {
                    self.reduce(ReduceOp::$op, axes, true)
                }

                #[doc = concat!($doc, " over all axes: a scalar.")]
                ///
                /// # Errors
                /// As [`Tensor::reduce`].
                pub fn $all(&self) -> Result<Tensor> {
                    self.reduce_all(ReduceOp::$op)
                }
            )+
        }
    };
}

kernels_hip::reduce_operations! { reductions! }

/// The mean. It accumulates in `f32` (`f64` for `f64`), divides, and rounds to the dtype once. The mean of no elements
/// is NaN.
impl Tensor {
    /// The mean over `axes`, which are dropped. Floats only.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedDType`] for integers, [`ErrorKind::Axis`], [`ErrorKind::RepeatedAxis`], or an error of
    /// the device.
    pub fn mean(&self, axes: impl Axes) -> Result<Tensor> {
        let axes = axes.resolve_all(self.shape(), "mean").on(self)?;
        self.mean_axes(axes, false)
    }

    /// The mean over `axes`, which are kept with length 1. Floats only.
    ///
    /// # Errors
    /// As [`Tensor::mean`].
    pub fn mean_keepdim(&self, axes: impl Axes) -> Result<Tensor> {
        let axes = axes.resolve_all(self.shape(), "mean").on(self)?;
        self.mean_axes(axes, true)
    }

    /// The mean over all axes: a scalar. Floats only.
    ///
    /// # Errors
    /// As [`Tensor::mean`].
    pub fn mean_all(&self) -> Result<Tensor> {
        self.mean_axes(all_axes(self.shape()), false)
    }
}
