//! What architectures are built from.

mod attention;
mod decoder;
mod embedding;
mod layers;
mod linear;
mod mlp;
mod norm;
mod parts;
mod pre_norm;
mod residual;
mod rope;

pub(crate) use attention::Attention;
pub(crate) use decoder::{Decoder, Layer, Network};
pub(crate) use embedding::Embedding;
pub(crate) use layers::{CachedWeights, layer_model};
pub(crate) use linear::Linear;
pub(crate) use mlp::Mlp;
pub(crate) use norm::{LayerNorm, RmsNorm};
pub(crate) use parts::Parts;
pub(crate) use pre_norm::PreNorm;
pub(crate) use residual::Residual;
pub(crate) use rope::{Frequencies, Table};
