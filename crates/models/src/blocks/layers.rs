//! The layers of a decoder: all on the device, or loaded when they are needed.

use std::sync::Arc;

use tensor_core::{DType, Device};
use weights::gguf::Metadata;
use weights::{Cache as WeightCache, Model};

use super::decoder::Layer;
use super::parts::Parts;
use super::residual::Residual;
use crate::cache::LayerCache;
use crate::config::Config;
use crate::error::Result;
use crate::step::Step;

/// Makes a layer, of a number, from its weights.
pub(crate) type Make<L> = Box<dyn Fn(&Parts<'_>, usize) -> Result<L> + Send + Sync>;

/// The layers of a decoder.
pub(crate) enum Layers<L> {
    /// All of them.
    Loaded(Vec<L>),
    /// Each is made for each pass, of weights that a cache has or loads.
    Cached {
        /// The weights.
        weights: Arc<CachedWeights>,
        /// Makes a layer of them, which counts references.
        make: Make<L>,
    },
}

impl<L: Layer> Layers<L> {
    /// As [`Layer::forward`] of the layer of that number.
    pub(crate) fn forward(
        &self,
        number: usize,
        x: Residual,
        step: &Step,
        cache: &mut LayerCache,
    ) -> Result<Residual> {
        Ok(match self {
            Layers::Loaded(layers) => layers[number].forward(x, step, cache)?,
            Layers::Cached { weights, make } => weights.make(number, make)?.forward(x, step, cache)?,
        })
    }
}

/// The weights of a model's layers within a budget, and what layers are made with.
pub(crate) struct CachedWeights {
    pub(crate) cache: WeightCache,
    pub(crate) config: Config,
    pub(crate) device: Device,
    /// Of all layers.
    pub(crate) bytes: u64,
    /// The dtype of activations.
    pub(crate) dtype: DType,
}

impl CachedWeights {
    /// Makes the layer of that number. The next one is loaded meanwhile.
    pub(crate) fn make<L>(&self, number: usize, make: impl Fn(&Parts<'_>, usize) -> Result<L>) -> Result<L> {
        let model = layer_model(&self.cache, number, &self.device)?;
        make(&Parts { weights: &model, config: &self.config, dtype: self.dtype, cached: None }, number)
    }
}

/// The weights of one layer, under GGUF's names.
pub(crate) fn layer_model(cache: &WeightCache, number: usize, device: &Device) -> Result<Model> {
    let layer = cache.layer(number)?;
    let named = layer.iter().map(|(name, weight)| (format!("blk.{number}.{name}"), Arc::clone(weight)));
    Ok(Model::from_weights(device, named, Metadata::new())?)
}
