//! Convolutions by cuDNN's backend: a graph of one convolution, the engines that cuDNN's heuristics return for it, and their
//! execution plans. A plan lacks only the addresses, so that a run costs little host time.
//!
//! If the backend has nothing for a problem, every solution is one of cuDNN's older algorithms. The same is true everywhere if
//! the environment variable `HIPSTACK_CUDNN_BACKEND` is `0` when a convolution's solutions are asked for first.

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
