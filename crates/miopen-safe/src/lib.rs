//! Convolution, pooling, normalisation, activation, attention and recurrent networks on hip-safe's memory, by MIOpen or its replacement.
//!
//! A [`Handle`] is the library on a stream. A [`TensorDesc`] describes shape and strides. A descriptor with memory is a [`Tensor`]
//! to read or a [`TensorMut`] to write. This program runs on `hip-host`, which uses threads of the CPU.
//!
//! ```
//! use hip_safe::Device;
//! use miopen_safe::{
//!     Activation, ActivationDesc, Blend, Convolution, ConvolutionDesc, ConvolutionOptions, Handle, TensorDesc,
//! };
//!
//! # fn main() -> miopen_safe::Result<()> {
//! let device = Device::new(&hip_host::platform(), 0)?;
//! let stream = device.new_stream()?;
//! let handle = Handle::new(&stream)?;
//!
//! // One image of one channel, 3 × 3, and one filter of 2 × 2.
//! let x_desc = TensorDesc::packed::<f32>(&handle, &[1, 1, 3, 3])?;
//! let w_desc = TensorDesc::packed::<f32>(&handle, &[1, 1, 2, 2])?;
//! let convolution = ConvolutionDesc::new(&handle, Convolution::new(2))?;
//! let dims = convolution.output_dims(&x_desc, &w_desc, &handle)?;
//! assert_eq!(dims, [1, 1, 2, 2]);
//! let y_desc = TensorDesc::packed::<f32>(&handle, &dims)?;
//!
//! let x = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])?;
//! let w = stream.upload(&[1.0_f32, 0.0, 0.0, -2.0])?;
//! let mut y = stream.alloc_zeros::<f32>(4)?;
//! let mut z = stream.alloc_zeros::<f32>(4)?;
//!
//! // The handle chooses a solution once for each problem; its workspace comes from the device's pool.
//! let mut ty = y_desc.view_mut(&mut y)?;
//! let options = ConvolutionOptions::default();
//! handle.convolution_forward(&convolution, &x_desc.view(&x)?, &w_desc.view(&w)?, &mut ty, options)?;
//! let leaky = ActivationDesc::new(&handle, Activation::LeakyRelu { alpha: 0.5 })?;
//! handle.activation_forward(&leaky, Blend::SET, &ty.as_tensor(), &mut y_desc.view_mut(&mut z)?)?;
//! assert_eq!(stream.download(&y)?, [-9.0, -10.0, -12.0, -13.0]);
//! assert_eq!(stream.download(&z)?, [-4.5, -5.0, -6.0, -6.5]);
//!
//! // Memory that is too short is an error before any call.
//! let short = stream.alloc_zeros::<f32>(8)?;
//! assert!(x_desc.view(&short).unwrap_err().to_string().ends_with("and the memory has 8"));
//! # Ok(())
//! # }
//! ```
//!
//! What holds everywhere:
//! - Every call first checks types, shapes, lengths of memory, devices and platforms. It goes through
//!   [`Stream::submission`](hip_safe::Stream::submission): work is ordered on all streams and may be captured into a graph, which keeps
//!   what it needs of the handle. Calls that measure or wait are refused while the stream captures.
//! - An output borrows its memory exclusively, so the borrow checker refuses an input that overlaps it:
//!
//!   ```compile_fail,E0502
//!   # use miopen_safe::{Activation, ActivationDesc, Blend, Handle, TensorDesc};
//!   # fn main() -> miopen_safe::Result<()> {
//!   # let stream = hip_safe::Device::new(&hip_host::platform(), 0)?.new_stream()?;
//!   # let handle = Handle::new(&stream)?;
//!   # let desc = TensorDesc::packed::<f32>(&handle, &[4])?;
//!   # let relu = ActivationDesc::new(&handle, Activation::Relu)?;
//!   let mut memory = stream.alloc_zeros::<f32>(4)?;
//!   let x = desc.view(&memory)?;
//!   handle.activation_forward(&relu, Blend::SET, &x, &mut desc.view_mut(&mut memory)?)?;
//!   # Ok(())
//!   # }
//!   ```
//! - Sizes, and the offset of the last element, must fit 32 bits, as MIOpen requires.
//! - A function that a platform lacks is [`Error::Unsupported`], with the function and the reason. COVERAGE.md lists the functions
//!   and the platforms.
//! - Owners destroy their object on drop. An error there goes to [`on_drop_error`](hip_safe::on_drop_error); `close` returns it to
//!   the caller instead.
//!
//! # Platforms
//! MIOpen itself is found at run time. Its replacements are crates, one for each cargo feature, and both are on by default: `host` for
//! hip-host's threads of the CPU, `nvidia` for cuDNN 9 on hip-nvidia. [`library()`] says what a platform has.

mod activation;
mod attention;
mod convert;
mod convolution;
mod ctc;
mod data_type;
mod dropout;
mod error;
mod fusion;
mod handle;
mod layout;
mod library;
mod lrn;
mod ops;
mod owner;
mod pooling;
mod raw;
mod reduction;
mod rnn;
mod solutions;
mod tensor;
mod work;

pub use activation::{Activation, ActivationDesc};
pub use attention::{AttentionDesc, AttentionFactors, AttentionParams};
pub use convert::Blend;
pub use convolution::{Convolution, ConvolutionDesc, ConvolutionMode};
pub use ctc::{CtcLoss, CtcLossDesc};
pub use data_type::{DataType, Element};
pub use dropout::DropoutDesc;
pub use error::{Error, Result};
pub use fusion::{FusionArg, FusionOp, FusionPlan};
pub use handle::Handle;
pub use library::library;
pub use lrn::{Lrn, LrnDesc, LrnMode};
pub use ops::*;
pub use pooling::{IndexMode, IndexType, Pooling, PoolingDesc, PoolingMode};
pub use reduction::{ReduceOp, Reduction, ReductionDesc};
pub use rnn::{Rnn, RnnDesc, RnnMode, RnnParam, RnnSequence};
pub use solutions::{Algorithm, Direction, SearchMode, Solution, SolutionStatistics};
pub use tensor::{MAX_DIMS, Tensor, TensorDesc, TensorMut};
