//! Which weights a cache has, and which of them go first: the rules alone, without files and threads.

use std::collections::HashMap;
use std::sync::Arc;

use super::CacheStatistics;
use crate::weight::Weight;

/// The weights of a cache, within its budget.
pub(super) struct Store {
    entries: HashMap<String, Entry>,
    /// Counts uses.
    clock: u64,
    pub(super) statistics: CacheStatistics,
}

struct Entry {
    bytes: u64,
    /// When it was used last.
    used: u64,
    /// `None` while it is loaded; its bytes count already.
    weight: Option<Arc<Weight>>,
}

/// Weights that the store had. Drop this when the store is unlocked: a freed buffer is an event, whose subscriber may use the cache.
#[must_use = "it is dropped when the store is unlocked"]
pub(super) struct Gone(#[expect(dead_code, reason = "it is only dropped")] Vec<Entry>);

/// What the store knows of a weight.
pub(super) enum Found {
    Here(Arc<Weight>),
    /// Another thread loads it.
    Coming,
    Absent,
}

impl Store {
    pub(super) fn new(budget: u64) -> Self {
        let statistics = CacheStatistics { budget, ..CacheStatistics::default() };
        Self { entries: HashMap::new(), clock: 0, statistics }
    }

    /// Looks for a weight, which is used now.
    pub(super) fn find(&mut self, name: &str) -> Found {
        self.clock += 1;
        match self.entries.get_mut(name) {
            None => Found::Absent,
            Some(entry) => {
                entry.used = self.clock;
                entry.weight.clone().map_or(Found::Coming, Found::Here)
            }
        }
    }

    /// Makes room for a weight that is to be loaded: those used least recently go, but none that `keep` wants. `None`,
    /// and nothing has changed, if that is not enough.
    pub(super) fn reserve(&mut self, name: &str, bytes: u64, keep: &dyn Fn(&str) -> bool) -> Option<Gone> {
        let statistics = &mut self.statistics;
        let mut over = (statistics.bytes + bytes).saturating_sub(statistics.budget);
        let mut may_go: Vec<(u64, &String, u64)> = self
            .entries
            .iter()
            .filter(|(name, entry)| entry.weight.is_some() && !keep(name))
            .map(|(name, entry)| (entry.used, name, entry.bytes))
            .collect();
        may_go.sort_unstable();
        let mut going = Vec::new();
        for (_, name, bytes) in may_go {
            if over == 0 {
                break;
            }
            over = over.saturating_sub(bytes);
            going.push(name.clone());
        }
        if over > 0 {
            return None;
        }
        let gone: Vec<Entry> = going.iter().filter_map(|name| self.entries.remove(name)).collect();
        statistics.bytes -= gone.iter().map(|entry| entry.bytes).sum::<u64>();
        statistics.evictions += gone.len() as u64;
        statistics.bytes += bytes;
        statistics.peak = statistics.peak.max(statistics.bytes);
        self.entries.insert(name.to_owned(), Entry { bytes, used: self.clock, weight: None });
        Some(Gone(gone))
    }

    /// The weight that room was made for is loaded, or could not be.
    pub(super) fn settle(&mut self, name: &str, weight: Option<&Arc<Weight>>) {
        match (weight, self.entries.get_mut(name)) {
            (Some(weight), Some(entry)) => entry.weight = Some(Arc::clone(weight)),
            _ => self.statistics.bytes -= self.entries.remove(name).map_or(0, |entry| entry.bytes),
        }
    }

    /// Gives all weights back that are not being loaded.
    pub(super) fn clear(&mut self) -> Gone {
        let gone: Vec<Entry> =
            self.entries.extract_if(|_, entry| entry.weight.is_some()).map(|(_, entry)| entry).collect();
        self.statistics.bytes -= gone.iter().map(|entry| entry.bytes).sum::<u64>();
        Gone(gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensor_core::{DType, Device, Tensor};

    fn weight() -> Arc<Weight> {
        Arc::new(Weight::from(Tensor::zeros([1], DType::U8, &Device::Cpu).unwrap()))
    }

    fn put(store: &mut Store, name: &str, bytes: u64) {
        assert!(matches!(store.find(name), Found::Absent), "{name}");
        assert!(store.reserve(name, bytes, &|_| false).is_some(), "{name}");
        store.settle(name, Some(&weight()));
    }

    fn names(store: &Store) -> Vec<&str> {
        let mut names: Vec<&str> = store.entries.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn what_was_used_least_recently_goes_first() {
        let mut store = Store::new(30);
        for name in ["a", "b", "c"] {
            put(&mut store, name, 10);
        }
        assert!(matches!(store.find("a"), Found::Here(_)));
        put(&mut store, "d", 15);
        // b and c were used before a was used again.
        assert_eq!((names(&store), store.statistics.bytes), (vec!["a", "d"], 25));
        assert_eq!((store.statistics.evictions, store.statistics.peak), (2, 30));
        put(&mut store, "e", 30);
        assert_eq!(names(&store), ["e"]);
    }

    #[test]
    fn what_is_kept_or_coming_stays() {
        let mut store = Store::new(30);
        for name in ["a", "b"] {
            put(&mut store, name, 10);
        }
        assert!(store.reserve("c", 10, &|_| false).is_some());
        assert!(matches!(store.find("c"), Found::Coming));
        assert!(store.reserve("d", 20, &|name| name == "a").is_none(), "b alone is not enough");
        assert_eq!((names(&store), store.statistics.bytes), (vec!["a", "b", "c"], 30));
        assert!(store.reserve("d", 10, &|name| name == "a").is_some());
        assert_eq!(names(&store), ["a", "c", "d"]);
        // What does not load gives its bytes back.
        store.settle("c", None);
        assert_eq!((names(&store), store.statistics.bytes), (vec!["a", "d"], 20));
        drop(store.clear());
        assert_eq!((names(&store), store.statistics.bytes), (vec!["d"], 10));
    }
}
