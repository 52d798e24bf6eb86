//! A handle's memory of how each problem is computed.

use crate::SolutionStatistics;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::Hash;

/// Nothing is called while it is locked. Forgotten values are dropped after the lock is released: the hook for their errors may call
/// this again.
pub(crate) struct Memo<K, V> {
    state: Mutex<State<K, V>>,
}

struct State<K, V> {
    known: HashMap<K, V>,
    hits: u64,
    misses: u64,
}

/// The maximum number of problems. If it is exceeded, all are forgotten.
const MOST: usize = 4096;

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { state: Mutex::new(State { known: HashMap::new(), hits: 0, misses: 0 }) }
    }
}

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        let mut state = self.state.lock();
        let known = state.known.get(key).cloned();
        match known {
            Some(_) => state.hits += 1,
            None => state.misses += 1,
        }
        known
    }

    pub(crate) fn put(&self, key: K, value: V) {
        let mut state = self.state.lock();
        let full = state.known.len() >= MOST && !state.known.contains_key(&key);
        let all = if full { std::mem::take(&mut state.known) } else { HashMap::new() };
        let former = state.known.insert(key, value);
        drop(state);
        drop((all, former));
    }

    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut self.state.lock().known);
        drop(all);
    }

    pub(crate) fn statistics(&self) -> SolutionStatistics {
        let state = self.state.lock();
        SolutionStatistics { hits: state.hits, misses: state.misses, remembered: state.known.len() }
    }
}
