//! The vectors of tokens.

use std::sync::Arc;

use tensor_core::{DType, Result, Tensor};
use weights::Weight;

use super::linear::Linear;

/// A table `[vocabulary, width]`, dense or quantized. It is the model's own weight.
#[derive(Debug, Clone)]
pub(crate) struct Embedding {
    weight: Arc<Weight>,
    dtype: DType,
}

impl Embedding {
    /// Of a table, for activations of `dtype`.
    pub(crate) fn new(weight: Arc<Weight>, dtype: DType) -> Embedding {
        Embedding { weight, dtype }
    }

    /// Tokens in the table.
    pub(crate) fn vocabulary(&self) -> usize {
        self.weight.shape().dims()[0]
    }

    /// The rows at `ids`: `[…]` to `[…, width]`.
    pub(crate) fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let rows = match self.weight.quantized() {
            Some(weight) => weight.embedding(ids)?,
            None => self.weight.tensor()?.embedding(ids)?,
        };
        rows.to_dtype(self.dtype)
    }

    /// The same weight as a layer to logits.
    #[doc(alias = "tie_word_embeddings")]
    pub(crate) fn tied(&self) -> Linear {
        Linear::new(Arc::clone(&self.weight), None)
    }
}
