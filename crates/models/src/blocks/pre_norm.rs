//! The layer that Llama and Qwen have.

use tensor_core::{Result, Tensor};

use super::attention::Attention;
use super::decoder::Layer;
use super::mlp::Mlp;
use super::norm::RmsNorm;
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
    fn forward(&self, mut x: Tensor, step: &Step, cache: &mut LayerCache) -> Result<Tensor> {
        let normed = self.attention_norm.forward(&x)?;
        step.keep("attn_norm", "rms_norm", &normed);
        x.add_assign_(&self.attention.forward(&normed, step, cache)?)?;
        step.keep("attn_add", "add", &x);
        let normed = self.mlp_norm.forward(&x)?;
        step.keep("ffn_norm", "rms_norm", &normed);
        x.add_assign_(&self.mlp.forward(&normed, step)?)?;
        step.keep("ffn_add", "add", &x);
        Ok(x)
    }
}
