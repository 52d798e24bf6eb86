//! Activation functions of network layers.

use crate::ops::{ScalarOp, UnaryOp};

/// An activation function chosen at run time. [`Tensor::activate`](crate::Tensor::activate) applies it by itself.
///
/// ```
/// use tensor_core::{Activation, Device, Tensor};
///
/// # fn main() -> tensor_core::Result<()> {
/// let x = Tensor::new([-2f32, 4.0], &Device::Cpu)?;
/// assert_eq!(x.activate(Activation::Relu)?.to_vec::<f32>()?, [0.0, 4.0]);
/// assert_eq!(x.activate(Activation::LeakyRelu(0.25))?.to_vec::<f32>()?, [-0.5, 4.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Activation {
    /// As [`Tensor::relu`](crate::Tensor::relu).
    Relu,
    /// As [`Tensor::leaky_relu`](crate::Tensor::leaky_relu), with this slope.
    LeakyRelu(f64),
    /// As [`Tensor::elu`](crate::Tensor::elu), with this factor.
    Elu(f64),
    /// As [`Tensor::sigmoid`](crate::Tensor::sigmoid).
    Sigmoid,
    /// As [`Tensor::tanh`](crate::Tensor::tanh).
    Tanh,
    /// As [`Tensor::gelu`](crate::Tensor::gelu): the tanh formula.
    Gelu,
    /// As [`Tensor::gelu_erf`](crate::Tensor::gelu_erf): the definition.
    GeluErf,
    /// As [`Tensor::silu`](crate::Tensor::silu).
    Silu,
    /// As [`Tensor::softplus`](crate::Tensor::softplus).
    Softplus,
}

/// The element-wise operation of an activation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step {
    Unary(UnaryOp),
    Scalar(ScalarOp, f64),
}

impl Activation {
    pub(crate) fn step(self) -> Step {
        match self {
            Activation::Relu => Step::Unary(UnaryOp::Relu),
            Activation::LeakyRelu(slope) => Step::Scalar(ScalarOp::LeakyRelu, slope),
            Activation::Elu(alpha) => Step::Scalar(ScalarOp::Elu, alpha),
            Activation::Sigmoid => Step::Unary(UnaryOp::Sigmoid),
            Activation::Tanh => Step::Unary(UnaryOp::Tanh),
            Activation::Gelu => Step::Unary(UnaryOp::Gelu),
            Activation::GeluErf => Step::Unary(UnaryOp::GeluErf),
            Activation::Silu => Step::Unary(UnaryOp::Silu),
            Activation::Softplus => Step::Unary(UnaryOp::Softplus),
        }
    }
}
