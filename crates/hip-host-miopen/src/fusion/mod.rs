//! Fused operations: plans of a convolution, a bias, a normalisation and an activation.

pub(super) mod call;
pub(super) mod plan;
mod steps;
