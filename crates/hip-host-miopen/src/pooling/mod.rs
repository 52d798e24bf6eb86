//! Pooling in two and three dimensions.

pub(super) mod call;
pub(super) mod descriptor;
