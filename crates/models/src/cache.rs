//! Keys and values of the tokens that were seen.

use tensor_core::{DType, Device, Error, ErrorKind, Result, Tensor};

use crate::blocks::Table;
use crate::config::Config;

/// The keys and values of one sequence, in memory that is allocated once and written in place.
#[doc(alias = "KV cache")]
#[derive(Debug)]
pub struct Cache {
    pub(crate) layers: Vec<LayerCache>,
    /// Cosines and sines of all positions, in layers without and with a window.
    pub(crate) tables: [Table; 2],
    pub(crate) length: usize,
    capacity: usize,
    dtype: DType,
}

/// The keys and values of a layer: `[1, kv_heads, capacity, head_size]` each.
#[derive(Debug)]
pub(crate) struct LayerCache {
    keys: Tensor,
    values: Tensor,
}

impl Cache {
    /// Memory for `capacity` tokens.
    pub(crate) fn new(
        config: &Config,
        tables: [Table; 2],
        capacity: usize,
        dtype: DType,
        device: &Device,
    ) -> Result<Cache> {
        if !matches!(dtype, DType::F32 | DType::F16 | DType::BF16) {
            let what = format!("keys and values are f32, f16 or bf16, and not {dtype}");
            return Err(Error::new("cache", ErrorKind::Argument { what }));
        }
        let zeros = || Tensor::zeros([1, config.kv_heads, capacity, config.head_size], dtype, device);
        let layers = (0..config.layers).map(|layer| {
            let (keys, values) = (zeros()?, zeros()?);
            keys.set_name(format_args!("keys of layer {layer}"));
            values.set_name(format_args!("values of layer {layer}"));
            Ok(LayerCache { keys, values })
        });
        Ok(Cache { layers: layers.collect::<Result<_>>()?, tables, length: 0, capacity, dtype })
    }

    /// The number of tokens that it holds.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The most tokens that it holds.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The dtype of keys and values.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Forgets all tokens but the first `length`. The memory stays. Does nothing if there are no more.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

impl LayerCache {
    /// Writes keys and values `[1, kv_heads, tokens, head_size]` of the tokens from `start` on.
    pub(crate) fn write(&mut self, start: usize, keys: &Tensor, values: &Tensor) -> Result<()> {
        let dtype = self.keys.dtype();
        self.keys.slice_set_(&keys.to_dtype(dtype)?, 2, start)?;
        self.values.slice_set_(&values.to_dtype(dtype)?, 2, start)
    }

    /// The keys and values of `count` tokens from `first` on. They are views: none may be alive at the next write, which would
    /// copy all of the memory.
    pub(crate) fn read(&self, first: usize, count: usize) -> Result<(Tensor, Tensor)> {
        Ok((self.keys.narrow(2, first, count)?, self.values.narrow(2, first, count)?))
    }
}
