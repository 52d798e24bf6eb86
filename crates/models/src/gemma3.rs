//! The text part of Gemma 3.

use tensor_core::{BinaryOp, Result, Tensor};

use crate::blocks::{Attention, Decoder, Layer, Mlp, Parts, Residual, RmsNorm};
use crate::cache::LayerCache;
use crate::step::Step;

/// A layer with norms before and after attention and network: x + norm(attention(norm(x))), and then x + norm(mlp(norm(x))).
#[derive(Debug, Clone)]
pub(crate) struct Sandwich {
    attention_norm: RmsNorm,
    attention: Attention,
    after_attention: RmsNorm,
    mlp_norm: RmsNorm,
    mlp: Mlp,
    after_mlp: RmsNorm,
}

impl Layer for Sandwich {
    fn forward(&self, mut x: Residual, step: &Step, cache: &mut LayerCache) -> Result<Residual> {
        let after = |name: &str, norm: &RmsNorm, x: &Tensor| {
            norm.forward(x).inspect(|normed| step.keep(name, "rms_norm", normed))
        };
        let quantized = self.attention.query.is_quantized();
        let mut normed = x.normed(&self.attention_norm, "attn_norm", quantized, step)?;
        let attended = self.attention.forward(&mut normed, step, cache)?;
        x.add(after("post_attention_norm", &self.after_attention, &attended)?, "attn_add", step)?;
        let mut normed = x.normed(&self.mlp_norm, "ffn_norm", self.mlp.gate.is_quantized(), step)?;
        let fed = self.mlp.forward(&mut normed, step)?;
        x.add(after("post_ffw_norm", &self.after_mlp, &fed)?, "ffn_add", step)?;
        Ok(x)
    }
}

/// The model: embeddings times √width, norms of queries and keys, gates of GELU's tanh formula. Most layers have a window and
/// positions of another base; [`Parts::norm`] knows how files store the weights of norms.
pub(crate) fn build(parts: &Parts<'_>) -> crate::error::Result<Decoder<Sandwich>> {
    let config = parts.config;
    let embedding = parts.embedding()?;
    let layer = |parts: &Parts<'_>, layer: usize| {
        let norm = |name: &str| parts.norm(&format!("blk.{layer}.{name}"), parts.config.width);
        Ok(Sandwich {
            attention_norm: norm("attn_norm")?,
            attention: parts.attention_with_norms(layer)?,
            after_attention: norm("post_attention_norm")?,
            mlp_norm: norm("ffn_norm")?,
            mlp: parts.mlp(layer, BinaryOp::GeluMul)?,
            after_mlp: norm("post_ffw_norm")?,
        })
    };
    Ok(Decoder {
        output: parts.output(&embedding)?,
        embedding,
        scale: Some((config.width as f64).sqrt()),
        layers: parts.layers(Box::new(layer))?,
        norm: parts.norm("output_norm", config.width)?,
        cap: config.logits_cap,
    })
}
