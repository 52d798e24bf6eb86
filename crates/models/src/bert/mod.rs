//! BERT, an encoder: texts to vectors. all-MiniLM-L6-v2 is one.

mod config;
mod names;

use std::path::Path;
use std::sync::Arc;

use tensor_core::{DType, Device, Shape, Tensor};
use weights::{Checkpoint, Model, Weight};

pub use config::{BertConfig, Pooling};

use crate::blocks::{Embedding, LayerNorm, Linear};
use crate::config::{Architecture, Settings};
use crate::error::{Error, Result};
use names::Names;

/// An encoder on a device: each token attends to all tokens of its text. Its matrices are the weights of the
/// [`weights::Model`] that it is made from.
#[derive(Debug, Clone)]
pub struct Bert {
    config: BertConfig,
    words: Embedding,
    positions: Tensor,
    /// The vector of the first kind of texts, `[width]`: all texts are of this kind.
    kind: Tensor,
    norm: LayerNorm,
    layers: Vec<Layer>,
    dtype: DType,
    device: Device,
}

#[derive(Debug, Clone)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    attention_norm: LayerNorm,
    up: Linear,
    down: Linear,
    norm: LayerNorm,
}

impl Bert {
    /// Loads the encoder in a GGUF file, or in a folder with safetensors files and a config.json.
    ///
    /// # Errors
    /// As [`Checkpoint::open`], [`Settings::read`], [`BertConfig::new`], [`weights::Model::load`] and [`Bert::new`].
    pub fn open(path: impl AsRef<Path>, device: &Device) -> Result<Bert> {
        let checkpoint = Checkpoint::open(path.as_ref())?;
        let config = BertConfig::new(&Settings::read(path, &checkpoint)?)?;
        let model = Model::load(&checkpoint, device, &mut |_| ())?;
        Bert::new(config, &model, None)
    }

    /// The encoder of loaded weights. It computes in `dtype`: dense weights of another one are converted, which copies them.
    /// Without it, it computes in the dtype of the first layer's queries if that is `f16` or `bf16`, and else in `f32`.
    ///
    /// # Errors
    /// [`Error::MissingWeight`], [`Error::WrongShape`], or an error of the device.
    pub fn new(config: BertConfig, weights: &Model, dtype: Option<DType>) -> Result<Bert> {
        let names = Names::new(weights);
        let parts =
            Parts { weights, names: &names, dtype: dtype.unwrap_or(DType::F32), convert: dtype.is_some() };
        let parts = match (dtype, parts.find("blk.0.attn_q.weight").and_then(|weight| weight.tensor().ok())) {
            (None, Some(query)) if matches!(query.dtype(), DType::F16 | DType::BF16) => {
                Parts { dtype: query.dtype(), ..parts }
            }
            _ => parts,
        };
        let BertConfig { width, hidden, layers, context, norm_eps, .. } = config;
        let norm = |name: &str| -> Result<LayerNorm> {
            let of = |last: &str| parts.dense(&format!("{name}.{last}"), &[width]);
            Ok(LayerNorm::new(of("weight")?, of("bias")?, norm_eps))
        };
        let layer = |layer: usize| -> Result<Layer> {
            let at = |name: &str| format!("blk.{layer}.{name}");
            Ok(Layer {
                query: parts.linear(&at("attn_q"), width, width)?,
                key: parts.linear(&at("attn_k"), width, width)?,
                value: parts.linear(&at("attn_v"), width, width)?,
                output: parts.linear(&at("attn_output"), width, width)?,
                attention_norm: norm(&at("attn_output_norm"))?,
                up: parts.linear(&at("ffn_up"), hidden, width)?,
                down: parts.linear(&at("ffn_down"), width, hidden)?,
                norm: norm(&at("layer_output_norm"))?,
            })
        };
        let kinds = parts.dense_rows("token_types.weight", width)?;
        Ok(Bert {
            words: Embedding::new(parts.table("token_embd.weight", width)?, parts.dtype),
            positions: parts.dense("position_embd.weight", &[context, width])?,
            kind: kinds.select(0, 0)?,
            norm: norm("token_embd_norm")?,
            layers: (0..layers).map(layer).collect::<Result<_>>()?,
            dtype: parts.dtype,
            device: weights.device().clone(),
            config,
        })
    }

    /// The settings.
    pub fn config(&self) -> &BertConfig {
        &self.config
    }

    /// The dtype that it computes in.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The vectors of texts, `[texts, width]` in `f32`, normalised to length 1: the dot product of two is their cosine. A text
    /// is its tokens, with those of its begin and end. Shorter texts are padded to the longest.
    ///
    /// # Errors
    /// [`Error::NoTokens`] for no texts or an empty one; [`Error::ContextTooLong`], [`Error::UnknownToken`], or an error of the
    /// device.
    pub fn embed<T: AsRef<[u32]>>(&self, texts: &[T]) -> Result<Tensor> {
        let longest = texts.iter().map(|text| text.as_ref().len()).max().unwrap_or(0);
        if texts.iter().any(|text| text.as_ref().is_empty()) {
            return Err(Error::NoTokens);
        }
        let (mut ids, mut taken) = (Vec::new(), Vec::new());
        for text in texts {
            let text = text.as_ref();
            ids.extend(text.iter().copied().chain(std::iter::repeat_n(0, longest - text.len())));
            taken.extend((0..longest).map(|position| u8::from(position < text.len())));
        }
        let taken = Tensor::from_vec(taken, [texts.len(), longest], &self.device)?;
        let hidden = self.forward(&ids, &taken)?.to_dtype(DType::F32)?;
        let pooled = match self.config.pooling {
            Pooling::First => hidden.select(1, 0)?,
            Pooling::Mean => {
                let taken = taken.to_dtype(DType::F32)?.unsqueeze(2)?;
                hidden.mul(&taken)?.sum(1)?.div(&taken.sum(1)?)?
            }
        };
        Ok(pooled.div(&pooled.sqr()?.sum_keepdim(1)?.sqrt()?)?)
    }

    /// The last layer's vectors, `[texts, tokens, width]` in [`Bert::dtype`], of texts padded to the same length: `ids` are
    /// their tokens, one text after another, and `taken` `[texts, tokens]` of `u8` is 0 for padding, which no token attends to.
    ///
    /// # Errors
    /// As [`Bert::embed`].
    pub fn forward(&self, ids: &[u32], taken: &Tensor) -> Result<Tensor> {
        let &[texts, tokens] = taken.dims() else {
            let kind = tensor_core::ErrorKind::Rank { shape: taken.shape().clone(), expected: "2" };
            return Err(tensor_core::Error::new("bert", kind).into());
        };
        if texts == 0 || tokens == 0 {
            return Err(Error::NoTokens);
        }
        if tokens > self.config.context {
            return Err(Error::ContextTooLong { tokens, used: 0, capacity: self.config.context });
        }
        let vocabulary = self.words.vocabulary();
        if let Some(&token) = ids.iter().find(|id| **id as usize >= vocabulary) {
            return Err(Error::UnknownToken { token, vocabulary });
        }
        let ids = Tensor::from_slice(ids, [texts, tokens], &self.device)?;
        let words = self.words.forward(&ids)?;
        let sum = words.add(&self.positions.narrow(0, 0, tokens)?)?.add(&self.kind)?;
        let mut x = self.norm.forward(&sum)?;
        let mask = taken.unsqueeze(1)?.unsqueeze(1)?;
        for layer in &self.layers {
            x = layer.forward(x, &mask, self.config.heads)?;
        }
        Ok(x)
    }
}

impl Layer {
    /// `[texts, tokens, width]` to the same shape.
    fn forward(&self, x: Tensor, mask: &Tensor, heads: usize) -> Result<Tensor> {
        let &[texts, tokens, width] = x.dims() else { unreachable!("the shape is that of a batch") };
        let split = |linear: &Linear| -> Result<Tensor> {
            Ok(linear.forward(&x)?.reshape([texts, tokens, heads, width / heads])?.transpose(1, 2)?)
        };
        let (query, key, value) = (split(&self.query)?, split(&self.key)?, split(&self.value)?);
        let mixed = query.scaled_dot_product_attention(&key, &value, Some(mask), false, None)?;
        let mixed = mixed.transpose(1, 2)?.reshape([texts, tokens, width])?;
        let x = self.attention_norm.forward(&x.add(&self.output.forward(&mixed)?)?)?;
        let fed = self.down.forward(&self.up.forward(&x)?.gelu_erf()?)?;
        Ok(self.norm.forward(&x.add(&fed)?)?)
    }
}

/// The weights of an encoder, found by GGUF's names.
struct Parts<'a> {
    weights: &'a Model,
    names: &'a Names,
    dtype: DType,
    /// Whether dense matrices of another dtype are converted.
    convert: bool,
}

impl<'a> Parts<'a> {
    fn find(&self, name: &str) -> Option<&'a Arc<Weight>> {
        self.weights.find(&self.names.in_file(name))
    }

    fn get(&self, name: &str, shape: &[usize]) -> Result<&'a Arc<Weight>> {
        let weight = self.find(name).ok_or_else(|| Error::MissingWeight {
            name: self.names.in_file(name),
            architecture: Architecture::Bert,
        })?;
        if weight.shape().dims() == shape {
            return Ok(weight);
        }
        Err(Error::WrongShape {
            name: self.names.in_file(name),
            found: Box::new(weight.shape().clone()),
            expected: Box::new(Shape::from(shape)),
        })
    }

    /// A dense weight, in the dtype of activations.
    fn dense(&self, name: &str, shape: &[usize]) -> Result<Tensor> {
        let weight = self.get(name, shape)?;
        match weight.quantized() {
            Some(weight) => Ok(weight.dequantize(&self.weights.device().clone())?.to_dtype(self.dtype)?),
            None => Ok(weight.tensor()?.to_dtype(self.dtype)?),
        }
    }

    /// As [`Parts::dense`], with any number of rows but none.
    fn dense_rows(&self, name: &str, width: usize) -> Result<Tensor> {
        let rows = self.find(name).and_then(|weight| weight.shape().dims().first().copied());
        self.dense(name, &[rows.unwrap_or(1).max(1), width])
    }

    /// A matrix with any number of rows, for lookups or products.
    fn table(&self, name: &str, width: usize) -> Result<Arc<Weight>> {
        let rows = self.find(name).and_then(|weight| weight.shape().dims().first().copied());
        self.matrix(name, rows.unwrap_or(1), width)
    }

    fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Arc<Weight>> {
        let weight = self.get(name, &[rows, columns])?;
        match weight.tensor() {
            Ok(tensor) if self.convert && tensor.dtype() != self.dtype => {
                Ok(Arc::new(Weight::from(tensor.to_dtype(self.dtype)?)))
            }
            _ => Ok(Arc::clone(weight)),
        }
    }

    fn linear(&self, name: &str, outputs: usize, inputs: usize) -> Result<Linear> {
        let weight = self.matrix(&format!("{name}.weight"), outputs, inputs)?;
        Ok(Linear::new(weight, Some(self.dense(&format!("{name}.bias"), &[outputs])?)))
    }
}
