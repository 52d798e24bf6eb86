//! A model that continues texts.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use tensor_core::{DType, Device, Tensor, Upload};
use weights::{Cache as WeightCache, CacheStatistics, Checkpoint, Model};

use crate::blocks::{CachedWeights, Frequencies, Network, Parts, layer_model};
use crate::cache::{Cache, CacheFormat};
use crate::config::{Architecture, Config, Settings};
use crate::error::{Error, Result};
use crate::profile::{OperationTime, Profile};
use crate::step::{KeyRanges, Logits, Positions, Step};
use crate::steps::Steps;
use crate::trace::{Activation, Trace};
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
    /// The weights of layers, if `weights` has only the others.
    cached: Option<Arc<CachedWeights>>,
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
        LanguageModel::of(Parts::new(weights, &config))
    }

    /// Opens a model of which at most `budget` bytes of weights are on the device at once, for models that are larger than it. The
    /// embedding, the last norm and the output stay. Layers are loaded when a pass needs them, by a [`weights::Cache`], the next
    /// one while one computes. The least recently used one goes first, so if not all fit, each token reads all of them again. Steps
    /// are no graphs. A quantized weight takes its bytes once more while it is loaded, and memory of a layer that the device still
    /// works with is not counted.
    ///
    /// # Errors
    /// As [`LanguageModel::open`]; [`Error::BudgetTooSmall`]. What is wrong with a layer's weights is an error of the first pass.
    pub fn open_within(path: impl AsRef<Path>, device: &Device, budget: u64) -> Result<LanguageModel> {
        let checkpoint = Checkpoint::open(path.as_ref())?;
        let config = Config::new(&Settings::read(path, &checkpoint)?)?;
        if config.architecture == Architecture::Bert {
            return Err(no_language_model(config.architecture));
        }
        let outside = checkpoint.names_outside_layers();
        let bytes = |name: &&str| checkpoint.info(name).map_or(0, |info| info.bytes);
        let outside_bytes: u64 = outside.iter().map(bytes).sum();
        let layers = checkpoint.layer_bytes();
        let (layer_bytes, largest) = (layers.values().sum(), layers.values().copied().max().unwrap_or(0));
        let needed = outside_bytes.saturating_add(largest);
        if budget < needed {
            return Err(Error::BudgetTooSmall { budget, needed });
        }
        let mut upload = Upload::new(device)?;
        let load = |name: &&str| Ok(((*name).to_owned(), Arc::new(checkpoint.load(name, &mut upload)?)));
        let named = outside.iter().map(load).collect::<Result<Vec<_>>>()?;
        upload.finish()?;
        let weights = Model::from_weights(device, named, checkpoint.metadata().clone())?;
        let cache = WeightCache::new(checkpoint, device, budget - outside_bytes)?;
        let dtype = Parts::new(&layer_model(&cache, 0, device)?, &config).dtype;
        let cached = Some(Arc::new(CachedWeights {
            cache,
            config: config.clone(),
            device: device.clone(),
            bytes: layer_bytes,
            dtype,
        }));
        LanguageModel::of(Parts { weights: &weights, config: &config, dtype, cached })
    }

    fn of(parts: Parts<'_>) -> Result<LanguageModel> {
        let (dtype, architecture) = (parts.dtype, parts.config.architecture);
        let network: Box<dyn Network> = match architecture {
            Architecture::Llama => Box::new(llama::build(&parts)?),
            Architecture::Qwen2 => Box::new(qwen2::build(&parts)?),
            Architecture::Qwen3 => Box::new(qwen3::build(&parts)?),
            Architecture::Gemma3 => Box::new(gemma3::build(&parts)?),
            Architecture::Bert => return Err(no_language_model(architecture)),
        };
        let frequencies = parts.frequencies()?;
        let (config, weights, cached) = (parts.config.clone(), parts.weights.clone(), parts.cached);
        Ok(LanguageModel { inner: Arc::new(Inner { config, weights, cached, network, frequencies, dtype }) })
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// The weights: of a model that was opened [within a budget](LanguageModel::open_within), those outside of layers.
    pub fn weights(&self) -> &Model {
        &self.inner.weights
    }

    /// The bytes of all weights, those of layers that are not loaded included.
    pub fn weight_bytes(&self) -> u64 {
        let Inner { weights, cached, .. } = &*self.inner;
        weights.byte_len() as u64 + cached.as_ref().map_or(0, |cached| cached.bytes)
    }

    /// What the cache of layers holds and did; `None` for a model that is on the device as a whole.
    pub fn cached_layers(&self) -> Option<CacheStatistics> {
        Some(self.inner.cached.as_ref()?.cache.statistics())
    }

    /// Whether layers are loaded when they are needed.
    pub(crate) fn has_budget(&self) -> bool {
        self.inner.cached.is_some()
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

    /// A cache for the keys and values of `sequences` of `capacity` tokens each. It takes [`Config::cache_bytes`], which are
    /// allocated now and never again.
    ///
    /// # Errors
    /// [`tensor_core::ErrorKind::Overflow`], [`tensor_core::ErrorKind::OutOfMemory`], or an error of the device.
    pub fn new_cache(&self, sequences: usize, capacity: usize, format: CacheFormat) -> Result<Cache> {
        self.pooled_cache((sequences, capacity, None), format)
    }

    /// The same with memory for so many tokens of all sequences.
    pub(crate) fn pooled_cache(
        &self,
        (sequences, capacity, pool): (usize, usize, Option<usize>),
        format: CacheFormat,
    ) -> Result<Cache> {
        let Inner { config, frequencies: [full, local], .. } = &*self.inner;
        let table = |frequencies: &Frequencies| frequencies.table(capacity, self.dtype(), self.device());
        let full_table = table(full)?;
        let local_table = if local == full { full_table.clone() } else { table(local)? };
        let tables = [full_table, local_table];
        Ok(Cache::new(config, tables, (sequences, capacity, pool), format, self.device())?)
    }

    /// Adds tokens to a sequence of the cache, all of them at once, and gives the logits of the token that follows the last of
    /// them, `[1, vocabulary]`, or each of them, `[tokens, vocabulary]`: in `f32`, on the device. The cache gets their keys and
    /// values. [`crate::Session`] divides long texts.
    ///
    /// # Errors
    /// [`Error::NoTokens`], [`Error::ContextTooLong`], [`Error::OutOfPages`], [`Error::UnknownToken`], [`Error::UnknownSequence`],
    /// [`Error::WrongCache`], or an error of the device. The cache then holds what it held.
    pub fn forward(
        &self,
        tokens: &[u32],
        cache: &mut Cache,
        sequence: usize,
        logits: Logits,
    ) -> Result<Tensor> {
        self.check(cache, sequence, tokens)?;
        let forward = |cache: &mut Cache| {
            let (ids, step) = self.chunk(tokens, cache, sequence)?;
            self.inner.network.forward(&ids, &step, &mut cache.layers, logits)
        };
        let logits = forward(cache);
        match &logits {
            Ok(_) => cache.lengths[sequence] += tokens.len(),
            Err(_) => cache.release(sequence),
        }
        logits
    }

    /// The ids and the step of tokens that were checked. The sequence gets the pages for them.
    fn chunk(&self, tokens: &[u32], cache: &mut Cache, sequence: usize) -> Result<(Tensor, Step)> {
        cache.reserve(&[(sequence, tokens.len())])?;
        let ids = Tensor::from_slice(tokens, tokens.len(), self.device())?;
        Ok((ids, Step::chunk(self.config(), cache, sequence, tokens.len(), self.device())?))
    }

    /// What each operation of a pass over the tokens gives, in order, from the embedding to the logits after each token. For
    /// comparing devices: see [`drift`](crate::drift()). All of it stays in the device's memory until it is dropped.
    ///
    /// # Errors
    /// As [`LanguageModel::new_cache`] and [`LanguageModel::forward`].
    pub fn trace(&self, tokens: &[u32]) -> Result<Vec<Activation>> {
        let mut cache = self.new_cache(1, tokens.len(), CacheFormat::of(self.dtype()))?;
        self.check(&cache, 0, tokens)?;
        let (ids, mut step) = self.chunk(tokens, &mut cache, 0)?;
        step.trace = Some(Trace::default());
        self.inner.network.forward(&ids, &step, &mut cache.layers, Logits::All)?;
        Ok(step.trace.map(Trace::into_activations).unwrap_or_default())
    }

    /// How long each kind of operation takes in a prompt of these tokens, in chunks of `chunk`: on a HIP device between two events
    /// of its stream. The time that a device waits for the host counts for the operation behind it. What a pass does beside the
    /// operations of [`LanguageModel::trace`], such as writing the cache, counts for the next one. Code that is used for the first
    /// time is loaded meanwhile: call this twice.
    ///
    /// # Errors
    /// As [`LanguageModel::new_cache`] and [`LanguageModel::forward`].
    pub fn profile(&self, tokens: &[u32], chunk: usize) -> Result<Vec<OperationTime>> {
        let mut cache = self.new_cache(1, tokens.len(), CacheFormat::of(self.dtype()))?;
        self.check(&cache, 0, tokens)?;
        let mut times = Vec::new();
        for tokens in tokens.chunks(chunk.max(1)) {
            let (ids, mut step) = self.chunk(tokens, &mut cache, 0)?;
            step.profile = Some(Profile::start(self.device())?);
            self.inner.network.forward(&ids, &step, &mut cache.layers, Logits::Last)?;
            cache.lengths[0] += tokens.len();
            if let Some(profile) = step.profile {
                profile.add_to(&mut times)?;
            }
        }
        Ok(times)
    }

    /// The logits `[sequences, vocabulary]` after the tokens, one of each sequence that has one, which were checked and have pages. The
    /// cache's lengths stay.
    pub(crate) fn step(
        &self,
        tokens: &[Option<u32>],
        cache: &mut Cache,
        steps: &mut Steps,
    ) -> Result<Tensor> {
        let needed = steps.place(tokens, cache)?;
        let network = &self.inner.network;
        let mut compute = |ids: &Tensor, positions: &Positions, ranges: Option<&KeyRanges>, keys: usize| {
            let step = Step::each(cache, positions, ranges, keys)?;
            network.forward(ids, &step, &mut cache.layers, Logits::All)
        };
        steps.run(needed, self.device(), &mut compute)
    }

    /// That tokens may be added to a sequence.
    ///
    /// # Errors
    /// As [`LanguageModel::forward`].
    pub(crate) fn check(&self, cache: &Cache, sequence: usize, tokens: &[u32]) -> Result<()> {
        let layers = self.inner.config.layers;
        if cache.layers.len() != layers {
            return Err(Error::WrongCache { found: cache.layers.len(), expected: layers });
        }
        let (used, capacity) = (cache.length(sequence)?, cache.capacity());
        if tokens.is_empty() {
            return Err(Error::NoTokens);
        }
        if tokens.len() > capacity - used {
            return Err(Error::ContextTooLong { tokens: tokens.len(), used, capacity });
        }
        let vocabulary = self.vocabulary();
        match tokens.iter().find(|token| **token as usize >= vocabulary) {
            Some(&token) => Err(Error::UnknownToken { token, vocabulary }),
            None => Ok(()),
        }
    }
}

fn no_language_model(architecture: Architecture) -> Error {
    Error::WrongKind { architecture, is: "is an encoder", asked: "continue texts" }
}

impl fmt::Debug for LanguageModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { config, weights, dtype, .. } = &*self.inner;
        write!(f, "LanguageModel({}, {} layers, {dtype}, {weights:?})", config.architecture, config.layers)
    }
}
