//! The gated network of a layer.

use tensor_core::{BinaryOp, Result, Tensor};

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
    /// activation(gate) · up: [`BinaryOp::SiluMul`] or [`BinaryOp::GeluMul`].
    pub(crate) gated: BinaryOp,
}

impl Mlp {
    /// `[tokens, width]` to the same shape.
    pub(crate) fn forward(&self, x: &Tensor, step: &Step) -> Result<Tensor> {
        let [mut gate, up] = Linear::forward_each([&self.gate, &self.up], x)?;
        step.keep("ffn_gate", "linear", &gate);
        step.keep("ffn_up", "linear", &up);
        gate.binary_assign_(&up, self.gated)?;
        step.keep("ffn_gated", self.gated.name(), &gate);
        let down = self.down.forward(&gate)?;
        step.keep("ffn_down", "linear", &down);
        Ok(down)
    }
}
