//! Operations on each element, or on each pair of elements.

use std::borrow::Cow;

use super::{CAST_TO_FLOAT, Tensor};
use crate::error::{ErrorKind, On, Result};
use crate::layout::Layout;
use crate::ops::{BinaryOp, CmpOp, ScalarOp, UnaryOp, dtypes_in_words};
use crate::scalar::Scalar;
use crate::storage::{Storage, by_device};

/// Operations chosen at run time. The named methods below call these.
impl Tensor {
    /// `op` of each element. Types of 16 and 8 bits are computed in `f32` and rounded once. For these types HIP devices
    /// compute sigmoid, silu, gelu and gelu_erf with fewer instructions: a result near the midpoint of two numbers may
    /// round to the other one.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedDType`] unless [`UnaryOp::supports`] the dtype, or an error of the device.
    pub fn unary(&self, op: UnaryOp) -> Result<Tensor> {
        self.require(op.name(), op.supports(self.dtype()), CAST_TO_FLOAT)?;
        let storage = by_device!(unary::unary(x, &self.layout, op), x = self.storage()).on(self)?;
        self.tight_alike(storage, op.name())
    }

    /// `op` of each element and `scalar`, which is rounded to the dtype first.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedDType`] for integers, or an error of the device.
    pub fn unary_scalar(&self, op: ScalarOp, scalar: impl Into<Scalar>) -> Result<Tensor> {
        self.require(op.name(), op.supports(self.dtype()), CAST_TO_FLOAT)?;
        let scalar = scalar.into();
        let storage =
            by_device!(unary::unary_scalar(x, &self.layout, op, scalar), x = self.storage()).on(self)?;
        self.tight_alike(storage, op.name())
    }

    /// `op` of each pair of elements, broadcast. Types of 16 and 8 bits are computed in `f32` and rounded once. In silu_mul
    /// and gelu_mul the activation is computed as by [`Tensor::unary`], but not rounded to these types. Its product with an
    /// infinity is NaN where it is 0 in the type that it is computed in, and an infinity or NaN where it is subnormal.
    ///
    /// # Errors
    /// [`ErrorKind::Broadcast`], [`ErrorKind::DTypeMismatch`], [`ErrorKind::DeviceMismatch`],
    /// [`ErrorKind::UnsupportedDType`] (pow, silu_mul and gelu_mul of integers), or an error of the device.
    pub fn binary(&self, other: &Tensor, op: BinaryOp) -> Result<Tensor> {
        self.require_alike(other, op.name())?;
        self.require(op.name(), op.supports(self.dtype()), CAST_TO_FLOAT)?;
        if self.shape() == other.shape() {
            let storage = self.with_other(other, &self.layout, &other.layout, op).on(self)?;
            return self.tight_alike(storage, op.name());
        }
        let (lhs, rhs) = self.broadcast(other, op.name())?;
        let storage = self.with_other(other, &lhs, &rhs, op).on(self)?;
        Tensor::tight(storage, lhs.shape().clone(), op.name())
    }

    /// 1 where `op` holds for a pair of elements, else 0, broadcast: a `u8` tensor.
    ///
    /// # Errors
    /// [`ErrorKind::Broadcast`], [`ErrorKind::DTypeMismatch`], [`ErrorKind::DeviceMismatch`], or an error of the
    /// device.
    pub fn compare(&self, other: &Tensor, op: CmpOp) -> Result<Tensor> {
        self.require_alike(other, op.name())?;
        self.require(op.name(), op.supports(self.dtype()), CAST_TO_FLOAT)?;
        let (lhs, rhs) = self.broadcast(other, op.name())?;
        let storage =
            by_device!(compare::compare(a, &lhs, b, &rhs, op), a = self.storage(), b = other.storage());
        Tensor::tight(storage.on(self)?, lhs.shape().clone(), op.name())
    }

    /// `op` of the elements of two layouts of the same shape.
    #[inline]
    fn with_other(&self, other: &Tensor, lhs: &Layout, rhs: &Layout, op: BinaryOp) -> Result<Storage> {
        by_device!(binary::binary(a, lhs, b, rhs, op), a = self.storage(), b = other.storage())
    }

    /// The layouts of both, expanded to their common shape.
    fn broadcast<'a>(
        &'a self,
        other: &'a Tensor,
        operation: &'static str,
    ) -> Result<(Cow<'a, Layout>, Cow<'a, Layout>)> {
        if self.shape() == other.shape() {
            return Ok((Cow::Borrowed(&self.layout), Cow::Borrowed(&other.layout)));
        }
        let Some(shape) = self.shape().broadcast(other.shape()) else {
            let kind = ErrorKind::Broadcast { lhs: self.shape().clone(), rhs: other.shape().clone() };
            return Err(self.error(operation, kind));
        };
        let expand = |layout: &'a Layout| -> Result<Cow<'a, Layout>> {
            if *layout.shape() == shape {
                return Ok(Cow::Borrowed(layout));
            }
            layout.expand(&shape, operation).on(self).map(Cow::Owned)
        };
        Ok((expand(&self.layout)?, expand(&other.layout)?))
    }
}

/// Makes the methods of a table of `kernels_hip`.
macro_rules! methods {
    (unary; $($(#[$meta:meta])* $op:ident, $method:ident, $dtypes:ident;)+) => {
        /// Unary operations, on each element. The result has the tensor's shape and dtype; the errors are those of
        /// [`Tensor::unary`].
        impl Tensor {
            $(
                $(#[$meta])*
                #[doc = dtypes_in_words!($dtypes)]
                ///
                /// # Errors
                /// As [`Tensor::unary`].
                pub fn $method(&self) -> Result<Tensor> {
                    self.unary(UnaryOp::$op)
                }
            )+
        }
    };
    (scalar; $($(#[$meta:meta])* $op:ident, $method:ident($scalar:ident), $dtypes:ident;)+) => {
        /// Operations on each element with a scalar, which is rounded to the tensor's dtype first; see [`Scalar`]. The
        /// errors are those of [`Tensor::unary_scalar`].
        impl Tensor {
            $(
                $(#[$meta])*
                #[doc = dtypes_in_words!($dtypes)]
                ///
                /// # Errors
                /// As [`Tensor::unary_scalar`].
                pub fn $method(&self, $scalar: impl Into<Scalar>) -> Result<Tensor> {
                    self.unary_scalar(ScalarOp::$op, $scalar)
                }
            )+
        }
    };
    (binary; $($(#[$meta:meta])* $op:ident, $method:ident, $dtypes:ident;)+) => {
        /// Binary operations, on each pair of elements, broadcast. The result has the common shape and the dtype of
        /// both; the errors are those of [`Tensor::binary`].
        impl Tensor {
            $(
                $(#[$meta])*
                #[doc = dtypes_in_words!($dtypes)]
                ///
                /// # Errors
                /// As [`Tensor::binary`].
                #[allow(clippy::should_implement_trait)] // the operator traits are implemented, too
                pub fn $method(&self, other: &Tensor) -> Result<Tensor> {
                    self.binary(other, BinaryOp::$op)
                }
            )+
        }
    };
    (compare; $($(#[$meta:meta])* $op:ident, $method:ident, $dtypes:ident;)+) => {
        /// Comparisons of each pair of elements, broadcast. The result is a `u8` tensor with 1 where the comparison
        /// holds, else 0. NaN is unequal to everything, and −0 equals +0. The errors are those of [`Tensor::compare`].
        impl Tensor {
            $(
                $(#[$meta])*
                ///
                /// # Errors
                /// As [`Tensor::compare`].
                #[allow(clippy::should_implement_trait)] // tensors are not compared as wholes
                pub fn $method(&self, other: &Tensor) -> Result<Tensor> {
                    self.compare(other, CmpOp::$op)
                }
            )+
        }
    };
}

kernels_hip::unary_operations! { methods! unary; }
kernels_hip::scalar_operations! { methods! scalar; }
kernels_hip::binary_operations! { methods! binary; }
kernels_hip::compare_operations! { methods! compare; }

/// Operations with two scalar arguments, which are rounded to the tensor's dtype first; see [`Scalar`].
impl Tensor {
    /// `mul`·x + `add`: one fused multiply-add for floats; integers wrap.
    ///
    /// # Errors
    /// An error of the device.
    pub fn affine(&self, mul: impl Into<Scalar>, add: impl Into<Scalar>) -> Result<Tensor> {
        let (mul, add) = (mul.into(), add.into());
        let storage = by_device!(affine::affine(x, &self.layout, mul, add), x = self.storage()).on(self)?;
        self.tight_alike(storage, "affine")
    }

    /// min(max(x, `lo`), `hi`), which is `hi` if `lo` > `hi`. NaN propagates; −0 is less than +0.
    ///
    /// # Errors
    /// An error of the device.
    pub fn clamp(&self, lo: impl Into<Scalar>, hi: impl Into<Scalar>) -> Result<Tensor> {
        let (lo, hi) = (lo.into(), hi.into());
        let storage = by_device!(clamp::clamp(x, &self.layout, lo, hi), x = self.storage()).on(self)?;
        self.tight_alike(storage, "clamp")
    }
}
