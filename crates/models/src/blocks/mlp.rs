//! The gated network of a layer.

use tensor_core::{BinaryOp, QActivations, Result, Tensor};

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
    pub(crate) fn forward(&self, x: &mut QActivations, step: &Step) -> Result<Tensor> {
        let [mut gate, up] = Linear::forward_each([&self.gate, &self.up], x)?;
        step.keep("ffn_gate", "linear", &gate);
        step.keep("ffn_up", "linear", &up);
        let mut gated = if self.down.is_quantized() {
            QActivations::gated(gate, &up, self.gated)?
        } else {
            gate.binary_assign_(&up, self.gated)?;
            QActivations::new(gate)
        };
        step.keep("ffn_gated", self.gated.name(), gated.tensor());
        let down = self.down.forward_rounded(&mut gated)?;
        step.keep("ffn_down", "linear", &down);
        Ok(down)
    }
}
