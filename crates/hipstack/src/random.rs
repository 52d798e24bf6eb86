//! Models of random weights in the shapes of real ones, to measure without files.

use std::sync::Arc;

use models::{Config, LanguageModel, Settings};
use tensor_core::{DType, Device, QStorage, QTensor, QuantFormat, Tensor};
use weights::gguf::Metadata;
use weights::{Format, Model, Weight};

use crate::Failure;

/// How far weights are from 0: a standard deviation that keeps activations finite.
const SIZE: f64 = 0.02;
/// Numbers that are quantized. Matrices repeat their blocks, each in memory of its own.
const QUANTIZED: usize = 1 << 20;

/// The shape of a Llama model.
struct LlamaShape {
    name: &'static str,
    width: usize,
    layers: usize,
    hidden: usize,
    heads: usize,
    kv_heads: usize,
    vocabulary: usize,
    /// Whether the output has the embedding's weight.
    tied: bool,
}

/// Llama 3.2 1B and Llama 3.1 8B, a small one for tests, and one of 2.1 GB in `bf16`: the first with 13 layers of its 16.
const SHAPES: [LlamaShape; 4] = [
    LlamaShape {
        name: "tiny",
        width: 256,
        layers: 2,
        hidden: 512,
        heads: 4,
        kv_heads: 2,
        vocabulary: 512,
        tied: true,
    },
    LlamaShape {
        name: "1b",
        width: 2048,
        layers: 16,
        hidden: 8192,
        heads: 32,
        kv_heads: 8,
        vocabulary: 128_256,
        tied: true,
    },
    LlamaShape {
        name: "2gb",
        width: 2048,
        layers: 13,
        hidden: 8192,
        heads: 32,
        kv_heads: 8,
        vocabulary: 128_256,
        tied: true,
    },
    LlamaShape {
        name: "8b",
        width: 4096,
        layers: 32,
        hidden: 14_336,
        heads: 32,
        kv_heads: 8,
        vocabulary: 128_256,
        tied: false,
    },
];

/// The model that `random:SHAPE:FORMAT` names; `None` for another text.
///
/// # Errors
/// What shapes and formats there are; an error of the device.
pub(crate) fn model(text: &str, device: &Device) -> Result<Option<LanguageModel>, Failure> {
    let Some(text) = text.strip_prefix("random:") else { return Ok(None) };
    let (shape, format) = text.split_once(':').unwrap_or((text, "bf16"));
    let Some(found) = SHAPES.iter().find(|known| known.name == shape) else {
        let known = SHAPES.map(|known| known.name).join(", ");
        return Err(format!("random:{shape}: the shapes are {known}").into());
    };
    let Some(format) = Format::from_name(format).filter(|format| format.can_convert_to()) else {
        return Err(
            format!("random:{shape}:{format}: no format for weights, such as bf16, q8_0, q4_k").into()
        );
    };
    let config = Config::new(&Settings::from_json(&found.settings())?)?;
    let named = found.weights(format, device)?;
    Ok(Some(LanguageModel::new(config, &Model::from_weights(device, named, Metadata::new())?)?))
}

impl LlamaShape {
    fn settings(&self) -> String {
        serde_json::json!({
            "model_type": "llama", "hidden_size": self.width, "num_hidden_layers": self.layers,
            "intermediate_size": self.hidden, "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads, "rms_norm_eps": 1e-5, "rope_theta": 5e5,
            "max_position_embeddings": 131_072, "tie_word_embeddings": self.tied,
        })
        .to_string()
    }

    fn weights(&self, format: Format, device: &Device) -> Result<Vec<(String, Arc<Weight>)>, Failure> {
        let make = Maker::new(format, device)?;
        let head = self.width / self.heads;
        let mut named = Vec::new();
        let mut add = |name: String, weight: Result<Weight, Failure>| {
            named.push((name, Arc::new(weight?)));
            Ok::<(), Failure>(())
        };
        add("token_embd.weight".into(), make.matrix(self.vocabulary, self.width))?;
        add("output_norm.weight".into(), make.norm(self.width))?;
        if !self.tied {
            add("output.weight".into(), make.matrix(self.vocabulary, self.width))?;
        }
        for layer in 0..self.layers {
            let mut add = |name: &str, weight| add(format!("blk.{layer}.{name}.weight"), weight);
            add("attn_norm", make.norm(self.width))?;
            add("attn_q", make.matrix(self.width, self.width))?;
            add("attn_k", make.matrix(self.kv_heads * head, self.width))?;
            add("attn_v", make.matrix(self.kv_heads * head, self.width))?;
            add("attn_output", make.matrix(self.width, self.width))?;
            add("ffn_norm", make.norm(self.width))?;
            add("ffn_gate", make.matrix(self.hidden, self.width))?;
            add("ffn_up", make.matrix(self.hidden, self.width))?;
            add("ffn_down", make.matrix(self.width, self.hidden))?;
        }
        Ok(named)
    }
}

/// Makes weights of one format.
struct Maker<'a> {
    device: &'a Device,
    /// The dtype of norms, and of matrices that are not quantized.
    dtype: DType,
    /// Blocks to repeat.
    blocks: Option<(QuantFormat, Vec<u8>)>,
}

impl Maker<'_> {
    fn new(format: Format, device: &Device) -> Result<Maker<'_>, Failure> {
        let (dtype, blocks) = match format {
            Format::Dense(dtype) => (dtype, None),
            Format::Quantized(format) => {
                let numbers = Tensor::randn(0f32, SIZE as f32, [1, QUANTIZED], &Device::Cpu)?;
                let blocks = QTensor::quantize(&numbers, format)?.data()?.into_owned();
                (DType::F32, Some((format, blocks)))
            }
            other => return Err(format!("no random weights are made in {}", other.name()).into()),
        };
        Ok(Maker { device, dtype, blocks })
    }

    fn matrix(&self, rows: usize, columns: usize) -> Result<Weight, Failure> {
        let Some((format, blocks)) = &self.blocks else {
            let numbers = Tensor::randn(0f32, SIZE as f32, [rows, columns], self.device)?;
            return Ok(numbers.to_dtype(self.dtype)?.into());
        };
        let bytes = rows * columns / format.block_size() * format.type_size();
        let repeated: Vec<u8> = blocks.iter().copied().cycle().take(bytes).collect();
        let storage = QStorage::from_data(repeated.into(), self.device, *format)?;
        Ok(QTensor::new(storage, [rows, columns])?.into())
    }

    fn norm(&self, length: usize) -> Result<Weight, Failure> {
        Ok(Tensor::ones(length, self.dtype, self.device)?.into())
    }
}
