//! The operations of a handle on tensors, one file for each kind.

mod activate;
mod attend;
mod attend_back;
mod batch_norm;
mod bias;
mod convolve;
mod ctc;
mod drop_out;
mod layer_norm;
mod pool;
mod recur;
mod recur_params;
mod reduce;
mod response_norm;
mod search;
mod softmax;
mod tensors;

pub use attend::AttentionStatistics;
pub use attend_back::{AttentionGradients, AttentionPassed};
pub use batch_norm::{BatchNormMode, ScaleBias, ScaleBiasGradients, TrainingStatistics};
pub use bias::Addends;
pub use convolve::ConvolutionOptions;
pub use ctc::CtcLabels;
pub use drop_out::DropoutMask;
pub use layer_norm::{Affine, NormStatistics};
pub use pool::PoolingWorkspace;
pub use recur::{RnnStates, RnnStatesMut, RnnTraining};
pub use recur_params::RnnParamKind;
pub use response_norm::LrnWorkspace;
pub use softmax::{SoftmaxAlgorithm, SoftmaxMode};
pub use tensors::{Factors, TensorOp};
