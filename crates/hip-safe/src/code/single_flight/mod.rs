//! Several threads that want the same at once, and one of them makes it.

#[cfg(test)]
mod tests;

use crate::sync::{Arc, Mutex};
use std::collections::HashMap;
use std::hash::Hash;

/// What is being made, by key. Nothing is kept: once the last one who waits has its answer, the key is forgotten. Who keeps what was made
/// looks for it in `make`, because another thread may have made it since the caller looked.
pub(crate) struct SingleFlight<K, V, E> {
    flights: Mutex<HashMap<K, Flight<V, E>>>,
}

type Answer<V, E> = Mutex<Option<Result<V, E>>>;

struct Flight<V, E> {
    /// Locked while it is made; empty if the one who made it panicked.
    answer: Arc<Answer<V, E>>,
    /// How many make it or wait for it.
    seats: usize,
}

impl<K: Clone + Eq + Hash, V: Clone, E: Clone> SingleFlight<K, V, E> {
    /// What `make` gives. If another thread makes the same now, its value or error, when it is done. Other keys do not wait. After a
    /// panic of the one who makes it, one of those who wait does instead.
    ///
    /// `make` must not ask for the same key again: it would wait for itself.
    pub(crate) fn get_or_make(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let _later = crate::drop_errors::later();
        let seat = self.seat(key);
        let mut answer = seat.answer.lock();
        answer.get_or_insert_with(make).clone()
    }

    fn seat(&self, key: K) -> Seat<'_, K, V, E> {
        let mut flights = self.flights.lock();
        let new = || Flight { answer: Arc::new(Mutex::new(None)), seats: 0 };
        let flight = flights.entry(key.clone()).or_insert_with(new);
        flight.seats += 1;
        Seat { flights: &self.flights, key, answer: Arc::clone(&flight.answer) }
    }

    /// Whether nothing is being made.
    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        self.flights.lock().is_empty()
    }
}

impl<K, V, E> Default for SingleFlight<K, V, E> {
    fn default() -> Self {
        Self { flights: Mutex::new(HashMap::new()) }
    }
}

/// One who makes or waits. The last one out, by a return or a panic, forgets the key.
struct Seat<'a, K: Eq + Hash, V, E> {
    flights: &'a Mutex<HashMap<K, Flight<V, E>>>,
    key: K,
    answer: Arc<Answer<V, E>>,
}

impl<K: Eq + Hash, V, E> Drop for Seat<'_, K, V, E> {
    fn drop(&mut self) {
        let mut flights = self.flights.lock();
        if let Some(flight) = flights.get_mut(&self.key) {
            flight.seats -= 1;
            if flight.seats == 0 {
                flights.remove(&self.key);
            }
        }
    }
}
