//! Locks and counters of the parts that are checked with every order of their threads.

pub(crate) use parking_lot::Mutex;
pub(crate) use std::sync::Arc;
