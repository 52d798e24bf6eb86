//! The gated network of a layer.

use tensor_core::{Result, Tensor, UnaryOp};

use super::linear::Linear;

/// y = down(activation(gate(x)) · up(x)).
#[doc(alias = "SwiGLU")]
#[doc(alias = "GeGLU")]
#[derive(Debug, Clone)]
pub(crate) struct Mlp {
    pub(crate) gate: Linear,
    pub(crate) up: Linear,
    pub(crate) down: Linear,
    /// [`UnaryOp::Silu`] or [`UnaryOp::Gelu`].
    pub(crate) activation: UnaryOp,
}

impl Mlp {
    /// `[tokens, width]` to the same shape.
    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let [mut gate, up] = Linear::forward_each([&self.gate, &self.up], x)?;
        gate.unary_assign_(self.activation)?;
        gate.mul_assign_(&up)?;
        self.down.forward(&gate)
    }
}
