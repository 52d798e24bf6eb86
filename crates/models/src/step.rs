//! What one pass over new tokens needs in every layer: positions, which rows of the cache it writes, and which it sees.

use std::ops::Range;
use std::sync::OnceLock;

use tensor_core::{Device, Pages, Result, Tensor};

use crate::blocks::Table;
use crate::cache::{Cache, PAGE};
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
    /// These, one after another, by the tokens of one sequence.
    Runs(Vec<Range<usize>>),
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
    hidden: OnceLock<Tensor>,
}

#[derive(Debug)]
enum Rows {
    /// Those from this one on, of one sequence.
    From(usize),
    /// These, as many of each sequence.
    Listed { sequences: usize, ids: Tensor },
    /// Those in the pages of each sequence up to its position: attention looks them up.
    Paged { table: Tensor, positions: Tensor, window: Option<usize> },
}

/// One token of each sequence, as tensors of `u32`.
#[derive(Debug)]
pub(crate) struct Positions {
    /// `[sequences]`
    pub(crate) positions: Tensor,
    /// The rows that keys and values are written to, `[sequences]`.
    pub(crate) rows: Tensor,
    /// The pages of each sequence, `[sequences, pages]`; `None` for one sequence, whose pages are one behind the other.
    pub(crate) table: Option<Tensor>,
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
        let start = cache.lengths[sequence];
        // A cap takes single operations, which know no causality.
        let explicit = config.attention_cap.is_some();
        let rows = |tokens| cache.pages.rows(sequence, tokens);
        let seen = cache
            .windows
            .iter()
            .map(|window| Ok((*window, Seen::chunk(*window, (start, tokens), explicit, &rows, device)?)));
        let destination = Destination::Runs(rows(start..start + tokens));
        let seen = seen.collect::<Result<_>>()?;
        let rows = |table: &Table| table.rows(start, tokens);
        Ok(Step {
            sequences: 1,
            tokens,
            destination,
            tables: [rows(&cache.tables[0])?, rows(&cache.tables[1])?],
            seen,
            trace: None,
            profile: None,
        })
    }

    /// The step of one token of each sequence, which sees some of the first `count` keys of its sequence. All that differs from
    /// step to step is in tensors, so that a graph may have it. Without ranges attention finds the keys by pages.
    pub(crate) fn each(
        cache: &Cache,
        Positions { positions, rows, table }: &Positions,
        ranges: Option<&KeyRanges>,
        count: usize,
    ) -> Result<Step> {
        let sequences = cache.sequences();
        let table = table.as_ref().map(|table| table.narrow(1, 0, count / PAGE)).transpose()?;
        let ids = match (&table, ranges) {
            (Some(table), Some(ranges)) => Some(ranges.rows(table)?),
            _ => None,
        };
        let seen = cache.windows.iter().map(|window| {
            let Some(ranges) = ranges else {
                let table = table.clone().expect("several sequences have a table");
                let rows = Rows::Paged { table, positions: positions.clone(), window: *window };
                return Ok((*window, Seen::new(rows, count, None, false)));
            };
            let mask = Some(ranges.mask(positions, *window, count)?);
            let rows = ids.clone().map_or(Rows::From(0), |ids| Rows::Listed { sequences, ids });
            Ok((*window, Seen::new(rows, count, mask, false)))
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
            Destination::Runs(runs) => {
                let mut first = 0;
                for rows in runs {
                    all.slice_set_(&vectors.narrow(2, first, rows.len())?, 2, rows.start)?;
                    first += rows.len();
                }
                Ok(())
            }
            Destination::Each(rows) => {
                let vectors = vectors.transpose(0, 2)?;
                let ids = rows.reshape([1, 1, rows.elements(), 1])?.expand(vectors.shape().clone())?;
                all.scatter_(&ids, &vectors, 2)
            }
        }
    }
}

impl Seen {
    fn new(rows: Rows, count: usize, mask: Option<Tensor>, causal: bool) -> Seen {
        Seen { rows, count, mask, causal, hidden: OnceLock::new() }
    }

    /// Of a sequence, by the tokens `start..start + tokens`. `rows_of` gives the rows of its tokens.
    fn chunk(
        window: Option<usize>,
        (start, tokens): (usize, usize),
        explicit: bool,
        rows_of: &dyn Fn(Range<usize>) -> Vec<Range<usize>>,
        device: &Device,
    ) -> Result<Seen> {
        let end = start + tokens;
        // The first query sees itself and what is before it in the window.
        let first = window.map_or(0, |window| (start + 1).saturating_sub(window));
        let (count, runs) = (end - first, rows_of(first..end));
        let rows = if let [rows] = &*runs {
            Rows::From(rows.start)
        } else {
            let ids = runs.into_iter().flatten().map(|row| row as u32).collect();
            Rows::Listed { sequences: 1, ids: Tensor::from_vec(ids, count, device)? }
        };
        let hides =
            |query: usize, key: usize| key > query || window.is_some_and(|window| key + window <= query);
        if tokens == 1 {
            return Ok(Seen::new(rows, count, None, false));
        }
        if !explicit && start == 0 && window.is_none_or(|window| tokens <= window) {
            return Ok(Seen::new(rows, count, None, true));
        }
        let entries =
            (start..end).flat_map(|query| (first..end).map(move |key| u8::from(!hides(query, key))));
        let mask = Tensor::from_vec(entries.collect(), [tokens, count], device)?;
        Ok(Seen::new(rows, count, Some(mask), false))
    }

    /// The pages in which attention finds the keys, unless [`Seen::of`] gives them.
    pub(crate) fn pages(&self) -> Option<Pages<'_>> {
        match &self.rows {
            Rows::Paged { table, positions, window } => {
                Some(Pages { table, positions, rows: PAGE, window: *window })
            }
            _ => None,
        }
    }

    /// What is seen of `[1, kv_heads, rows, length]`, as `[sequences, kv_heads, count, length]`: a view if the rows are one behind the
    /// other.
    pub(crate) fn of(&self, all: &Tensor) -> Result<Tensor> {
        let &[_, heads, _, length] = all.dims() else { unreachable!("the cache has four axes") };
        match &self.rows {
            Rows::From(first) => all.narrow(2, *first, self.count),
            Rows::Listed { sequences, ids } => {
                let rows = all.index_select(ids, 2)?;
                rows.reshape([heads, *sequences, self.count, length])?.transpose(0, 1)
            }
            Rows::Paged { .. } => unreachable!("attention finds these by pages"),
        }
    }
    /// Which keys a mask hides, computed once for all layers; `None` without a mask.
    pub(crate) fn hidden(&self) -> Result<Option<&Tensor>> {
        let Some(mask) = &self.mask else { return Ok(None) };
        if self.hidden.get().is_none() {
            let _ = self.hidden.set(mask.eq(&mask.zeros_like()?)?);
        }
        Ok(self.hidden.get())
    }

    /// Values of which hidden ones are 0. Their weight is 0, but what another text left in a page may be a NaN.
    pub(crate) fn without_hidden(&self, values: Tensor) -> Result<Tensor> {
        if !matches!(&self.rows, Rows::Listed { sequences, .. } if *sequences > 1) {
            return Ok(values);
        }
        match self.hidden()? {
            Some(hidden) => values.masked_fill(&hidden.transpose(2, 3)?, 0.0),
            None => Ok(values),
        }
    }
}

impl KeyRanges {
    /// Of the keys of a sequence.
    pub(crate) fn new(cache: &Cache, device: &Device) -> Result<KeyRanges> {
        let keys = cache.most_keys();
        // The cache has counted them in 32 bits.
        let first = Tensor::arange(0, keys as u32, device)?.unsqueeze(0)?;
        let last = cache.windows.iter().flatten().map(|window| {
            // No query is later than the last key.
            let further = (*window).clamp(1, keys.max(1)) - 1;
            Ok((*window, first.affine(1, further as i64)?))
        });
        Ok(KeyRanges { last: last.collect::<Result<_>>()?, first })
    }

    /// Which of the first `count` keys the queries at these positions see: `[sequences, 1, 1, count]`.
    fn mask(&self, positions: &Tensor, window: Option<usize>, count: usize) -> Result<Tensor> {
        let sequences = positions.elements();
        let column = positions.reshape([sequences, 1])?;
        let mut mask = column.ge(&self.first.narrow(1, 0, count)?)?;
        if let Some(window) = window {
            let (_, last) = self.last.iter().find(|(known, _)| *known == window).expect("all are known");
            mask = mask.mul(&column.le(&last.narrow(1, 0, count)?)?)?;
        }
        mask.reshape([sequences, 1, 1, count])
    }

    /// The rows in the pages `[sequences, pages]` of a table.
    fn rows(&self, table: &Tensor) -> Result<Tensor> {
        let first = table.affine(PAGE as i64, 0i64)?.unsqueeze(2)?;
        first.add(&self.first.narrow(1, 0, PAGE)?)?.flatten_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(window: Option<usize>, start: usize, tokens: usize, explicit: bool) -> Seen {
        let rows = |tokens: Range<usize>| std::iter::once(100 + tokens.start..100 + tokens.end).collect();
        Seen::chunk(window, (start, tokens), explicit, &rows, &Device::Cpu).unwrap()
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
