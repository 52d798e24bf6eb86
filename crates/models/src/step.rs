//! What one pass over new tokens needs in every layer: positions, which rows of the cache it writes, and which it sees.

use tensor_core::{Device, Error, ErrorKind, Result, Tensor};

use crate::blocks::Table;
use crate::cache::Cache;
use crate::config::Config;
use crate::profile::Profile;
use crate::trace::Trace;

/// After which tokens logits are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logits {
    /// After the last one.
    Last,
    /// After each of them.
    All,
}

/// A pass over new tokens: some of one sequence, or one of each.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) sequences: usize,
    /// Of each sequence.
    pub(crate) tokens: usize,
    pub(crate) destination: Destination,
    /// Positions in layers without and with a window.
    tables: [Table; 2],
    /// For each window that layers have.
    seen: Vec<(Option<usize>, Seen)>,
    /// What keeps the activations, if anything does.
    pub(crate) trace: Option<Trace>,
    /// What times the operations, if anything does.
    pub(crate) profile: Option<Profile>,
}

/// The rows of the cache that are written.
#[derive(Debug)]
pub(crate) enum Destination {
    /// Those from this one on, by the tokens of one sequence.
    From(usize),
    /// These, `[sequences]`, one by each sequence.
    Each(Tensor),
}

/// The keys that queries see: some rows of the cache, less what the mask and causality hide.
#[derive(Debug)]
pub(crate) struct Seen {
    rows: Rows,
    /// How many keys a sequence has in these rows.
    pub(crate) count: usize,
    /// `[tokens, count]`, or `[sequences, 1, tokens, count]`, as `u8`.
    pub(crate) mask: Option<Tensor>,
    /// Query i sees the keys 0 to i.
    pub(crate) causal: bool,
}

#[derive(Debug)]
enum Rows {
    From(usize),
    /// The first of each sequence.
    Each {
        sequences: usize,
        stride: usize,
    },
}

/// One token of each sequence, as tensors `[sequences]` of `u32`.
#[derive(Debug)]
pub(crate) struct Positions {
    pub(crate) positions: Tensor,
    /// The rows that keys and values are written to.
    pub(crate) rows: Tensor,
}

/// Which queries see each key of a sequence: the positions from its own on, `[1, rows]`, and with a window up to a last one.
#[derive(Debug)]
pub(crate) struct KeyRanges {
    first: Tensor,
    last: Vec<(usize, Tensor)>,
}

impl Step {
    /// The step of so many tokens at the end of a sequence.
    pub(crate) fn chunk(
        config: &Config,
        cache: &Cache,
        sequence: usize,
        tokens: usize,
        device: &Device,
    ) -> Result<Step> {
        let (start, row) = (cache.lengths[sequence], cache.row(sequence));
        // A cap takes single operations, which know no causality.
        let explicit = config.attention_cap.is_some();
        let seen = cache.windows.iter().map(|window| {
            let seen = Seen::chunk(*window, (row, start, tokens), explicit, device)?;
            Ok((*window, seen))
        });
        let rows = |table: &Table| table.rows(start, tokens);
        Ok(Step {
            sequences: 1,
            tokens,
            destination: Destination::From(row + start),
            tables: [rows(&cache.tables[0])?, rows(&cache.tables[1])?],
            seen: seen.collect::<Result<_>>()?,
            trace: None,
            profile: None,
        })
    }

    /// The step of one token of each sequence, which sees some of the first `count` keys of its sequence. All that differs from
    /// step to step is in tensors, so that a graph may have it.
    pub(crate) fn each(
        cache: &Cache,
        Positions { positions, rows }: &Positions,
        ranges: &KeyRanges,
        count: usize,
    ) -> Result<Step> {
        let (sequences, stride) = (cache.sequences(), cache.stride());
        let column = positions.reshape([sequences, 1])?;
        let seen_from = column.ge(&ranges.first.narrow(1, 0, count)?)?;
        let seen = cache.windows.iter().map(|window| {
            let mut mask = seen_from.clone();
            if let Some(window) = window {
                let (_, last) = ranges.last.iter().find(|(known, _)| known == window).expect("all are known");
                mask = mask.mul(&column.le(&last.narrow(1, 0, count)?)?)?;
            }
            let mask = Some(mask.reshape([sequences, 1, 1, count])?);
            let rows = Rows::Each { sequences, stride };
            Ok((*window, Seen { rows, count, mask, causal: false }))
        });
        let [full, local] = &cache.tables;
        let full_rows = full.rows_at(positions)?;
        let local_rows = if full.is(local) { full_rows.clone() } else { local.rows_at(positions)? };
        Ok(Step {
            sequences,
            tokens: 1,
            destination: Destination::Each(rows.clone()),
            tables: [full_rows, local_rows],
            seen: seen.collect::<Result<_>>()?,
            trace: None,
            profile: None,
        })
    }

    /// Keeps what an operation gave, if activations are kept, and when it ended, if operations are timed.
    pub(crate) fn keep(&self, name: &str, operation: &'static str, tensor: &Tensor) {
        if let Some(profile) = &self.profile {
            profile.end(operation);
        }
        if let Some(trace) = &self.trace {
            trace.keep(name, operation, tensor);
        }
    }

    /// What is kept from now on belongs to this layer.
    pub(crate) fn enter(&self, layer: Option<usize>) {
        if let Some(trace) = &self.trace {
            trace.enter(layer);
        }
    }

    /// Cosines and sines in layers of this window.
    pub(crate) fn table(&self, window: Option<usize>) -> &Table {
        &self.tables[usize::from(window.is_some())]
    }

    /// What queries of layers with this window see.
    pub(crate) fn seen(&self, window: Option<usize>) -> &Seen {
        let found = self.seen.iter().find(|(known, _)| *known == window);
        &found.expect("a step knows the windows of all layers").1
    }
}

impl Destination {
    /// Writes vectors `[sequences, kv_heads, tokens, length]` to rows of `[1, kv_heads, rows, length]`.
    pub(crate) fn write(&self, all: &mut Tensor, vectors: &Tensor) -> Result<()> {
        match self {
            Destination::From(first) => all.slice_set_(vectors, 2, *first),
            Destination::Each(rows) => {
                let vectors = vectors.transpose(0, 2)?;
                let ids = rows.reshape([1, 1, rows.elements(), 1])?.expand(vectors.shape().clone())?;
                all.scatter_(&ids, &vectors, 2)
            }
        }
    }
}

impl Seen {
    /// Of a sequence whose first row is `row`, by the tokens `start..start + tokens`.
    fn chunk(
        window: Option<usize>,
        (row, start, tokens): (usize, usize, usize),
        explicit: bool,
        device: &Device,
    ) -> Result<Seen> {
        let end = start + tokens;
        // The first query sees itself and what is before it in the window.
        let first = window.map_or(0, |window| (start + 1).saturating_sub(window));
        let (count, rows) = (end - first, Rows::From(row + first));
        let hides =
            |query: usize, key: usize| key > query || window.is_some_and(|window| key + window <= query);
        if tokens == 1 {
            return Ok(Seen { rows, count, mask: None, causal: false });
        }
        if !explicit && start == 0 && window.is_none_or(|window| tokens <= window) {
            return Ok(Seen { rows, count, mask: None, causal: true });
        }
        let entries =
            (start..end).flat_map(|query| (first..end).map(move |key| u8::from(!hides(query, key))));
        let mask = Tensor::from_vec(entries.collect(), [tokens, count], device)?;
        Ok(Seen { rows, count, mask: Some(mask), causal: false })
    }

    /// What is seen of `[1, kv_heads, rows, length]`, as a view `[sequences, kv_heads, count, length]`.
    pub(crate) fn of(&self, all: &Tensor) -> Result<Tensor> {
        match self.rows {
            Rows::From(first) => all.narrow(2, first, self.count),
            Rows::Each { sequences, stride } => {
                let &[_, heads, _, length] = all.dims() else { unreachable!("the cache has four axes") };
                all.view([heads, sequences, stride, length])?.transpose(0, 1)?.narrow(2, 0, self.count)
            }
        }
    }
}

impl KeyRanges {
    /// Of the rows of a cache.
    pub(crate) fn new(cache: &Cache, device: &Device) -> Result<KeyRanges> {
        let Ok(rows) = u32::try_from(cache.stride() * cache.sequences()) else {
            let shape = [cache.sequences(), cache.stride()].into();
            return Err(Error::new("cache", ErrorKind::Overflow { shape }));
        };
        let first = Tensor::arange(0, rows / cache.sequences().max(1) as u32, device)?.unsqueeze(0)?;
        let last = cache.windows.iter().flatten().map(|window| {
            // No query is later than the last row.
            let further = (*window).clamp(1, cache.stride()) - 1;
            Ok((*window, first.affine(1, further as i64)?))
        });
        Ok(KeyRanges { last: last.collect::<Result<_>>()?, first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(window: Option<usize>, start: usize, tokens: usize, explicit: bool) -> Seen {
        Seen::chunk(window, (100, start, tokens), explicit, &Device::Cpu).unwrap()
    }

    fn first(seen: &Seen) -> usize {
        let Rows::From(first) = seen.rows else { panic!("of one sequence") };
        first
    }

    fn mask(window: Option<usize>, start: usize, tokens: usize) -> (usize, Vec<Vec<u8>>) {
        let seen = seen(window, start, tokens, true);
        (first(&seen), seen.mask.unwrap().to_vec2().unwrap())
    }

    #[test]
    fn masks_hide_what_is_later_and_what_is_outside_of_the_window() {
        assert_eq!(mask(None, 0, 2), (100, vec![vec![1, 0], vec![1, 1]]));
        assert_eq!(mask(None, 1, 2), (100, vec![vec![1, 1, 0], vec![1, 1, 1]]));
        let expected = vec![vec![1, 1, 0, 0], vec![0, 1, 1, 0], vec![0, 0, 1, 1]];
        assert_eq!(mask(Some(2), 3, 3), (102, expected));
        assert_eq!(mask(Some(9), 1, 2), (100, vec![vec![1, 1, 0], vec![1, 1, 1]]));
        // A single query needs no mask: it sees the end.
        let one = seen(Some(4), 10, 1, false);
        assert_eq!((first(&one), one.count, one.causal, one.mask.is_none()), (107, 4, false, true));
        let begin = seen(Some(4), 0, 4, false);
        assert!(begin.causal && begin.mask.is_none());
    }
}
