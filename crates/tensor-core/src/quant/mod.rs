//! Tensors of quantized numbers: ggml's block formats.

mod activations;
pub(crate) mod arrays;
pub(crate) mod block;
pub(crate) mod format;
pub(crate) mod fp4;
mod grids;
mod host;
pub(crate) mod iq1;
pub(crate) mod iq2;
pub(crate) mod iq3;
pub(crate) mod iq4;
pub(crate) mod k;
mod k_pack;
pub(crate) mod legacy;
pub(crate) mod pack;
mod row;
mod storage;
mod tensor;
pub(crate) mod tq;

pub use activations::QActivations;
pub use format::QuantFormat;
pub use storage::{QCpuStorage, QStorage};
pub use tensor::QTensor;

pub(crate) use row::Row;
