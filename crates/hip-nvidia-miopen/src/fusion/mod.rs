//! Fusion plans of forward operations: a convolution, a bias, an inference of batch normalisation and an
//! activation, in any order in
//! which a convolution comes first.

mod arguments;
mod execute;
mod plan;

pub(super) use arguments::*;
pub(super) use execute::*;
pub(super) use plan::*;
