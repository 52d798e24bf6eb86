//! What a handle does with tensors, one file for each kind of work.

mod activate;
mod bias;
mod convolve;
mod pool;
mod search;
mod softmax;

pub use convolve::ConvolutionOptions;
pub use pool::PoolingWorkspace;
pub use softmax::{SoftmaxAlgorithm, SoftmaxMode};
