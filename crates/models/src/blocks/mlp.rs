//! The gated network of a layer.

use tensor_core::{Result, Tensor, UnaryOp};

use super::linear::Linear;
use crate::step::Step;

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
    pub(crate) fn forward(&self, x: &Tensor, step: &Step) -> Result<Tensor> {
        let [mut gate, up] = Linear::forward_each([&self.gate, &self.up], x)?;
        step.keep("ffn_gate", "linear", &gate);
        step.keep("ffn_up", "linear", &up);
        gate.unary_assign_(self.activation)?;
        step.keep("ffn_activated", self.activation.name(), &gate);
        gate.mul_assign_(&up)?;
        step.keep("ffn_gated", "mul", &gate);
        let down = self.down.forward(&gate)?;
        step.keep("ffn_down", "linear", &down);
        Ok(down)
    }
}
