//! From tokens through layers to logits.

use tensor_core::{DType, Tensor};

use super::embedding::Embedding;
use super::layers::Layers;
use super::linear::Linear;
use super::norm::RmsNorm;
use super::residual::Residual;
use crate::cache::LayerCache;
use crate::error::Result;
use crate::step::{Logits, Step};

/// A layer of a decoder.
pub(crate) trait Layer: Send + Sync {
    /// `[sequences · tokens, width]` to the same shape. Keys and values of the new tokens are written to the cache.
    fn forward(&self, x: Residual, step: &Step, cache: &mut LayerCache) -> tensor_core::Result<Residual>;
}

/// A whole model that continues texts.
pub(crate) trait Network: Send + Sync {
    /// Tokens in the vocabulary.
    fn vocabulary(&self) -> usize;

    /// The logits after the ids `[sequences · tokens]`: `[sequences · tokens or 1, vocabulary]` in `f32`.
    fn forward(&self, ids: &Tensor, step: &Step, cache: &mut [LayerCache], logits: Logits) -> Result<Tensor>;
}

/// An embedding, layers, a norm, and the output.
pub(crate) struct Decoder<L> {
    pub(crate) embedding: Embedding,
    /// The factor of embedded tokens.
    pub(crate) scale: Option<f64>,
    pub(crate) layers: Layers<L>,
    pub(crate) norm: RmsNorm,
    pub(crate) output: Linear,
    /// Logits become cap · tanh(logit / cap).
    pub(crate) cap: Option<f64>,
}

impl<L: Layer> Network for Decoder<L> {
    fn vocabulary(&self) -> usize {
        self.embedding.vocabulary()
    }

    fn forward(&self, ids: &Tensor, step: &Step, cache: &mut [LayerCache], logits: Logits) -> Result<Tensor> {
        let mut embedded = self.embedding.forward(ids)?;
        if let Some(scale) = self.scale {
            embedded.affine_(scale, 0.0)?;
        }
        step.keep("token_embd", "embedding", &embedded);
        let mut x = Residual::new(embedded);
        for (index, cache) in cache.iter_mut().enumerate() {
            step.enter(Some(index));
            x = self.layers.forward(index, x, step, cache)?;
        }
        step.enter(None);
        if logits == Logits::Last {
            x = x.last()?;
        }
        let mut normed = x.normed(&self.norm, "output_norm", self.output.is_quantized(), step)?;
        let mut y = self.output.forward_rounded(&mut normed)?.to_dtype(DType::F32)?;
        step.keep("output", "linear", &y);
        if let Some(cap) = self.cap {
            y.affine_(1.0 / cap, 0.0)?;
            y.unary_assign_(tensor_core::UnaryOp::Tanh)?;
            y.affine_(cap, 0.0)?;
            step.keep("output_capped", "tanh", &y);
        }
        Ok(y)
    }
}
