//! Attention: problems, their only solution, and its computation.

mod backward;
mod forward;
pub(super) mod options;
pub(super) mod problem;
pub(super) mod solution;
