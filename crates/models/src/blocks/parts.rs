//! The weights of a model, found by name and compared with its settings.

use std::sync::Arc;

use tensor_core::{BinaryOp, DType, Shape, Tensor};
use weights::{Model, Weight};

use super::attention::Attention;
use super::embedding::Embedding;
use super::layers::{CachedWeights, Layers, Make};
use super::linear::Linear;
use super::mlp::Mlp;
use super::norm::RmsNorm;
use super::rope::{Form, Frequencies};
use crate::config::{Architecture, Config, Origin};
use crate::error::{Error, Result};

/// A model's weights and settings, from which its parts are made. Matrices are shared with the model. Vectors are as well,
/// where they have the dtype of activations.
pub(crate) struct Parts<'a> {
    pub(crate) weights: &'a Model,
    pub(crate) config: &'a Config,
    /// The dtype of activations.
    pub(crate) dtype: DType,
    /// The weights of layers, if `weights` has only the others.
    pub(crate) cached: Option<Arc<CachedWeights>>,
}

impl<'a> Parts<'a> {
    /// The parts, with activations in the dtype of the first layer's `attn_q`, if that is `f16` or `bf16`; else `f32`.
    pub(crate) fn new(weights: &'a Model, config: &'a Config) -> Parts<'a> {
        let first = weights.find("blk.0.attn_q.weight").and_then(|weight| weight.tensor().ok());
        let dtype = match first.map(Tensor::dtype) {
            Some(dtype @ (DType::F16 | DType::BF16)) => dtype,
            _ => DType::F32,
        };
        Parts { weights, config, dtype, cached: None }
    }

    /// All layers, or what makes each when it is needed.
    pub(crate) fn layers<L>(&self, make: Make<L>) -> Result<Layers<L>> {
        if let Some(weights) = &self.cached {
            return Ok(Layers::Cached { weights: Arc::clone(weights), make });
        }
        let all = (0..self.config.layers).map(|layer| make(self, layer));
        Ok(Layers::Loaded(all.collect::<Result<_>>()?))
    }

    /// The embedding of tokens.
    pub(crate) fn embedding(&self) -> Result<Embedding> {
        let name = "token_embd.weight";
        let weight = self.find(name).ok_or_else(|| self.missing(name))?;
        match *weight.shape().dims() {
            [_, width] if width == self.config.width => Ok(Embedding::new(Arc::clone(weight), self.dtype)),
            _ => Err(Error::WrongShape {
                name: name.to_owned(),
                found: Box::new(weight.shape().clone()),
                expected: Box::new(
                    [weight.shape().dims().first().copied().unwrap_or(1), self.config.width].into(),
                ),
            }),
        }
    }

    /// The layer from the last norm to logits: the embedding again, where the file has no other.
    pub(crate) fn output(&self, embedding: &Embedding) -> Result<Linear> {
        let there = self.find("output.weight").is_some();
        match self.config.tied {
            Some(true) => Ok(embedding.tied()),
            None if !there => Ok(embedding.tied()),
            _ => self.linear("output", embedding.vocabulary(), self.config.width),
        }
    }

    /// The weight `NAME.weight` `[outputs, inputs]`, and `NAME.bias` if the file has it.
    pub(crate) fn linear(&self, name: &str, outputs: usize, inputs: usize) -> Result<Linear> {
        let weight = self.get(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = format!("{name}.bias");
        let bias = match self.find(&bias) {
            Some(_) => Some(self.vector(&bias, outputs)?),
            None => None,
        };
        Ok(Linear::new(Arc::clone(weight), bias))
    }

    /// As [`Parts::linear`]; the file has to have the bias.
    pub(crate) fn linear_with_bias(&self, name: &str, outputs: usize, inputs: usize) -> Result<Linear> {
        let weight = self.get(&format!("{name}.weight"), &[outputs, inputs])?;
        Ok(Linear::new(Arc::clone(weight), Some(self.vector(&format!("{name}.bias"), outputs)?)))
    }

    /// The norm `NAME.weight`.
    pub(crate) fn norm(&self, name: &str, length: usize) -> Result<RmsNorm> {
        let mut weight = self.vector(&format!("{name}.weight"), length)?;
        if (self.config.architecture, self.config.origin) == (Architecture::Gemma3, Origin::HuggingFace) {
            // These weights are differences from 1; llama.cpp's converter has added it.
            weight = weight.affine(1.0, 1.0)?;
        }
        Ok(RmsNorm::new(weight, self.config.norm_eps))
    }

    /// A vector, in the dtype of activations.
    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Tensor> {
        Ok(self.get(name, &[length])?.tensor()?.to_dtype(self.dtype)?)
    }

    /// The attention of a layer, without norms of queries and keys.
    pub(crate) fn attention(&self, layer: usize, biases: bool) -> Result<Attention> {
        let Config { width, heads, kv_heads, head_size, .. } = *self.config;
        let part = |name: &str, outputs: usize| {
            let name = format!("blk.{layer}.{name}");
            if biases {
                self.linear_with_bias(&name, outputs, width)
            } else {
                self.linear(&name, outputs, width)
            }
        };
        Ok(Attention {
            query: part("attn_q", heads * head_size)?,
            key: part("attn_k", kv_heads * head_size)?,
            value: part("attn_v", kv_heads * head_size)?,
            output: self.linear(&format!("blk.{layer}.attn_output"), width, heads * head_size)?,
            norms: None,
            heads,
            kv_heads,
            head_size,
            scale: self.config.attention_scale,
            cap: self.config.attention_cap,
            window: self.config.windows[layer],
            form: match (self.config.architecture, self.config.origin) {
                (Architecture::Llama, Origin::Gguf) => Form::Neighbours,
                _ => Form::Halves,
            },
        })
    }

    /// The attention of a layer, with norms of queries and keys.
    pub(crate) fn attention_with_norms(&self, layer: usize) -> Result<Attention> {
        let norm = |name: &str| self.norm(&format!("blk.{layer}.{name}"), self.config.head_size);
        let norms = Some((norm("attn_q_norm")?, norm("attn_k_norm")?));
        Ok(Attention { norms, ..self.attention(layer, false)? })
    }

    /// The gated network of a layer.
    pub(crate) fn mlp(&self, layer: usize, gated: BinaryOp) -> Result<Mlp> {
        let Config { width, hidden, .. } = *self.config;
        let part = |name: &str, outputs, inputs| self.linear(&format!("blk.{layer}.{name}"), outputs, inputs);
        Ok(Mlp {
            gate: part("ffn_gate", hidden, width)?,
            up: part("ffn_up", hidden, width)?,
            down: part("ffn_down", width, hidden)?,
            gated,
        })
    }

    /// The frequencies of positions in layers without and with a window.
    pub(crate) fn frequencies(&self) -> Result<[Frequencies; 2]> {
        let head_size = self.config.head_size;
        let factors = match self.find("rope_freqs.weight") {
            None => None,
            Some(_) => {
                let weight = self.get("rope_freqs.weight", &[head_size / 2])?;
                Some(weight.tensor()?.to_dtype(DType::F64)?.to_vec::<f64>()?)
            }
        };
        let of = |rope| Frequencies::new(rope, head_size, factors.as_deref());
        Ok([of(&self.config.rope), of(&self.config.local_rope)])
    }

    fn find(&self, name: &str) -> Option<&'a Arc<Weight>> {
        self.weights.find(name)
    }

    /// The weight of that name and shape.
    fn get(&self, name: &str, shape: &[usize]) -> Result<&'a Arc<Weight>> {
        let weight = self.find(name).ok_or_else(|| self.missing(name))?;
        if weight.shape().dims() == shape {
            return Ok(weight);
        }
        let (found, expected) = (Box::new(weight.shape().clone()), Box::new(Shape::from(shape)));
        Err(Error::WrongShape { name: name.to_owned(), found, expected })
    }

    fn missing(&self, name: &str) -> Error {
        Error::MissingWeight { name: name.to_owned(), architecture: self.config.architecture }
    }
}
