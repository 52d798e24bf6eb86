//! Keys and values of the tokens that were seen.

mod format;
mod layer;
mod pages;

pub use format::CacheFormat;
pub(crate) use layer::LayerCache;
pub(crate) use pages::{PAGE, Pages};

use pages::pages_of;
use tensor_core::{Device, ErrorKind, Result};

use crate::blocks::Table;
use crate::config::Config;
use crate::error;

/// The keys and values of some sequences, in memory that is allocated once and written in place. It is divided into pages of 64 tokens.
/// Each sequence has as many as its tokens need.
#[doc(alias = "KV cache")]
#[derive(Debug)]
pub struct Cache {
    pub(crate) layers: Vec<LayerCache>,
    /// Cosines and sines of all positions, in layers without and with a window.
    pub(crate) tables: [Table; 2],
    /// The windows that layers have, each once.
    pub(crate) windows: Vec<Option<usize>>,
    pub(crate) lengths: Vec<usize>,
    pub(crate) pages: Pages,
    capacity: usize,
    format: CacheFormat,
    by_pages: bool,
}

impl Cache {
    /// Memory for `sequences` of at most `capacity` tokens each, and for `pool` tokens of all of them.
    pub(crate) fn new(
        config: &Config,
        tables: [Table; 2],
        (sequences, capacity, pool): (usize, usize, Option<usize>),
        format: CacheFormat,
        device: &Device,
    ) -> Result<Cache> {
        let pages = pages(sequences, capacity, pool);
        // Rows and positions are numbers of 32 bits on the device.
        let rows = pages.and_then(|pages| rows(sequences, pages)).filter(|rows| u32::try_from(*rows).is_ok());
        let (Some(pages), Some(rows)) = (pages, rows) else {
            return Err(tensor_core::Error::new(
                "cache",
                ErrorKind::Overflow { shape: [sequences, capacity].into() },
            ));
        };
        let layers = (0..config.layers).map(|layer| LayerCache::new((config, layer), rows, format, device));
        let mut windows = config.windows.clone();
        windows.sort_unstable();
        windows.dedup();
        let (lengths, layers) = (vec![0; sequences], layers.collect::<Result<_>>()?);
        let takes = format.dense().is_some()
            && config.attention_cap.is_none()
            && config.head_size <= tensor_core::Pages::LONGEST;
        let (pages, by_pages) = (Pages::new(sequences, pages), takes && sequences > 1);
        Ok(Cache { layers, tables, windows, lengths, pages, capacity, format, by_pages })
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

    /// The pages that sequences have, and all pages. A page holds 64 tokens.
    pub fn pages(&self) -> (usize, usize) {
        (self.pages.used(), self.pages.all())
    }

    /// Forgets all tokens of a sequence but the first `length`, and gives their pages back. The memory stays. Does nothing if there are
    /// no more.
    ///
    /// # Errors
    /// [`Error::UnknownSequence`](error::Error::UnknownSequence).
    pub fn truncate(&mut self, sequence: usize, length: usize) -> error::Result<()> {
        self.require(sequence)?;
        self.lengths[sequence] = self.lengths[sequence].min(length);
        self.release(sequence);
        Ok(())
    }

    /// Gives sequences the pages for one more, or more, tokens.
    ///
    /// # Errors
    /// [`Error::OutOfPages`](error::Error::OutOfPages): then no sequence has another page.
    pub(crate) fn reserve(&mut self, more: &[(usize, usize)]) -> error::Result<()> {
        let lengths = more.iter().map(|(sequence, tokens)| (*sequence, self.lengths[*sequence] + tokens));
        self.pages.reserve(&lengths.collect::<Vec<_>>())
    }

    /// Takes back the pages that a sequence's tokens do not need.
    pub(crate) fn release(&mut self, sequence: usize) {
        self.pages.release(sequence, self.lengths[sequence]);
    }

    /// The most keys of a sequence: whole pages.
    pub(crate) fn most_keys(&self) -> usize {
        pages_of(self.capacity).min(self.pages.all()) * PAGE
    }

    /// Whether attention to a token of each sequence finds keys by their pages. Not of one sequence, whose keys lie one behind the other;
    /// not with scales, which become floats first; not with capped scores, which single operations compute; and not with heads above
    /// [`tensor_core::Pages::LONGEST`].
    pub(crate) fn attends_by_pages(&self) -> bool {
        self.by_pages
    }

    /// The row of a sequence's position. If it has no token in a step, what is computed for it goes to the last row, which no page has.
    pub(crate) fn row(&self, sequence: usize, position: Option<usize>) -> usize {
        match position {
            Some(position) => self.pages.of(sequence)[position / PAGE] * PAGE + position % PAGE,
            None => self.pages.all() * PAGE,
        }
    }

    fn require(&self, sequence: usize) -> error::Result<()> {
        if sequence < self.sequences() {
            return Ok(());
        }
        Err(error::Error::UnknownSequence { sequence, sequences: self.sequences() })
    }
}

impl Config {
    /// The bytes of the keys and values of `sequences` of `capacity` tokens each, in whole pages. `None` if there are more than a number
    /// holds. A smaller [pool](crate::SessionOptions::pool) takes as much as one sequence of its tokens; with several
    /// sequences there is one row more.
    pub fn cache_bytes(&self, sequences: usize, capacity: usize, format: CacheFormat) -> Option<usize> {
        let rows = rows(sequences, pages(sequences, capacity, None)?)?;
        let sizes = [2, self.layers, self.kv_heads, format.bytes(self.head_size), rows];
        sizes.into_iter().try_fold(1, |all: usize, size| all.checked_mul(size))
    }
}

/// The pages of a cache: for all sequences at their capacity, unless a pool has fewer.
fn pages(sequences: usize, capacity: usize, pool: Option<usize>) -> Option<usize> {
    let most = pages_of(capacity).checked_mul(sequences);
    pool.map_or(most, |pool| Some(pages_of(pool).min(most.unwrap_or(usize::MAX))))
}

/// The rows of pages. Several sequences share a row more, which takes what a step computes for a sequence that has no token in it.
fn rows(sequences: usize, pages: usize) -> Option<usize> {
    pages.checked_mul(PAGE)?.checked_add(usize::from(sequences > 1))
}
