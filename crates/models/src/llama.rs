//! Llama 2 and 3, Mistral, SmolLM2.

use tensor_core::BinaryOp;

use crate::blocks::{Attention, Decoder, Parts, PreNorm};
use crate::error::Result;

/// The model: norms before attention and network, grouped queries, SiLU gates, and no biases but those that a file has.
///
/// In GGUF files the rows of q and k are permuted, so that neighbours are turned together; [`Parts::attention`] knows it.
pub(crate) fn build(parts: &Parts<'_>) -> Result<Decoder<PreNorm>> {
    decoder(parts, |parts, layer| parts.attention(layer, false))
}

/// Such a model with another attention.
pub(crate) fn decoder(
    parts: &Parts<'_>,
    attention: fn(&Parts<'_>, usize) -> Result<Attention>,
) -> Result<Decoder<PreNorm>> {
    let config = parts.config;
    let embedding = parts.embedding()?;
    let layer = move |parts: &Parts<'_>, layer: usize| {
        let width = parts.config.width;
        Ok(PreNorm {
            attention_norm: parts.norm(&format!("blk.{layer}.attn_norm"), width)?,
            attention: attention(parts, layer)?,
            mlp_norm: parts.norm(&format!("blk.{layer}.ffn_norm"), width)?,
            mlp: parts.mlp(layer, BinaryOp::SiluMul)?,
        })
    };
    Ok(Decoder {
        output: parts.output(&embedding)?,
        embedding,
        scale: None,
        layers: parts.layers(Box::new(layer))?,
        norm: parts.norm("output_norm", config.width)?,
        cap: config.logits_cap,
    })
}
