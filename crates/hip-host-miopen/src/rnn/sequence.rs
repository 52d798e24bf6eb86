//! Sequences in memory: which row has which step of which sequence.

use crate::answer::{BAD, Outcome, check, product, sum};
use crate::registry::Registry;
use hip_sys::miopen::{miopenDataType_t, miopenRNNBaseLayout_t};

/// The settings of a sequence descriptor. A new one has no sequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sequences {
    pub(super) dtype: miopenDataType_t,
    pub(super) layout: miopenRNNBaseLayout_t,
    /// The number of steps of the longest sequence.
    pub(super) steps: usize,
    pub(super) lens: Vec<usize>,
    /// Elements of a vector.
    pub(super) width: usize,
    /// The bytes of the element that fills the rest of a shorter sequence.
    pub(super) filler: Option<[u8; 8]>,
}

pub(super) static SEQUENCES: Registry<Sequences> = Registry::new(0x79);

pub(super) const TIGHT: miopenRNNBaseLayout_t = miopenRNNBaseLayout_t::miopenRNNDataSeqMajorNotPadded;
pub(super) const STEPS: miopenRNNBaseLayout_t = miopenRNNBaseLayout_t::miopenRNNDataSeqMajorPadded;
pub(super) const BATCH: miopenRNNBaseLayout_t = miopenRNNBaseLayout_t::miopenRNNDataBatchMajorPadded;

impl Default for Sequences {
    fn default() -> Self {
        let layout = miopenRNNBaseLayout_t::miopenRNNDataUnknownLayout;
        let dtype = miopenDataType_t::miopenFloat;
        Self { dtype, layout, steps: 0, lens: Vec::new(), width: 0, filler: None }
    }
}

impl Sequences {
    /// Rows in memory, including padding.
    ///
    /// # Errors
    /// BadParm if they cannot be counted.
    pub(super) fn rows(&self) -> Outcome<usize> {
        match self.layout {
            TIGHT => sum(self.lens.iter().copied()),
            _ => product([self.steps, self.lens.len()]),
        }
    }
}

/// The rows in processing order: step by step, and in a step from the longest sequence to the shortest.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    /// The sequences from the longest to the shortest.
    pub(super) order: Vec<usize>,
    /// The number of sequences that are not over at each step.
    pub(super) left: Vec<usize>,
    /// The first row of each step.
    pub(super) first: Vec<usize>,
    /// The position of each row in memory.
    pub(super) positions: Vec<usize>,
    /// Rows in memory that are padding.
    pub(super) padding: Vec<usize>,
}

impl Rows {
    /// # Errors
    /// BadParm if sequences without padding are not ordered from the longest to the shortest.
    pub(super) fn new(it: &Sequences) -> Outcome<Self> {
        let (lens, batch) = (&it.lens, it.lens.len());
        check(!lens.is_empty() && it.steps > 0 && lens.iter().all(|len| *len <= it.steps), BAD)?;
        check(it.layout != TIGHT || lens.is_sorted_by(|a, b| a >= b), BAD)?;
        let mut order: Vec<usize> = (0..batch).collect();
        order.sort_by_key(|&sequence| std::cmp::Reverse(lens[sequence]));
        // Without padding, memory does not limit the steps after the longest sequence, which have no rows.
        let steps = if it.layout == TIGHT { lens[order[0]] } else { it.steps };
        let at = |step: usize| order.partition_point(|&sequence| lens[sequence] > step);
        let left: Vec<usize> = (0..steps).map(at).collect();
        let (mut first, mut positions, mut padding) = (Vec::new(), Vec::new(), Vec::new());
        for (step, &left) in left.iter().enumerate() {
            first.push(positions.len());
            let position = |rank: usize| match it.layout {
                STEPS => step * batch + order[rank],
                _ => order[rank] * it.steps + step,
            };
            if it.layout == TIGHT {
                positions.extend(first[step]..first[step] + left);
            } else {
                positions.extend((0..left).map(position));
                padding.extend((left..batch).map(position));
            }
        }
        Ok(Self { order, left, first, positions, padding })
    }

    /// How many of a step's sequences have a previous row: of an earlier step forward, of a later one backward.
    pub(super) fn begun(&self, way: usize, step: usize) -> usize {
        match way {
            0 if step == 0 => 0,
            0 => self.left[step],
            _ => self.left.get(step + 1).copied().unwrap_or(0),
        }
    }

    /// The previous row of a sequence; `None` at its beginning.
    pub(super) fn before(&self, way: usize, step: usize, rank: usize) -> Option<usize> {
        let other = if way == 0 { step.wrapping_sub(1) } else { step + 1 };
        (rank < self.begun(way, step)).then(|| self.first[other] + rank)
    }
}
