//! Qwen2 and Qwen2.5.

use crate::blocks::{Decoder, Parts, PreNorm};
use crate::error::Result;
use crate::llama;

/// Llama's layers, with biases of q, k and v.
pub(crate) fn build(parts: &Parts<'_>) -> Result<Decoder<PreNorm>> {
    llama::decoder(parts, |parts, layer| parts.attention(layer, true))
}
