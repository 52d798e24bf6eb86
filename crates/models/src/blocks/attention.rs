//! Grouped-query attention over the cache.

use tensor_core::{DType, HipDevice, QActivations, Result, Tensor};

use super::linear::Linear;
use super::norm::RmsNorm;
use super::rope::Form;
use crate::cache::LayerCache;
use crate::step::{Destination, Seen, Step};

/// Attention of new tokens to themselves and to those in the cache.
#[derive(Debug, Clone)]
pub(crate) struct Attention {
    pub(crate) query: Linear,
    pub(crate) key: Linear,
    pub(crate) value: Linear,
    pub(crate) output: Linear,
    /// Norms of each head's queries and keys.
    pub(crate) norms: Option<(RmsNorm, RmsNorm)>,
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) head_size: usize,
    /// The factor of scores.
    pub(crate) scale: f64,
    /// Scores become cap · tanh(score / cap).
    pub(crate) cap: Option<f64>,
    /// How many tokens a query attends to, itself included.
    pub(crate) window: Option<usize>,
    /// How positions turn queries and keys.
    pub(crate) form: Form,
}

impl Attention {
    /// `[sequences · tokens, width]` to the same shape. Keys and values of the new tokens are written to the cache.
    pub(crate) fn forward(
        &self,
        x: &mut QActivations,
        step: &Step,
        cache: &mut LayerCache,
    ) -> Result<Tensor> {
        let dtype = x.tensor().dtype();
        let (sequences, tokens) = (step.sequences, step.tokens);
        let split = |y: &Tensor, heads: usize| y.reshape([sequences, tokens, heads, self.head_size]);
        let [query, key, value] = Linear::forward_each([&self.query, &self.key, &self.value], x)?;
        step.keep("attn_q", "linear", &query);
        step.keep("attn_k", "linear", &key);
        step.keep("attn_v", "linear", &value);
        let (mut query, mut key) = (split(&query, self.heads)?, split(&key, self.kv_heads)?);
        let value = split(&value, self.kv_heads)?.transpose(1, 2)?;
        if let Some((of_query, of_key)) = &self.norms {
            (query, key) = (of_query.forward(&query)?, of_key.forward(&key)?);
            step.keep("attn_q_norm", "rms_norm", &query);
            step.keep("attn_k_norm", "rms_norm", &key);
        }
        let table = step.table(self.window);
        let (query, key) = (query.transpose(1, 2)?, key.transpose(1, 2)?);
        let query = match (&step.destination, cache.dense(dtype)) {
            (Destination::Each(rows), Some(caches)) => {
                table.turn_and_write([&query, &key, &value], rows, caches, self.form)?
            }
            _ => {
                let (query, key) = table.turn(&query, &key, self.form)?;
                step.keep("attn_q_rope", "rope", &query);
                step.keep("attn_k_rope", "rope", &key);
                cache.write(&step.destination, &key, &value)?;
                query
            }
        };

        let (operation, mut mixed) = self.mixed(query, step.seen(self.window), step, cache, dtype)?;
        step.keep("attn_mixed", operation, mixed.tensor());
        let output = self.output.forward_rounded(&mut mixed)?;
        step.keep("attn_output", "linear", &output);
        Ok(output)
    }

    /// The values of the keys that queries see, weighted: `[sequences · tokens, heads · head_size]` of this dtype, with the operation's
    /// name.
    fn mixed(
        &self,
        query: Tensor,
        seen: &Seen,
        step: &Step,
        cache: &LayerCache,
        dtype: DType,
    ) -> Result<(&'static str, QActivations)> {
        let scale = Some(self.scale);
        let rows = |mixed: Tensor| -> Result<QActivations> {
            let shape = [step.sequences * step.tokens, self.heads * self.head_size];
            Ok(QActivations::new(mixed.transpose(1, 2)?.reshape(shape)?.to_dtype(dtype)?))
        };
        if let Some((pages, vectors)) = seen.pages().zip(cache.all()) {
            let query = query.to_dtype(vectors[0].dtype())?;
            return Ok(("paged_attention", rows(pages.attention(&query, vectors, scale)?)?));
        }
        let (mut keys, values) = cache.read(seen, dtype)?;
        let mut values = seen.without_hidden(values)?;
        if keys.dtype() == DType::F32 && self.attends_in_bf16(&keys, step) {
            (keys, values) = (keys.to_dtype(DType::BF16)?, values.to_dtype(DType::BF16)?);
        }
        let query = query.to_dtype(keys.dtype())?;
        if let Some(cap) = self.cap {
            return Ok(("capped attention", rows(self.capped(&query, &keys, &values, seen, cap)?)?));
        }
        let mask = seen.mask.as_ref();
        let mixed = if self.output.is_quantized() && query.dtype() == dtype {
            QActivations::attention(&query, [&keys, &values], mask, seen.causal, scale)?
        } else {
            rows(query.scaled_dot_product_attention(&keys, &values, mask, seen.causal, scale)?)?
        };
        Ok(("scaled_dot_product_attention", mixed))
    }

    /// Whether a prompt for quantized weights attends in `bf16`, as it multiplies its activations: matrix units take it.
    fn attends_in_bf16(&self, keys: &Tensor, step: &Step) -> bool {
        let faster = |hip: &HipDevice| hip.attends_bf16_faster(step.tokens, keys.dims()[2], self.head_size);
        self.cap.is_none() && self.query.is_quantized() && keys.device().as_hip().is_some_and(faster)
    }

    /// Attention with capped scores, in single operations: no kernel has it.
    fn capped(
        &self,
        query: &Tensor,
        keys: &Tensor,
        values: &Tensor,
        seen: &Seen,
        cap: f64,
    ) -> Result<Tensor> {
        let &[sequences, _, tokens, _] = query.dims() else { unreachable!("queries have four axes") };
        let (kv_heads, group) = (self.kv_heads, self.heads / self.kv_heads);
        // The queries that share a head of keys are the rows of one matrix.
        let query = query.reshape([sequences, kv_heads, group * tokens, self.head_size])?;
        let mut scores = query.matmul(&keys.transpose(2, 3)?)?;
        scores.affine_(self.scale / cap, 0.0)?;
        scores.unary_assign_(tensor_core::UnaryOp::Tanh)?;
        scores.affine_(cap, 0.0)?;
        if let Some(hidden) = seen.hidden()? {
            let apart = scores.reshape([sequences, kv_heads * group, tokens, seen.count])?;
            scores = apart.masked_fill(hidden, f64::NEG_INFINITY)?.reshape(scores.shape().clone())?;
        }
        let mixed = scores.softmax(3)?.matmul(values)?;
        mixed.reshape([sequences, self.heads, tokens, self.head_size])
    }
}
