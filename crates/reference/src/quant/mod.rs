//! Numbers in blocks, as ggml packs them: what they are, and the operations on them.
//!
//! A block is some bytes: one or two scales, and small integers. [`QuantFormat`] has the formats that HIP devices have
//! kernels for. An operation takes blocks as an array of `u8`, whose last axis has the blocks of a row one after another.
//!
//! A number of a block is scale · integer + base, rounded once to `f32`: see `number.rs`. These are the bits that ggml
//! computes.

mod format;
mod number;
mod ops;
mod product;

pub use format::QuantFormat;
pub use ops::{dequantize, quant_embedding, quant_experts, quant_matmul};
