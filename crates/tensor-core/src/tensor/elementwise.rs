//! Operations on each element, or on each pair of elements.

use std::borrow::Cow;

use super::{CAST_TO_FLOAT, Tensor};
use crate::error::{ErrorKind, On, Result};
use crate::layout::Layout;
use crate::ops::{BinaryOp, CmpOp, ScalarOp, UnaryOp};
use crate::scalar::Scalar;

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
        let storage = self.storage.unary(&self.layout, op).on(self)?;
        self.tight_alike(storage, op.name())
    }

    /// `op` of each element and `scalar`, which is rounded to the dtype first.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedDType`] for integers, or an error of the device.
    pub fn unary_scalar(&self, op: ScalarOp, scalar: impl Into<Scalar>) -> Result<Tensor> {
        self.require(op.name(), op.supports(self.dtype()), CAST_TO_FLOAT)?;
        let storage = self.storage.unary_scalar(&self.layout, op, scalar.into()).on(self)?;
        self.tight_alike(storage, op.name())
    }

    /// `op` of each pair of elements, broadcast.
    ///
    /// # Errors
    /// [`ErrorKind::Broadcast`], [`ErrorKind::DTypeMismatch`], [`ErrorKind::DeviceMismatch`],
    /// [`ErrorKind::UnsupportedDType`] (pow of integers), or an error of the device.
    pub fn binary(&self, other: &Tensor, op: BinaryOp) -> Result<Tensor> {
        self.require_alike(other, op.name())?;
        self.require(op.name(), op.supports(self.dtype()), CAST_TO_FLOAT)?;
        if self.shape() == other.shape() {
            let storage = self.storage.binary(&self.layout, &other.storage, &other.layout, op).on(self)?;
            return self.tight_alike(storage, op.name());
        }
        let (lhs, rhs) = self.broadcast(other, op.name())?;
        let storage = self.storage.binary(&lhs, &other.storage, &rhs, op).on(self)?;
        Tensor::tight(storage, lhs.shape().clone(), op.name())
    }

    /// 1 where `op` holds for a pair of elements, else 0, broadcast: a `u8` tensor.
    ///
    /// # Errors
    /// [`ErrorKind::Broadcast`], [`ErrorKind::DTypeMismatch`], [`ErrorKind::DeviceMismatch`], or an error of the
    /// device.
    pub fn compare(&self, other: &Tensor, op: CmpOp) -> Result<Tensor> {
        self.require_alike(other, op.name())?;
        let (lhs, rhs) = self.broadcast(other, op.name())?;
        let storage = self.storage.compare(&lhs, &other.storage, &rhs, op).on(self)?;
        Tensor::tight(storage, lhs.shape().clone(), op.name())
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

macro_rules! unary {
    ($($(#[$doc:meta])* $method:ident = $op:ident;)+) => {
        /// Unary operations, on each element. The result has the tensor's shape and dtype; the errors are those of
        /// [`Tensor::unary`].
        impl Tensor {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// As [`Tensor::unary`].
                pub fn $method(&self) -> Result<Tensor> {
                    self.unary(UnaryOp::$op)
                }
            )+
        }
    };
}

unary! {
    /// −x. Integers wrap.
    neg = Neg;
    /// |x|. Integers wrap, so that the minimum stays.
    abs = Abs;
    /// 1 above zero, −1 below, 0 for zeros and for NaN.
    sign = Sign;
    /// x·x. Integers wrap.
    sqr = Sqr;
    /// √x, correctly rounded; NaN below zero. Floats only.
    sqrt = Sqrt;
    /// 1/√x. Floats only.
    rsqrt = Rsqrt;
    /// 1/x, correctly rounded. Floats only.
    recip = Recip;
    /// eˣ. Floats only.
    exp = Exp;
    /// The natural logarithm. Floats only.
    #[doc(alias = "ln")]
    log = Log;
    /// The sine of x in radians. Floats only.
    sin = Sin;
    /// The cosine of x in radians. Floats only.
    cos = Cos;
    /// The tangent of x in radians. Floats only.
    tan = Tan;
    /// The hyperbolic tangent. Floats only.
    tanh = Tanh;
    /// 1/(1 + e⁻ˣ). Floats only; for 16 and 8 bits see [`Tensor::unary`].
    sigmoid = Sigmoid;
    /// The error function. Floats only.
    erf = Erf;
    /// GELU by its tanh formula: x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))). Floats only; for 16 and 8 bits see
    /// [`Tensor::unary`].
    gelu = Gelu;
    /// GELU by its definition: x/2·(1 + erf(x/√2)). Floats only; for 16 and 8 bits see [`Tensor::unary`].
    gelu_erf = GeluErf;
    /// max(x, 0). NaN gives NaN, −0 gives +0.
    relu = Relu;
    /// x/(1 + e⁻ˣ); NaN at −∞. Floats only; for 16 and 8 bits see [`Tensor::unary`].
    silu = Silu;
    /// ln(1 + eˣ). Floats only.
    softplus = Softplus;
    /// The least integer not below x. Floats only.
    ceil = Ceil;
    /// The greatest integer not above x. Floats only.
    floor = Floor;
    /// The nearest integer, halves away from zero. Floats only.
    round = Round;
}

macro_rules! binary {
    ($($(#[$doc:meta])* $method:ident = $op:ident;)+) => {
        /// Binary operations, on each pair of elements, broadcast. The result has the common shape and the dtype of
        /// both; the errors are those of [`Tensor::binary`].
        impl Tensor {
            $(
                $(#[$doc])*
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
}

binary! {
    /// a + b. Integers wrap.
    add = Add;
    /// a − b. Integers wrap.
    sub = Sub;
    /// a · b. Integers wrap.
    mul = Mul;
    /// a / b. Integers are truncated toward zero; x/0 is 0, MIN/−1 is MIN.
    div = Div;
    /// The remainder, with the sign of a. For integers x%0 is 0.
    rem = Rem;
    /// The smaller one. NaN propagates; −0 is less than +0.
    minimum = Minimum;
    /// The larger one. NaN propagates; −0 is less than +0.
    maximum = Maximum;
    /// aᵇ, as C's `pow`. Floats only.
    pow = Pow;
}

macro_rules! compare {
    ($($(#[$doc:meta])* $method:ident = $op:ident;)+) => {
        /// Comparisons of each pair of elements, broadcast. The result is a `u8` tensor with 1 where the comparison
        /// holds, else 0. NaN is unequal to everything, and −0 equals +0. The errors are those of [`Tensor::compare`].
        impl Tensor {
            $(
                $(#[$doc])*
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

compare! {
    /// 1 where a = b.
    eq = Eq;
    /// 1 where a ≠ b.
    ne = Ne;
    /// 1 where a < b.
    lt = Lt;
    /// 1 where a ≤ b.
    le = Le;
    /// 1 where a > b.
    gt = Gt;
    /// 1 where a ≥ b.
    ge = Ge;
}

/// Operations with scalar arguments, which are rounded to the tensor's dtype first; see [`Scalar`].
impl Tensor {
    /// xᵃ, as C's `pow`. Floats only.
    ///
    /// # Errors
    /// As [`Tensor::unary_scalar`].
    pub fn powf(&self, exponent: impl Into<Scalar>) -> Result<Tensor> {
        self.unary_scalar(ScalarOp::Powf, exponent)
    }

    /// x above zero, `alpha`·(eˣ − 1) elsewhere. Floats only.
    ///
    /// # Errors
    /// As [`Tensor::unary_scalar`].
    pub fn elu(&self, alpha: impl Into<Scalar>) -> Result<Tensor> {
        self.unary_scalar(ScalarOp::Elu, alpha)
    }

    /// x above zero, `slope`·x elsewhere. Floats only.
    ///
    /// # Errors
    /// As [`Tensor::unary_scalar`].
    pub fn leaky_relu(&self, slope: impl Into<Scalar>) -> Result<Tensor> {
        self.unary_scalar(ScalarOp::LeakyRelu, slope)
    }

    /// `mul`·x + `add`: one fused multiply-add for floats; integers wrap.
    ///
    /// # Errors
    /// An error of the device.
    pub fn affine(&self, mul: impl Into<Scalar>, add: impl Into<Scalar>) -> Result<Tensor> {
        let storage = self.storage.affine(&self.layout, mul.into(), add.into()).on(self)?;
        self.tight_alike(storage, "affine")
    }

    /// min(max(x, `lo`), `hi`), which is `hi` if `lo` > `hi`. NaN propagates; −0 is less than +0.
    ///
    /// # Errors
    /// An error of the device.
    pub fn clamp(&self, lo: impl Into<Scalar>, hi: impl Into<Scalar>) -> Result<Tensor> {
        let storage = self.storage.clamp(&self.layout, lo.into(), hi.into()).on(self)?;
        self.tight_alike(storage, "clamp")
    }
}
