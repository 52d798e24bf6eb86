//! all-MiniLM-L6-v2, a sentence encoder: a BERT with six layers whose last hidden states are averaged.

use std::collections::BTreeMap;
use std::path::Path;

use tensor_core::{DType, Device, Tensor, safetensors};
use tokenizers::{PaddingParams, PaddingStrategy, Tokenizer, TruncationParams};

const LAYERS: usize = 6;
const HEADS: usize = 12;
/// Maximum number of tokens of a sentence; the rest is truncated, as in the original.
const LONGEST: usize = 128;
const EPS: f64 = 1e-12;

/// Why there is no embedding.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An operation or a file of weights failed.
    #[error(transparent)]
    Tensor(#[from] tensor_core::Error),
    /// The tokenizer's file or a text is invalid.
    #[error("tokenizer: {0}")]
    Tokenizer(#[from] tokenizers::Error),
    /// A tensor that is missing from the file.
    #[error("the weights have no tensor {0:?}: is this all-MiniLM-L6-v2?")]
    Missing(String),
}

/// The model on a device.
pub struct MiniLm {
    tokenizer: Tokenizer,
    weights: BTreeMap<String, Tensor>,
    device: Device,
}

impl MiniLm {
    /// Reads `model.safetensors` and `tokenizer.json` from a folder. The weights are converted to `dtype`.
    /// Everything is computed in this dtype, except the mean over the tokens.
    ///
    /// # Errors
    /// [`Error`] for a file that is missing or belongs to another model, or for an error of the device.
    pub fn load(folder: impl AsRef<Path>, dtype: DType, device: &Device) -> Result<MiniLm, Error> {
        let folder = folder.as_ref();
        let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json"))?;
        let longest = PaddingParams { strategy: PaddingStrategy::BatchLongest, ..PaddingParams::default() };
        tokenizer.with_padding(Some(longest));
        let truncation = TruncationParams { max_length: LONGEST, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation))?;
        let mut weights = safetensors::read(folder.join("model.safetensors"), device)?.tensors;
        for weight in weights.values_mut().filter(|weight| weight.dtype().is_float()) {
            *weight = weight.to_dtype(dtype)?;
        }
        Ok(MiniLm { tokenizer, weights, device: device.clone() })
    }

    /// The ids of a sentence's tokens, without padding.
    ///
    /// # Errors
    /// [`Error::Tokenizer`].
    pub fn ids(&self, sentence: &str) -> Result<Vec<u32>, Error> {
        Ok(self.tokenizer.encode(sentence, true)?.get_ids().to_vec())
    }

    /// The embeddings of sentences, `[sentences, 384]` in f32, normalised to length 1: the cosine of two is
    /// their dot product.
    ///
    /// # Errors
    /// [`Error`] of the tokenizer or of the device.
    pub fn embed(&self, sentences: &[&str]) -> Result<Tensor, Error> {
        let encoded = self.tokenizer.encode_batch(sentences.to_vec(), true)?;
        let tokens = encoded.first().map_or(0, |one| one.get_ids().len());
        let shape = [sentences.len(), tokens];
        let ids: Vec<u32> = encoded.iter().flat_map(|one| one.get_ids().to_vec()).collect();
        let mask: Vec<u32> = encoded.iter().flat_map(|one| one.get_attention_mask().to_vec()).collect();
        let ids = Tensor::from_slice(&ids, shape, &self.device)?;
        let mask = Tensor::from_slice(&mask, shape, &self.device)?;

        let hidden = self.hidden(&ids, &mask)?.to_dtype(DType::F32)?;
        let taken = mask.to_dtype(DType::F32)?.unsqueeze(2)?;
        let sum = hidden.mul(&taken)?.sum(1)?;
        let mean = sum.div(&taken.sum(1)?)?;
        Ok(mean.div(&mean.sqr()?.sum_keepdim(1)?.sqrt()?)?)
    }

    /// The last layer's hidden states, `[sentences, tokens, 384]`.
    fn hidden(&self, ids: &Tensor, mask: &Tensor) -> Result<Tensor, Error> {
        let tokens = ids.dims()[1];
        let positions = self.weight("embeddings.position_embeddings.weight")?.narrow(0, 0, tokens)?;
        let first_kind = self.weight("embeddings.token_type_embeddings.weight")?.narrow(0, 0, 1)?;
        let words = self.weight("embeddings.word_embeddings.weight")?.embedding(ids)?;
        let sum = words.add(&positions)?.add(&first_kind)?;
        let mut x = self.norm("embeddings.LayerNorm", &sum)?;
        let taken = mask.to_dtype(DType::U8)?.unsqueeze(1)?.unsqueeze(1)?;
        for layer in 0..LAYERS {
            let at = |part: &str| format!("encoder.layer.{layer}.{part}");
            let y = self.attention(&at("attention.self"), &x, &taken)?;
            let y = self.linear(&at("attention.output.dense"), &y)?;
            x = self.norm(&at("attention.output.LayerNorm"), &x.add(&y)?)?;
            let y = self.linear(&at("intermediate.dense"), &x)?.gelu_erf()?;
            let y = self.linear(&at("output.dense"), &y)?;
            x = self.norm(&at("output.LayerNorm"), &x.add(&y)?)?;
        }
        Ok(x)
    }

    /// Every token attends to the tokens of its sentence that `taken` marks.
    fn attention(&self, name: &str, x: &Tensor, taken: &Tensor) -> Result<Tensor, Error> {
        let (batch, tokens, width) = (x.dims()[0], x.dims()[1], x.dims()[2]);
        let heads = |part: &str| -> Result<Tensor, Error> {
            let y = self.linear(&format!("{name}.{part}"), x)?;
            Ok(y.reshape([batch, tokens, HEADS, width / HEADS])?.transpose(1, 2)?)
        };
        let (query, key, value) = (heads("query")?, heads("key")?, heads("value")?);
        let y = query.scaled_dot_product_attention(&key, &value, Some(taken), false, None)?;
        Ok(y.transpose(1, 2)?.reshape([batch, tokens, width])?)
    }

    fn linear(&self, name: &str, x: &Tensor) -> Result<Tensor, Error> {
        let weight = self.weight(&format!("{name}.weight"))?;
        let (inputs, outputs) = (weight.dims()[1], weight.dims()[0]);
        let mut shape = x.dims().to_vec();
        let rows = x.elements() / inputs;
        let y = x.reshape([rows, inputs])?.matmul(&weight.t()?)?;
        let y = y.add(self.weight(&format!("{name}.bias"))?)?;
        shape.pop();
        shape.push(outputs);
        Ok(y.reshape(shape)?)
    }

    fn norm(&self, name: &str, x: &Tensor) -> Result<Tensor, Error> {
        let (weight, bias) = (self.weight(&format!("{name}.weight"))?, self.weight(&format!("{name}.bias"))?);
        Ok(x.layer_norm(Some(weight), Some(bias), EPS)?)
    }

    fn weight(&self, name: &str) -> Result<&Tensor, Error> {
        self.weights.get(name).ok_or_else(|| Error::Missing(name.to_owned()))
    }
}
