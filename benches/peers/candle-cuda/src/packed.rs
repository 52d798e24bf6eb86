//! Packed random numbers, and Llama with weights of them.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};

use candle_core::quantized::gguf_file::{Content, TensorInfo, Value, VersionedMagic};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Result, Tensor};
use candle_transformers::models::quantized_llama::ModelWeights;

use crate::shape::{NORM_EPSILON, ROPE_BASE, Shape};

/// The standard deviation of weights: activations stay finite.
pub const SIZE: f32 = 0.02;
/// Numbers that are packed. Matrices repeat them, each in memory of its own.
const PACKED: usize = 1 << 20;

/// The format of a name, if it is one of packed numbers.
pub fn format(name: &str) -> Option<GgmlDType> {
    match name {
        "q4_0" => Some(GgmlDType::Q4_0),
        "q8_0" => Some(GgmlDType::Q8_0),
        "q4_k" => Some(GgmlDType::Q4K),
        "q6_k" => Some(GgmlDType::Q6K),
        _ => None,
    }
}

/// The bytes of some random numbers in a format.
///
/// # Errors
/// candle cannot pack them.
pub fn blocks(format: GgmlDType) -> Result<Vec<u8>> {
    let numbers = Tensor::randn(0f32, SIZE, (1, PACKED), &Device::Cpu)?;
    Ok(QTensor::quantize(&numbers, format)?.data()?.into_owned())
}

/// candle's model, read from a file that exists only in parts: one norm, and blocks that repeat.
///
/// # Errors
/// Of the device.
pub fn llama(shape: &Shape, format: GgmlDType, device: &Device) -> Result<ModelWeights> {
    let norm: Vec<u8> = std::iter::repeat_n(1f32.to_le_bytes(), shape.width).flatten().collect();
    let content = Content {
        magic: VersionedMagic::GgufV3,
        metadata: metadata(shape),
        tensor_infos: weights(shape, format, norm.len() as u64),
        tensor_data_offset: 0,
    };
    let mut file = Repeating { norm, blocks: blocks(format)?, position: 0 };
    ModelWeights::from_gguf(content, &mut file, device)
}

fn metadata(shape: &Shape) -> HashMap<String, Value> {
    let number = |number: usize| Value::U32(number as u32);
    let settings = [
        ("general.architecture", Value::String("llama".into())),
        ("llama.attention.head_count", number(shape.heads)),
        ("llama.attention.head_count_kv", number(shape.kv_heads)),
        ("llama.block_count", number(shape.layers)),
        ("llama.embedding_length", number(shape.width)),
        ("llama.rope.dimension_count", number(shape.width / shape.heads)),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(NORM_EPSILON)),
        ("llama.rope.freq_base", Value::F32(ROPE_BASE)),
    ];
    settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Every weight's offset: norms at the file's begin, matrices at `blocks`.
fn weights(shape: &Shape, format: GgmlDType, blocks: u64) -> HashMap<String, TensorInfo> {
    let norm = || TensorInfo { ggml_dtype: GgmlDType::F32, shape: shape.width.into(), offset: 0 };
    let matrix = |rows: usize, columns: usize| TensorInfo {
        ggml_dtype: format,
        shape: (rows, columns).into(),
        offset: blocks,
    };
    let keys = shape.kv_heads * (shape.width / shape.heads);
    let mut all = HashMap::new();
    all.insert("token_embd.weight".to_owned(), matrix(shape.vocabulary, shape.width));
    all.insert("output_norm.weight".to_owned(), norm());
    if !shape.tied {
        all.insert("output.weight".to_owned(), matrix(shape.vocabulary, shape.width));
    }
    for layer in 0..shape.layers {
        let of_layer = [
            ("attn_norm", norm()),
            ("attn_q", matrix(shape.width, shape.width)),
            ("attn_k", matrix(keys, shape.width)),
            ("attn_v", matrix(keys, shape.width)),
            ("attn_output", matrix(shape.width, shape.width)),
            ("ffn_norm", norm()),
            ("ffn_gate", matrix(shape.hidden, shape.width)),
            ("ffn_up", matrix(shape.hidden, shape.width)),
            ("ffn_down", matrix(shape.width, shape.hidden)),
        ];
        all.extend(of_layer.map(|(name, info)| (format!("blk.{layer}.{name}.weight"), info)));
    }
    all
}

/// A file of a norm, then of blocks without end.
struct Repeating {
    norm: Vec<u8>,
    blocks: Vec<u8>,
    position: u64,
}

/// Bytes that the file seems to have.
const LENGTH: u64 = 1 << 40;

impl Read for Repeating {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let position = self.position as usize;
        let part = match position.checked_sub(self.norm.len()) {
            None => &self.norm[position..],
            Some(behind) => &self.blocks[behind % self.blocks.len()..],
        };
        let count = part.len().min(buffer.len());
        buffer[..count].copy_from_slice(&part[..count]);
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for Repeating {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(distance) => LENGTH.checked_add_signed(distance),
            SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
        };
        self.position = position.ok_or(std::io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
