//! The crate on a library whose values are known, and on AMD's where this machine has it.

mod absent;
mod events;
mod fake;
mod lists;
#[cfg(feature = "nvidia")]
mod nvidia;
mod overview;
mod real;
mod threads;
mod values;
mod versions;
