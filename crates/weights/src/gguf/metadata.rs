//! Named values, in the order of the file.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::value::Value;

/// A file's metadata: named values, in the order in which they were added.
#[derive(Debug, Clone, Default)]
pub struct Metadata {
    /// Each with its position in the order.
    values: BTreeMap<String, (usize, Value)>,
    /// The position of the next one.
    next: usize,
}

impl Metadata {
    /// No values.
    pub fn new() -> Metadata {
        Metadata::default()
    }

    /// The value of that name.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key).map(|(_, value)| value)
    }

    /// The text of that name, if it is one.
    pub fn str(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// The number of that name, if it is an integer of any type, not negative.
    pub fn u64(&self, key: &str) -> Option<u64> {
        self.get(key)?.as_u64()
    }

    /// The number of that name, as a float: see [`Value::as_f64`].
    pub fn f64(&self, key: &str) -> Option<f64> {
        self.get(key)?.as_f64()
    }

    /// Adds a value behind all others. If there is one of the same name, the new one takes its position, and the old one is returned.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        match self.values.entry(key.into()) {
            Entry::Vacant(entry) => {
                entry.insert((self.next, value.into()));
                self.next += 1;
                None
            }
            Entry::Occupied(mut entry) => Some(std::mem::replace(&mut entry.get_mut().1, value.into())),
        }
    }

    /// Takes a value away.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.values.remove(key).map(|(_, value)| value)
    }

    /// All values with their names, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let mut values: Vec<_> = self.values.iter().collect();
        values.sort_unstable_by_key(|(_, (position, _))| *position);
        values.into_iter().map(|(key, (_, value))| (key.as_str(), value))
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl PartialEq for Metadata {
    fn eq(&self, other: &Metadata) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Metadata {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(values: I) -> Metadata {
        let mut metadata = Metadata::new();
        for (key, value) in values {
            metadata.insert(key, value);
        }
        metadata
    }
}
