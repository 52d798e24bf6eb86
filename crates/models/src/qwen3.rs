//! Qwen3, without experts.

use crate::blocks::{Decoder, Parts, PreNorm};
use crate::error::Result;
use crate::llama;

/// Llama's layers, with a norm of each head's queries and keys before positions turn them.
pub(crate) fn build(parts: &Parts<'_>) -> Result<Decoder<PreNorm>> {
    llama::decoder(parts, |parts, layer| parts.attention_with_norms(layer))
}
