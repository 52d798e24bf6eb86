//! Order of work: between streams and threads, under the adversary and the checker, and where locks must not be held.

mod adversary;
mod other_wrappers;
mod streams;
mod threads;
mod unlocked;
mod workload;
