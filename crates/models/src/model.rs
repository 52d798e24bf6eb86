//! A model that continues texts.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use tensor_core::{DType, Device, Tensor};
use weights::{Checkpoint, Model};

use crate::blocks::{Frequencies, Network, Parts};
use crate::cache::Cache;
use crate::config::{Architecture, Config, Settings};
use crate::error::{Error, Result};
use crate::step::{Logits, Step};
use crate::{gemma3, llama, qwen2, qwen3};

/// A model that continues texts, on a device. A clone counts a reference.
///
/// Its matrices are the weights of the [`weights::Model`] that it is made from: none is copied. Norms and biases are shared as
/// well, but where they have another dtype than activations, or where a file stores their difference from 1.
#[derive(Clone)]
pub struct LanguageModel {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    weights: Model,
    network: Box<dyn Network>,
    /// Of positions in layers without and with a window.
    frequencies: [Frequencies; 2],
    dtype: DType,
}

impl LanguageModel {
    /// Loads the model in a GGUF file, or in a folder with safetensors files and a config.json.
    ///
    /// # Errors
    /// As [`Checkpoint::open`], [`Settings::read`], [`Config::new`], [`weights::Model::load`] and [`LanguageModel::new`].
    pub fn open(path: impl AsRef<Path>, device: &Device) -> Result<LanguageModel> {
        let checkpoint = Checkpoint::open(path.as_ref())?;
        // Settings first: they may say that the model is none for this.
        let config = Config::new(&Settings::read(path, &checkpoint)?)?;
        LanguageModel::new(config, &Model::load(&checkpoint, device, &mut |_| ())?)
    }

    /// The model of loaded weights. Activations have the dtype of the first layer's queries if it is `f16` or `bf16`, and else
    /// `f32`.
    ///
    /// # Errors
    /// [`Error::MissingWeight`], [`Error::WrongShape`], [`Error::WrongKind`] for an encoder, or an error of the device.
    pub fn new(config: Config, weights: &Model) -> Result<LanguageModel> {
        let parts = Parts::new(weights, &config);
        let (dtype, architecture) = (parts.dtype, config.architecture);
        let network: Box<dyn Network> = match architecture {
            Architecture::Llama => Box::new(llama::build(&parts)?),
            Architecture::Qwen2 => Box::new(qwen2::build(&parts)?),
            Architecture::Qwen3 => Box::new(qwen3::build(&parts)?),
            Architecture::Gemma3 => Box::new(gemma3::build(&parts)?),
            Architecture::Bert => {
                return Err(Error::WrongKind { architecture, is: "is an encoder", asked: "continue texts" });
            }
        };
        let frequencies = parts.frequencies()?;
        let weights = weights.clone();
        Ok(LanguageModel { inner: Arc::new(Inner { config, weights, network, frequencies, dtype }) })
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// The weights.
    pub fn weights(&self) -> &Model {
        &self.inner.weights
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.inner.weights.device()
    }

    /// The dtype of activations.
    pub fn dtype(&self) -> DType {
        self.inner.dtype
    }

    /// Tokens in the vocabulary.
    pub fn vocabulary(&self) -> usize {
        self.inner.network.vocabulary()
    }

    /// A cache for the keys and values of `capacity` tokens of one sequence, in `dtype`: `f32`, `f16` or `bf16`. It takes
    /// [`Config::cache_bytes`], which are allocated now and never again.
    ///
    /// # Errors
    /// [`tensor_core::ErrorKind::Argument`] for another dtype; [`tensor_core::ErrorKind::OutOfMemory`], or an error of the
    /// device.
    pub fn new_cache(&self, capacity: usize, dtype: DType) -> Result<Cache> {
        let Inner { config, frequencies: [full, local], .. } = &*self.inner;
        let table = |frequencies: &Frequencies| frequencies.table(capacity, self.dtype(), self.device());
        let full_table = table(full)?;
        let local_table = if local == full { full_table.clone() } else { table(local)? };
        Ok(Cache::new(config, [full_table, local_table], capacity, dtype, self.device())?)
    }

    /// Adds tokens to a sequence, all of them at once, and gives the logits of the token that follows the last of them,
    /// `[1, vocabulary]`, or each of them, `[tokens, vocabulary]`: in `f32`, on the device. The cache gets their keys and
    /// values. [`crate::Session`] divides long texts.
    ///
    /// # Errors
    /// [`Error::NoTokens`], [`Error::ContextTooLong`], [`Error::UnknownToken`], [`Error::WrongCache`], or an error of the
    /// device. The cache then holds what it held.
    pub fn forward(&self, tokens: &[u32], cache: &mut Cache, logits: Logits) -> Result<Tensor> {
        let Inner { config, network, .. } = &*self.inner;
        if cache.layers.len() != config.layers {
            return Err(Error::WrongCache { found: cache.layers.len(), expected: config.layers });
        }
        let (used, capacity) = (cache.length, cache.capacity());
        if tokens.is_empty() {
            return Err(Error::NoTokens);
        }
        if tokens.len() > capacity - used {
            return Err(Error::ContextTooLong { tokens: tokens.len(), used, capacity });
        }
        let vocabulary = self.vocabulary();
        if let Some(&token) = tokens.iter().find(|token| **token as usize >= vocabulary) {
            return Err(Error::UnknownToken { token, vocabulary });
        }
        let ids = Tensor::from_slice(tokens, tokens.len(), self.device())?;
        let step = Step::new(config, &cache.tables, used, tokens.len(), self.device())?;
        let logits = network.forward(&ids, &step, &mut cache.layers, logits)?;
        cache.length += tokens.len();
        Ok(logits)
    }
}

impl fmt::Debug for LanguageModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { config, weights, dtype, .. } = &*self.inner;
        write!(f, "LanguageModel({}, {} layers, {dtype}, {weights:?})", config.architecture, config.layers)
    }
}
