//! The layer that Llama and Qwen have.

use tensor_core::Result;

use super::attention::Attention;
use super::decoder::Layer;
use super::mlp::Mlp;
use super::norm::RmsNorm;
use super::residual::Residual;
use crate::cache::LayerCache;
use crate::step::Step;

/// x + attention(norm(x)), and then x + mlp(norm(x)).
#[derive(Debug, Clone)]
pub(crate) struct PreNorm {
    pub(crate) attention_norm: RmsNorm,
    pub(crate) attention: Attention,
    pub(crate) mlp_norm: RmsNorm,
    pub(crate) mlp: Mlp,
}

impl Layer for PreNorm {
    fn forward(&self, mut x: Residual, step: &Step, cache: &mut LayerCache) -> Result<Residual> {
        let quantized = self.attention.query.is_quantized();
        let mut normed = x.normed(&self.attention_norm, "attn_norm", quantized, step)?;
        x.add(self.attention.forward(&mut normed, step, cache)?, "attn_add", step)?;
        let mut normed = x.normed(&self.mlp_norm, "ffn_norm", self.mlp.gate.is_quantized(), step)?;
        x.add(self.mlp.forward(&mut normed, step)?, "ffn_add", step)?;
        Ok(x)
    }
}
