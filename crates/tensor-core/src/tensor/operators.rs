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

/// `op` of a tensor and a number.
fn tensor_number(tensor: &Tensor, number: impl Into<Scalar>, op: BinaryOp) -> Result<Tensor> {
    tensor.binary(&scalar_like(tensor, number)?, op)
}

/// `op` of a number and a tensor.
fn number_tensor(number: impl Into<Scalar>, tensor: &Tensor, op: BinaryOp) -> Result<Tensor> {
    scalar_like(tensor, number)?.binary(tensor, op)
}

/// `number` as a tensor of rank 0.
fn scalar_like(tensor: &Tensor, number: impl Into<Scalar>) -> Result<Tensor> {
    Tensor::full(number, (), tensor.dtype(), &tensor.device())
}

/// The same operator with a number on either side. There is one float type and one integer type only: with two of a
/// kind, a literal would be ambiguous.
macro_rules! number_operator {
    ($trait:ident, $method:ident; $($number:ident)+) => {
        $(
            impl $trait<$number> for Tensor {
                type Output = Result<Tensor>;

                fn $method(self, number: $number) -> Result<Tensor> {
                    tensor_number(&self, number, BinaryOp::$trait)
                }
            }

            impl $trait<$number> for &Tensor {
                type Output = Result<Tensor>;

                fn $method(self, number: $number) -> Result<Tensor> {
                    tensor_number(self, number, BinaryOp::$trait)
                }
            }

            impl $trait<Tensor> for $number {
                type Output = Result<Tensor>;

                fn $method(self, tensor: Tensor) -> Result<Tensor> {
                    number_tensor(self, &tensor, BinaryOp::$trait)
                }
            }

            impl $trait<&Tensor> for $number {
                type Output = Result<Tensor>;

                fn $method(self, tensor: &Tensor) -> Result<Tensor> {
                    number_tensor(self, tensor, BinaryOp::$trait)
                }
            }
        )+
    };
}

macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl<B: Borrow<Tensor>> $trait<B> for Tensor {
            type Output = Result<Tensor>;

            fn $method(self, other: B) -> Result<Tensor> {
                self.binary(other.borrow(), BinaryOp::$trait)
            }
        }

        impl<B: Borrow<Tensor>> $trait<B> for &Tensor {
            type Output = Result<Tensor>;

            fn $method(self, other: B) -> Result<Tensor> {
                self.binary(other.borrow(), BinaryOp::$trait)
            }
        }

        impl<B: Borrow<Tensor>> $trait<Result<B>> for Tensor {
            type Output = Result<Tensor>;

            fn $method(self, other: Result<B>) -> Result<Tensor> {
                self.binary(other?.borrow(), BinaryOp::$trait)
            }
        }

        impl<B: Borrow<Tensor>> $trait<Result<B>> for &Tensor {
            type Output = Result<Tensor>;

            fn $method(self, other: Result<B>) -> Result<Tensor> {
                self.binary(other?.borrow(), BinaryOp::$trait)
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
