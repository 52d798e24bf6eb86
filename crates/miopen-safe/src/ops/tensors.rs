//! Elementwise work on tensors: sums, products, fills, scales, copies between layouts and types.

use crate::convert::host;
use crate::raw::tensor as raw;
use crate::tensor::same_dims;
use crate::work::Work;
use crate::{Blend, Element, Error, Handle, Result, Tensor, TensorMut};
use hip_sys::miopen::miopenTensorOp_t;

crate::convert::c_enum! {
    /// An operation on two elements.
    TensorOp = miopenTensorOp_t {
        /// Their sum.
        Add = miopenTensorOp_t::miopenTensorOpAdd,
        /// Their product.
        Mul = miopenTensorOp_t::miopenTensorOpMul,
        /// The smaller one.
        Min = miopenTensorOp_t::miopenTensorOpMin,
        /// The larger one.
        Max = miopenTensorOp_t::miopenTensorOpMax,
    }
}

/// Factors of an operation on two tensors: `op(a_factor · a, b_factor · b) + c_factor · c`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    /// The factor of the first operand.
    pub a: f32,
    /// The factor of the second operand.
    pub b: f32,
    /// The factor of the old output, which is not read if this is 0.
    pub c: f32,
}

impl Default for Factors {
    fn default() -> Self {
        Self { a: 1.0, b: 1.0, c: 0.0 }
    }
}

impl Handle {
    /// `c ← op(a, b)` with factors. `a` and `c` have the same shape; each length of `b` is theirs, or 1, which is broadcast.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for shapes that do not match; the error of memory, stream or library.
    #[doc(alias = "miopenOpTensor")]
    pub fn tensor_op<T: Element>(
        &self,
        op: TensorOp,
        factors: Factors,
        a: &Tensor<'_, T>,
        b: &Tensor<'_, T>,
        c: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        same_dims("the shape of an operation's output", a.desc(), c.desc())?;
        let (whole, part) = (a.desc().dims(), b.desc().dims());
        let fits = whole.len() == part.len()
            && whole.iter().zip(part).all(|(whole, part)| part == whole || *part == 1);
        if !fits {
            return Err(Error::mismatch("the second operand's shape, or 1 in a dimension", whole, part));
        }
        let (a_desc, b_desc, c_desc) = (a.desc().on(self)?, b.desc().on(self)?, c.desc().on(self)?);
        let mut work = Work::new(self, "an operation on tensors");
        let (a, b, c) = (work.read(a), work.read(b), work.write(c));
        let (fa, fb, fc) = (host(&factors.a), host(&factors.b), host(&factors.c));
        let op = op.raw();
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named.
        work.run(|m, h| unsafe { raw::op_tensor(m, h, op, fa, a_desc, a, fb, b_desc, b, fc, c_desc, c) })
    }

    /// Sets every element to `value`, rounded to the element type.
    ///
    /// # Errors
    /// The error of memory, stream or library.
    #[doc(alias = "miopenSetTensor")]
    pub fn set_tensor<T: Element>(&self, y: &mut TensorMut<'_, T>, value: f64) -> Result<()> {
        let y_desc = y.desc().on(self)?;
        let value = T::bytes_of(value);
        let mut work = Work::new(self, "filling a tensor");
        let y = work.write(y);
        // SAFETY: S1, S2: the descriptor says how the tensor lies in memory that is named; the value is one of its type.
        work.run(|m, h| unsafe { raw::set_tensor(m, h, y_desc, y, value.as_ptr().cast()) })
    }

    /// Multiplies every element by `factor`, rounded to the element type.
    ///
    /// # Errors
    /// The error of memory, stream or library.
    #[doc(alias = "miopenScaleTensor")]
    pub fn scale_tensor<T: Element>(&self, y: &mut TensorMut<'_, T>, factor: f64) -> Result<()> {
        let y_desc = y.desc().on(self)?;
        let factor = T::bytes_of(factor);
        let mut work = Work::new(self, "scaling a tensor");
        let y = work.write(y);
        // SAFETY: S1, S2: the descriptor says how the tensor lies in memory that is named; the factor is one of its type.
        work.run(|m, h| unsafe { raw::scale_tensor(m, h, y_desc, y, factor.as_ptr().cast()) })
    }

    /// `y ← alpha · x + beta · y` between two layouts, or two types, of one shape.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for different shapes; the error of memory, stream or library.
    #[doc(alias = "miopenTransformTensor")]
    pub fn transform_tensor<X: Element, Y: Element>(
        &self,
        blend: Blend,
        x: &Tensor<'_, X>,
        y: &mut TensorMut<'_, Y>,
    ) -> Result<()> {
        same_dims("the shape of a transformed tensor", x.desc(), y.desc())?;
        let (x_desc, y_desc) = (x.desc().on(self)?, y.desc().on(self)?);
        let mut work = Work::new(self, "transforming a tensor");
        let (x, y) = (work.read(x), work.write(y));
        let (alpha, beta) = (host(&blend.alpha), host(&blend.beta));
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named.
        work.run(|m, h| unsafe { raw::transform_tensor(m, h, alpha, x_desc, x, beta, y_desc, y) })
    }
}
