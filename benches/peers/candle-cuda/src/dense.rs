//! Llama with weights that are not packed.

use candle_core::{DType, Device, Result, Shape as Dimensions, Tensor};
use candle_nn::{Init, VarBuilder, var_builder::SimpleBackend};
use candle_transformers::models::llama::{Cache, Config, Llama};

use crate::packed::SIZE;
use crate::shape::{NORM_EPSILON, ROPE_BASE, Shape};

/// A model and its state.
pub struct Dense {
    model: Llama,
    /// Without keys and values.
    empty: Cache,
    cache: Cache,
}

impl Dense {
    /// Random weights of bf16, made on the device.
    ///
    /// # Errors
    /// Of the device.
    pub fn new(shape: &Shape, device: &Device) -> Result<Self> {
        let config = Config {
            hidden_size: shape.width,
            intermediate_size: shape.hidden,
            vocab_size: shape.vocabulary,
            num_hidden_layers: shape.layers,
            num_attention_heads: shape.heads,
            num_key_value_heads: shape.kv_heads,
            use_flash_attn: false,
            rms_norm_eps: NORM_EPSILON.into(),
            rope_theta: ROPE_BASE,
            bos_token_id: None,
            eos_token_id: None,
            rope_scaling: None,
            max_position_embeddings: 131_072,
            tie_word_embeddings: shape.tied,
        };
        let weights = VarBuilder::from_backend(Box::new(Random), DType::BF16, device.clone());
        let model = Llama::load(weights, &config)?;
        let empty = Cache::new(true, DType::BF16, &config, device)?;
        Ok(Self { model, cache: empty.clone(), empty })
    }

    /// Logits of the token behind `tokens` of shape `[1, n]`, which begin at `position`. The first position forgets all others.
    ///
    /// # Errors
    /// Of the device.
    pub fn forward(&mut self, tokens: &Tensor, position: usize) -> Result<Tensor> {
        if position == 0 {
            self.cache = self.empty.clone();
        }
        self.model.forward(tokens, position, &mut self.cache)
    }
}

/// Gives random matrices, and norms of ones.
struct Random;

impl SimpleBackend for Random {
    fn get(&self, shape: Dimensions, _: &str, _: Init, dtype: DType, device: &Device) -> Result<Tensor> {
        if shape.rank() == 1 {
            return Tensor::ones(shape, dtype, device);
        }
        Tensor::randn(0f32, SIZE, shape, device)?.to_dtype(dtype)
    }

    fn get_unchecked(&self, name: &str, _: DType, _: &Device) -> Result<Tensor> {
        candle_core::bail!("{name}: a random weight needs a shape")
    }

    fn contains_tensor(&self, _: &str) -> bool {
        true
    }
}
