//! `+ − × ÷ %` between tensors, numbers, and the results of earlier operations.
//!
//! Every operator returns a `Result`, and accepts a `Result` on either side, so that `(&a + &b)? * &c` and
//! `&a + &b * &c` both work. A number is rounded to the tensor's dtype first.

use std::borrow::Borrow;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use super::Tensor;
use crate::error::Result;
use crate::ops::BinaryOp;
use crate::scalar::Scalar;

/// What stands on the right of `+ − × ÷ %` after a tensor: a tensor, the `Result` of an earlier operation, or a number,
/// which is an `f64`, `f32` or `i64`. On the left a number is an `f64` or `i64`: with a second float type there, Rust would
/// not know the type of the literal in `2.0 * &x`. The trait is sealed.
pub trait Operand: sealed::Sealed {
    /// `op` of `lhs` and this.
    #[doc(hidden)]
    fn behind(self, lhs: &Tensor, op: BinaryOp) -> Result<Tensor>;
}

mod sealed {
    pub trait Sealed {}
}

impl<B: Borrow<Tensor>> sealed::Sealed for B {}

impl<B: Borrow<Tensor>> Operand for B {
    fn behind(self, lhs: &Tensor, op: BinaryOp) -> Result<Tensor> {
        lhs.binary(self.borrow(), op)
    }
}

impl<B: Borrow<Tensor>> sealed::Sealed for Result<B> {}

impl<B: Borrow<Tensor>> Operand for Result<B> {
    fn behind(self, lhs: &Tensor, op: BinaryOp) -> Result<Tensor> {
        lhs.binary(self?.borrow(), op)
    }
}

macro_rules! numbers {
    ($($number:ident)+) => {
        $(
            impl sealed::Sealed for $number {}

            impl Operand for $number {
                fn behind(self, lhs: &Tensor, op: BinaryOp) -> Result<Tensor> {
                    lhs.binary(&scalar_like(lhs, self)?, op)
                }
            }
        )+
    };
}

// One integer type: a literal then has that type, and may have 64 bits.
numbers!(f64 f32 i64);

/// `number` as a tensor of rank 0.
fn scalar_like(tensor: &Tensor, number: impl Into<Scalar>) -> Result<Tensor> {
    Tensor::full(number, (), tensor.dtype(), &tensor.device())
}

macro_rules! number_operator {
    ($trait:ident, $method:ident; $($number:ident)+) => {
        $(
            impl $trait<Tensor> for $number {
                type Output = Result<Tensor>;

                fn $method(self, tensor: Tensor) -> Result<Tensor> {
                    self.$method(&tensor)
                }
            }

            impl $trait<&Tensor> for $number {
                type Output = Result<Tensor>;

                fn $method(self, tensor: &Tensor) -> Result<Tensor> {
                    scalar_like(tensor, self)?.binary(tensor, BinaryOp::$trait)
                }
            }
        )+
    };
}

// One implementation for all that stands on the right, so that the result's type is known before that of a literal is.
macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl<O: Operand> $trait<O> for Tensor {
            type Output = Result<Tensor>;

            fn $method(self, other: O) -> Result<Tensor> {
                other.behind(&self, BinaryOp::$trait)
            }
        }

        impl<O: Operand> $trait<O> for &Tensor {
            type Output = Result<Tensor>;

            fn $method(self, other: O) -> Result<Tensor> {
                other.behind(self, BinaryOp::$trait)
            }
        }

        impl<B: Borrow<Tensor>> $trait<Tensor> for Result<B> {
            type Output = Result<Tensor>;

            fn $method(self, other: Tensor) -> Result<Tensor> {
                self?.borrow().binary(&other, BinaryOp::$trait)
            }
        }

        impl<B: Borrow<Tensor>> $trait<&Tensor> for Result<B> {
            type Output = Result<Tensor>;

            fn $method(self, other: &Tensor) -> Result<Tensor> {
                self?.borrow().binary(other, BinaryOp::$trait)
            }
        }

        number_operator!($trait, $method; f64 i64);
    };
}

operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);
operator!(Rem, rem);

impl Neg for Tensor {
    type Output = Result<Tensor>;

    fn neg(self) -> Result<Tensor> {
        Tensor::neg(&self)
    }
}

impl Neg for &Tensor {
    type Output = Result<Tensor>;

    fn neg(self) -> Result<Tensor> {
        Tensor::neg(self)
    }
}
