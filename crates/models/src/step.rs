//! What one pass over new tokens needs in every layer: positions, and which tokens are seen.

use tensor_core::{Device, Result, Tensor};

use crate::blocks::Table;
use crate::config::Config;

/// After which tokens logits are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logits {
    /// After the last one.
    Last,
    /// After each of them.
    All,
}

/// A pass over the tokens `start..start + tokens` of a sequence.
#[derive(Debug)]
pub(crate) struct Step {
    start: usize,
    /// Positions in layers without and with a window.
    tables: [Table; 2],
    /// For each window that layers have.
    seen: Vec<(Option<usize>, Seen)>,
}

/// The tokens that queries see: `first..first + count`, less what the mask and causality hide.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) first: usize,
    pub(crate) count: usize,
    /// `[tokens, count]` as `u8`.
    pub(crate) mask: Option<Tensor>,
    /// Query i sees the keys 0 to i.
    pub(crate) causal: bool,
}

impl Step {
    /// The step of so many tokens from `start` on. `tables` are those of all positions.
    pub(crate) fn new(
        config: &Config,
        tables: &[Table; 2],
        start: usize,
        tokens: usize,
        device: &Device,
    ) -> Result<Step> {
        let mut windows = config.windows.clone();
        windows.sort_unstable();
        windows.dedup();
        // A cap takes single operations, which know no causality.
        let explicit = config.attention_cap.is_some();
        let seen = windows.into_iter().map(|window| {
            let seen = Seen::new(window, start, tokens, explicit, device)?;
            Ok((window, seen))
        });
        let seen = seen.collect::<Result<_>>()?;
        let rows = |table: &Table| table.rows(start, tokens);
        Ok(Step { start, tables: [rows(&tables[0])?, rows(&tables[1])?], seen })
    }

    /// The position of the first token.
    pub(crate) fn start(&self) -> usize {
        self.start
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

impl Seen {
    fn new(
        window: Option<usize>,
        start: usize,
        tokens: usize,
        explicit: bool,
        device: &Device,
    ) -> Result<Seen> {
        let end = start + tokens;
        // The first query sees itself and what is before it in the window.
        let first = window.map_or(0, |window| (start + 1).saturating_sub(window));
        let count = end - first;
        let hides =
            |query: usize, key: usize| key > query || window.is_some_and(|window| key + window <= query);
        if tokens == 1 {
            return Ok(Seen { first, count, mask: None, causal: false });
        }
        if !explicit && start == 0 && window.is_none_or(|window| tokens <= window) {
            return Ok(Seen { first, count, mask: None, causal: true });
        }
        let rows = (start..end).flat_map(|query| (first..end).map(move |key| u8::from(!hides(query, key))));
        let mask = Tensor::from_vec(rows.collect(), [tokens, count], device)?;
        Ok(Seen { first, count, mask: Some(mask), causal: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(window: Option<usize>, start: usize, tokens: usize) -> (usize, Vec<Vec<u8>>) {
        let seen = Seen::new(window, start, tokens, true, &Device::Cpu).unwrap();
        (seen.first, seen.mask.unwrap().to_vec2().unwrap())
    }

    #[test]
    fn masks_hide_what_is_later_and_what_is_outside_of_the_window() {
        assert_eq!(mask(None, 0, 2), (0, vec![vec![1, 0], vec![1, 1]]));
        assert_eq!(mask(None, 1, 2), (0, vec![vec![1, 1, 0], vec![1, 1, 1]]));
        let expected = vec![vec![1, 1, 0, 0], vec![0, 1, 1, 0], vec![0, 0, 1, 1]];
        assert_eq!(mask(Some(2), 3, 3), (2, expected));
        assert_eq!(mask(Some(9), 1, 2), (0, vec![vec![1, 1, 0], vec![1, 1, 1]]));
        // A single query needs no mask: it sees the end.
        let one = Seen::new(Some(4), 10, 1, false, &Device::Cpu).unwrap();
        assert_eq!((one.first, one.count, one.causal, one.mask.is_none()), (7, 4, false, true));
        let begin = Seen::new(Some(4), 0, 4, false, &Device::Cpu).unwrap();
        assert!(begin.causal && begin.mask.is_none());
    }
}
