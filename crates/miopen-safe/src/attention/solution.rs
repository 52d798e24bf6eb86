//! Solutions of attention that a handle remembers.

use crate::owner::{Owner, SolutionObject};
use crate::solutions::MOST_SOLUTIONS;
use hip_safe::Memo;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The properties that a solution of a handle depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) backward: bool,
    /// The bits of the scale.
    pub(crate) scale: u32,
    /// Batch, heads, length, width.
    pub(crate) dims: [usize; 4],
}

/// The library's solution.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) solution: Owner<SolutionObject>,
    pub(crate) workspace_bytes: usize,
}

/// What a handle remembers of attention.
pub(crate) struct Attentions {
    pub(crate) solutions: Memo<Key, Arc<Found>>,
    /// The first scale of each shape. It is kept when solutions are forgotten.
    scales: Mutex<HashMap<[usize; 4], Scale>>,
}

/// The scale of the first search for a shape.
struct Scale {
    bits: u32,
    /// It has answered.
    found: bool,
}

impl Default for Attentions {
    fn default() -> Self {
        Self { solutions: Memo::new(MOST_SOLUTIONS), scales: Mutex::default() }
    }
}

impl Attentions {
    /// The first scale of these dimensions. MIOpen keeps compiled code by shape alone, and that code contains the scale.
    pub(crate) fn first_scale(&self, key: &Key) -> f32 {
        let mut scales = self.scales.lock();
        f32::from_bits(scales.entry(key.dims).or_insert(Scale { bits: key.scale, found: false }).bits)
    }

    /// Whether a search has found a solution. Only then does its scale bind later ones.
    pub(crate) fn note_search(&self, key: &Key, found: bool) {
        let mut scales = self.scales.lock();
        if found {
            scales.insert(key.dims, Scale { bits: key.scale, found });
        } else if scales.get(&key.dims).is_some_and(|scale| !scale.found) {
            scales.remove(&key.dims);
        }
    }
}
