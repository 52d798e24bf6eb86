//! Convolution, pooling, normalisation, activation and recurrent networks on hip-safe's memory: MIOpen, or what stands in its place.

mod activation;
mod convert;
mod convolution;
mod ctc;
mod data_type;
mod dropout;
mod error;
mod fusion;
mod handle;
mod lrn;
mod ops;
mod owner;
mod pooling;
#[allow(dead_code)]
mod raw;
mod reduction;
mod rnn;
mod solutions;
mod tensor;
mod work;

pub use activation::{Activation, ActivationDesc};
pub use convert::Blend;
pub use convolution::{Convolution, ConvolutionDesc, ConvolutionMode};
pub use ctc::{CtcLoss, CtcLossDesc};
pub use data_type::{DataType, Element};
pub use dropout::DropoutDesc;
pub use error::{Error, Result};
pub use fusion::{FusionArg, FusionOp, FusionPlan};
pub use handle::Handle;
pub use lrn::{Lrn, LrnDesc, LrnMode};
pub use ops::*;
pub use pooling::{IndexMode, IndexType, Pooling, PoolingDesc, PoolingMode};
pub use reduction::{ReduceOp, Reduction, ReductionDesc};
pub use rnn::{Rnn, RnnDesc, RnnMode, RnnParam, RnnSequence};
pub use solutions::{Algorithm, Direction, SearchMode, Solution, SolutionStatistics};
pub use tensor::{MAX_DIMS, Tensor, TensorDesc, TensorMut};
