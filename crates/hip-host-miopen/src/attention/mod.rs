//! Attention: problems, the one solution that each has, and its computation.

mod backward;
mod forward;
pub(super) mod options;
pub(super) mod problem;
pub(super) mod solution;
