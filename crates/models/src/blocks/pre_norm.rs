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
        let normed = x.normed(&self.attention_norm, "attn_norm", step)?;
        x.add(self.attention.forward(&normed, step, cache)?, "attn_add", step)?;
        let normed = x.normed(&self.mlp_norm, "ffn_norm", step)?;
        x.add(self.mlp.forward(&normed, step)?, "ffn_add", step)?;
        Ok(x)
    }
}
