//! Keys and values of the tokens that were seen.

mod format;
mod layer;

pub use format::CacheFormat;
pub(crate) use layer::LayerCache;

use tensor_core::{Device, ErrorKind, Result};

use crate::blocks::Table;
use crate::config::Config;
use crate::error;

/// The keys and values of some sequences, in memory that is allocated once and written in place. Each sequence has rows of its
/// own, as many as tokens fit.
#[doc(alias = "KV cache")]
#[derive(Debug)]
pub struct Cache {
    pub(crate) layers: Vec<LayerCache>,
    /// Cosines and sines of all positions, in layers without and with a window.
    pub(crate) tables: [Table; 2],
    /// The windows that layers have, each once.
    pub(crate) windows: Vec<Option<usize>>,
    pub(crate) lengths: Vec<usize>,
    capacity: usize,
    format: CacheFormat,
}

impl Cache {
    /// Memory for `sequences` of `capacity` tokens each.
    pub(crate) fn new(
        config: &Config,
        tables: [Table; 2],
        (sequences, capacity): (usize, usize),
        format: CacheFormat,
        device: &Device,
    ) -> Result<Cache> {
        let Some(rows) = rows(sequences, capacity) else {
            return Err(tensor_core::Error::new(
                "cache",
                ErrorKind::Overflow { shape: [sequences, capacity].into() },
            ));
        };
        let layers = (0..config.layers).map(|layer| LayerCache::new((config, layer), rows, format, device));
        let mut windows = config.windows.clone();
        windows.sort_unstable();
        windows.dedup();
        let lengths = vec![0; sequences];
        Ok(Cache { layers: layers.collect::<Result<_>>()?, tables, windows, lengths, capacity, format })
    }

    /// How many sequences it holds.
    pub fn sequences(&self) -> usize {
        self.lengths.len()
    }

    /// The number of tokens that it holds of a sequence.
    ///
    /// # Errors
    /// [`Error::UnknownSequence`](error::Error::UnknownSequence).
    pub fn length(&self, sequence: usize) -> error::Result<usize> {
        self.require(sequence)?;
        Ok(self.lengths[sequence])
    }

    /// The most tokens of a sequence.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The format of keys and values.
    pub fn format(&self) -> CacheFormat {
        self.format
    }

    /// Forgets all tokens of a sequence but the first `length`. The memory stays. Does nothing if there are no more.
    ///
    /// # Errors
    /// [`Error::UnknownSequence`](error::Error::UnknownSequence).
    pub fn truncate(&mut self, sequence: usize, length: usize) -> error::Result<()> {
        self.require(sequence)?;
        self.lengths[sequence] = self.lengths[sequence].min(length);
        Ok(())
    }

    /// The first row of a sequence.
    pub(crate) fn row(&self, sequence: usize) -> usize {
        sequence * self.stride()
    }

    /// Rows from one sequence to the next.
    pub(crate) fn stride(&self) -> usize {
        stride(self.sequences(), self.capacity)
    }

    fn require(&self, sequence: usize) -> error::Result<()> {
        if sequence < self.sequences() {
            return Ok(());
        }
        Err(error::Error::UnknownSequence { sequence, sequences: self.sequences() })
    }
}

impl Config {
    /// The bytes of the keys and values of `sequences` of `capacity` tokens each. `None` if there are more than a number
    /// holds.
    pub fn cache_bytes(&self, sequences: usize, capacity: usize, format: CacheFormat) -> Option<usize> {
        let sizes = [2, self.layers, self.kv_heads, format.bytes(self.head_size), rows(sequences, capacity)?];
        sizes.into_iter().try_fold(1, |all: usize, size| all.checked_mul(size))
    }
}

/// Of several sequences each has a row more, which takes what a step computes for a sequence that has no token in it.
pub(crate) fn stride(sequences: usize, capacity: usize) -> usize {
    capacity.saturating_add(usize::from(sequences > 1))
}

fn rows(sequences: usize, capacity: usize) -> Option<usize> {
    stride(sequences, capacity).checked_mul(sequences)
}
