//! Answers that are remembered, for crates that wrap libraries.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::Hash;

/// A cache of a library's answers by what was asked, with a capacity. The least recently used answer is dropped first.
///
/// It is for crates that wrap libraries. No library is called while it is locked. What it forgets is dropped after that, because a drop may
/// wait for a device, and a hook for errors may ask again.
///
/// ```
/// let memo = hip_safe::Memo::new(2);
/// assert_eq!(memo.get(&"one"), None);
/// memo.put("one", 1);
/// memo.put("two", 2);
/// assert_eq!(memo.get(&"one"), Some(1));
/// memo.put("three", 3);
/// assert_eq!((memo.get(&"one"), memo.get(&"two")), (Some(1), None));
/// let statistics = memo.statistics();
/// assert_eq!((statistics.hits, statistics.misses, statistics.remembered), (2, 2, 2));
/// ```
pub struct Memo<K, V> {
    capacity: usize,
    state: Mutex<State<K, V>>,
}

/// What a [`Memo`] has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MemoStatistics {
    /// How often an answer was known.
    pub hits: u64,
    /// How often none was.
    pub misses: u64,
    /// How many answers it has.
    pub remembered: usize,
}

struct State<K, V> {
    known: HashMap<K, Entry<V>>,
    /// How often anything was asked or put.
    now: u64,
    hits: u64,
    misses: u64,
}

struct Entry<V> {
    value: V,
    last: u64,
}

type Gone<K, V> = (Option<Entry<V>>, Option<(K, Entry<V>)>);

impl<K: Eq + Hash + Clone, V: Clone> Memo<K, V> {
    /// An empty one for at most `capacity` answers, and at least one.
    pub fn new(capacity: usize) -> Self {
        let state = State { known: HashMap::new(), now: 0, hits: 0, misses: 0 };
        Self { capacity: capacity.max(1), state: Mutex::new(state) }
    }

    /// The answer, if it is known.
    pub fn get(&self, key: &K) -> Option<V> {
        let mut state = self.state.lock();
        state.now += 1;
        let now = state.now;
        let known = state.known.get_mut(key).map(|entry| {
            entry.last = now;
            entry.value.clone()
        });
        match known {
            Some(_) => state.hits += 1,
            None => state.misses += 1,
        }
        known
    }

    /// Remembers an answer, in place of a former one.
    pub fn put(&self, key: K, value: V) {
        // In a statement of its own, so that nothing is dropped under the lock.
        let gone = self.state.lock().insert(key, value, self.capacity);
        drop(gone);
    }

    /// Remembers an answer unless there is one by now, as of another thread; the one that is remembered.
    pub fn keep(&self, key: K, value: V) -> V {
        let mut state = self.state.lock();
        if let Some(known) = state.known.get(&key) {
            let known = known.value.clone();
            drop(state);
            return known;
        }
        let gone = state.insert(key, value.clone(), self.capacity);
        drop(state);
        drop(gone);
        value
    }

    /// Forgets all answers.
    pub fn clear(&self) {
        let all = std::mem::take(&mut self.state.lock().known);
        drop(all);
    }

    /// What it has answered so far, and how many answers it has.
    pub fn statistics(&self) -> MemoStatistics {
        let state = self.state.lock();
        MemoStatistics { hits: state.hits, misses: state.misses, remembered: state.known.len() }
    }
}

impl<K: Eq + Hash + Clone, V> State<K, V> {
    /// Returns what it no longer has: the former answer, and the oldest one if there are too many.
    fn insert(&mut self, key: K, value: V, capacity: usize) -> Gone<K, V> {
        self.now += 1;
        let former = self.known.insert(key, Entry { value, last: self.now });
        let oldest = if self.known.len() > capacity { self.remove_oldest() } else { None };
        (former, oldest)
    }

    fn remove_oldest(&mut self) -> Option<(K, Entry<V>)> {
        let oldest = self.known.iter().min_by_key(|(_, entry)| entry.last)?.0.clone();
        self.known.remove_entry(&oldest)
    }
}

impl<K, V> std::fmt::Debug for Memo<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Memo of at most {} answers", self.capacity)
    }
}
