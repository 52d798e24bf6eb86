//! Entries in memory, for code that cannot be written to a folder, so that a process compiles it only once.

use crate::Compiled;
use parking_lot::Mutex;
use std::collections::HashMap;

/// Compiled code by the hash of its key. Only this process fills it, so a forged hash is not a concern.
#[derive(Default)]
pub(super) struct Memory(Mutex<HashMap<u128, Compiled>>);

impl Memory {
    pub(super) fn get(&self, identity: &[u8]) -> Option<Compiled> {
        self.0.lock().get(&key(identity)).cloned()
    }

    pub(super) fn put(&self, identity: &[u8], compiled: &Compiled) {
        self.0.lock().insert(key(identity), compiled.clone());
    }
}

fn key(identity: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(identity)
}
