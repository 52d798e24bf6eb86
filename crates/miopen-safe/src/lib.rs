//! Convolution, pooling, normalisation, activation and recurrent networks on hip-safe's memory: MIOpen, or what stands in its place.

mod activation;
mod convert;
mod convolution;
mod data_type;
mod error;
mod handle;
mod ops;
mod owner;
mod pooling;
#[allow(dead_code)]
mod raw;
mod solutions;
mod tensor;
mod work;

pub use activation::{Activation, ActivationDesc};
pub use convert::Blend;
pub use convolution::{Convolution, ConvolutionDesc, ConvolutionMode};
pub use data_type::{DataType, Element};
pub use error::{Error, Result};
pub use handle::Handle;
pub use ops::*;
pub use pooling::{IndexMode, IndexType, Pooling, PoolingDesc, PoolingMode};
pub use solutions::{Algorithm, Direction, SearchMode, Solution, SolutionStatistics};
pub use tensor::{MAX_DIMS, Tensor, TensorDesc, TensorMut};
