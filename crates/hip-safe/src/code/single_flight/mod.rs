//! Single flight: if several threads need the same value at once, one makes it and the others wait.

#[cfg(test)]
mod tests;

use crate::sync::{Arc, Mutex};
use std::collections::HashMap;
use std::hash::Hash;

/// The values in the making, by key. A key is removed when the last waiting thread has the value. A caller that caches the values checks its
/// cache again in `make`, because another thread may have made the value since the caller's first check.
pub(crate) struct SingleFlight<K, V, E> {
    flights: Mutex<HashMap<K, Flight<V, E>>>,
}

type Answer<V, E> = Mutex<Option<Result<V, E>>>;

struct Flight<V, E> {
    /// Locked while the value is made. Empty if `make` panicked.
    answer: Arc<Answer<V, E>>,
    /// The number of threads that make the value or wait for it.
    seats: usize,
}

impl<K: Clone + Eq + Hash, V: Clone, E: Clone> SingleFlight<K, V, E> {
    /// The result of `make`. If another thread is making the value of the same key, this waits for it and returns its value or error. Other keys
    /// do not wait. After a panic of `make`, one of the waiting threads calls its own.
    ///
    /// `make` must not ask for the same key: it would wait for itself.
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

    /// Whether no value is in the making.
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

/// A thread that makes or waits. The last one to leave, by a return or a panic, removes the key.
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
