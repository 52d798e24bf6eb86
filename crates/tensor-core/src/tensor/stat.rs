//! Statistics over any set of axes, and any/all.

use super::Tensor;
use crate::axis::{Axes, all_axes, reduced_shape};
use crate::error::{On, Result};
use crate::ops::{CmpOp, ReduceOp};
use crate::plan::stat::StatOp;
use crate::scalar::Scalar;
use crate::storage::by_device;

/// The remedy for integers.
const CAST_FIRST: &str = "statistics of integers need a cast: to_dtype(DType::F32)";

impl Tensor {
    fn stat(&self, op: StatOp, axes: Vec<usize>, keepdim: bool) -> Result<Tensor> {
        let name = op.name();
        self.require(name, self.dtype().is_float(), CAST_FIRST)?;
        let shape = reduced_shape(self.shape(), &axes, keepdim);
        shape.elements(name).on(self)?;
        let storage = by_device!(stat::stat(x, &self.layout, op, &axes), x = self.storage()).on(self)?;
        Tensor::tight(storage, shape, name)
    }

    /// Reduces `x ≠ 0` by `op`: max gives any, min gives all.
    fn truth(&self, op: ReduceOp, axes: Vec<usize>, keepdim: bool) -> Result<Tensor> {
        let name = if op == ReduceOp::Max { "any" } else { "all" };
        let shape = reduced_shape(self.shape(), &axes, keepdim);
        shape.elements(name).on(self)?;
        if self.elements() == 0 {
            // Of no elements, any is 0 and all is 1.
            let value = Scalar::Int(i64::from(op == ReduceOp::Min));
            return Tensor::full(value, shape, crate::dtype::DType::U8, &self.device());
        }
        let zero = Tensor::zeros((), self.dtype(), &self.device())?;
        self.compare(&zero, CmpOp::Ne)?.reduce(op, axes, keepdim)
    }
}

macro_rules! statistics {
    ($($op:ident, $name:literal, $method:ident, $keepdim:ident, $all:ident: $doc:literal;)+) => {
        /// Statistics of floats. The plain form drops the reduced axes, `_keepdim` keeps them with length 1, `_all`
        /// reduces every axis. Types of 16 and 8 bits are computed in `f32` or wider and rounded once. Each method
        /// reads the tensor twice, in place.
        impl Tensor {
            $(
                #[doc = concat!($doc, "\n\nOver `axes`, which are dropped.")]
                ///
                /// # Errors
                /// [`crate::ErrorKind::UnsupportedDType`] for integers, [`crate::ErrorKind::Axis`],
                /// [`crate::ErrorKind::RepeatedAxis`], or an error of the device.
                pub fn $method(&self, axes: impl Axes) -> Result<Tensor> {
                    let axes = axes.resolve_all(self.shape(), $name).on(self)?;
                    self.stat(StatOp::$op, axes, false)
                }

                #[doc = concat!($doc, "\n\nOver `axes`, which are kept with length 1.")]
                ///
                /// # Errors
                #[doc = concat!("As [`Tensor::", $name, "`].")]
                pub fn $keepdim(&self, axes: impl Axes) -> Result<Tensor> {
                    let axes = axes.resolve_all(self.shape(), $name).on(self)?;
                    self.stat(StatOp::$op, axes, true)
                }

                #[doc = concat!($doc, "\n\nOver all axes: a scalar.")]
                ///
                /// # Errors
                #[doc = concat!("As [`Tensor::", $name, "`].")]
                pub fn $all(&self) -> Result<Tensor> {
                    self.stat(StatOp::$op, all_axes(self.shape()), false)
                }
            )+
        }
    };
}

statistics! {
    Var, "var", var, var_keepdim, var_all:
        "The unbiased variance: the sum of squared deviations from the mean, divided by n − 1. NaN for fewer than two elements.";
    Std, "std", std, std_keepdim, std_all:
        "The standard deviation: the square root of the unbiased variance. NaN for fewer than two elements.";
    Norm, "norm", norm, norm_keepdim, norm_all:
        "The Euclidean norm, √Σx², without intermediate overflow or underflow. 0 for no elements; NaN takes precedence over infinities.";
    LogSumExp, "log_sum_exp", log_sum_exp, log_sum_exp_keepdim, log_sum_exp_all:
        "log Σ exp x, without intermediate overflow or underflow. −∞ for no elements; NaN takes precedence over +∞.";
}

/// Whether any or all elements are nonzero; NaN is nonzero. The results are `u8`, 1 or 0. These methods allocate a
/// temporary `u8` tensor of this one's shape.
impl Tensor {
    /// Whether any element over `axes` is nonzero; 0 for no elements. The axes are dropped.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Axis`], [`crate::ErrorKind::RepeatedAxis`], or an error of the device.
    pub fn any(&self, axes: impl Axes) -> Result<Tensor> {
        let axes = axes.resolve_all(self.shape(), "any").on(self)?;
        self.truth(ReduceOp::Max, axes, false)
    }

    /// Whether any element over `axes` is nonzero; 0 for no elements. The axes are kept with length 1.
    ///
    /// # Errors
    /// As [`Tensor::any`].
    pub fn any_keepdim(&self, axes: impl Axes) -> Result<Tensor> {
        let axes = axes.resolve_all(self.shape(), "any").on(self)?;
        self.truth(ReduceOp::Max, axes, true)
    }

    /// Whether any element is nonzero; 0 for no elements.
    ///
    /// # Errors
    /// An error of the device.
    pub fn any_all(&self) -> Result<Tensor> {
        self.truth(ReduceOp::Max, all_axes(self.shape()), false)
    }

    /// Whether all elements over `axes` are nonzero; 1 for no elements. The axes are dropped.
    ///
    /// # Errors
    /// As [`Tensor::any`].
    pub fn all(&self, axes: impl Axes) -> Result<Tensor> {
        let axes = axes.resolve_all(self.shape(), "all").on(self)?;
        self.truth(ReduceOp::Min, axes, false)
    }

    /// Whether all elements over `axes` are nonzero; 1 for no elements. The axes are kept with length 1.
    ///
    /// # Errors
    /// As [`Tensor::any`].
    pub fn all_keepdim(&self, axes: impl Axes) -> Result<Tensor> {
        let axes = axes.resolve_all(self.shape(), "all").on(self)?;
        self.truth(ReduceOp::Min, axes, true)
    }

    /// Whether all elements are nonzero; 1 for no elements.
    ///
    /// # Errors
    /// An error of the device.
    pub fn all_all(&self) -> Result<Tensor> {
        self.truth(ReduceOp::Min, all_axes(self.shape()), false)
    }
}
