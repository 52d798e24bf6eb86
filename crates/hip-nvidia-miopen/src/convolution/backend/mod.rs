//! Convolutions by cuDNN's backend: an operation graph of one convolution, the engines that cuDNN's heuristics name for it, and
//! the execution plans that are made of them. A plan knows all but the addresses, so that running it costs the host little.
//!
//! Where it has nothing for a problem, and everywhere if the environment variable `HIPSTACK_CUDNN_BACKEND` is `0` when a
//! convolution's solutions are asked for first, every solution is one of cuDNN's older algorithms.

mod descriptor;
mod engine;
mod graph;
mod offer;
mod plan;

pub(crate) use offer::Plans;
pub(super) use offer::{Choice, at_hand, offers, run};

use std::sync::LazyLock;

/// Whether the backend may be used in this process.
fn is_on() -> bool {
    static ON: LazyLock<bool> =
        LazyLock::new(|| std::env::var_os("HIPSTACK_CUDNN_BACKEND").is_none_or(|value| value != "0"));
    *ON
}
