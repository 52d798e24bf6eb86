//! Products of matrices with what follows them in networks, in one call: by hipBLASLt or the platform's replacement.
//!
//! ```
//! use rocblas_safe::lt::LtHandle;
//! use rocblas_safe::{Layout::RowMajor, Matrix, MatrixMut};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = hip_safe::Device::new(&hip_host::platform(), 0)?;
//! let (stream, lt) = (device.new_stream()?, LtHandle::new(&device)?);
//!
//! // A layer: two inputs of three numbers, weights with a row for each of two outputs, and a bias for each output.
//! let x = stream.upload(&[1.0_f32, 2.0, 3.0, -1.0, 0.0, 1.0])?;
//! let w = stream.upload(&[1.0_f32, 0.0, -1.0, 0.5, 0.5, 0.5])?;
//! let bias = stream.upload(&[1.0_f32, -1.0])?;
//! let mut y = stream.alloc_zeros::<f32>(4)?;
//! let (x, w) = (Matrix::new(x.view(), 2, 3, RowMajor)?, Matrix::new(w.view(), 2, 3, RowMajor)?);
//! lt.matmul(x, w.t(), MatrixMut::new(y.view_mut(), 2, 2, RowMajor)?)
//!     .bias_per_column(bias.view())
//!     .relu()
//!     .run(&stream)?;
//! assert_eq!(stream.download(&y)?, [0.0, 2.0, 0.0, 0.0]);
//! # Ok(())
//! # }
//! ```
//!
//! What differs from [`Handle::gemm`](crate::Handle::gemm):
//! - The result may get a bias, ReLU or GELU, and the factor of an 8-bit format, before it is rounded and stored: see [`Matmul`].
//! - [`MatmulTypes`] lists the types; 8-bit floats are among them.
//! - The library chooses an algorithm for each problem. An [`LtHandle`] asks once and remembers the answer. There may be none:
//!   [`Error::NoAlgorithm`](crate::Error::NoAlgorithm) says for what.
//! - Batches are at equal distances; sizes, leading dimensions and distances fit 32 bits; alpha and beta are values.
//! - A handle belongs to a device, and calls name their stream.

mod float8;
mod handle;
mod library;
mod matmul;
mod problem;
mod raw;
mod run;
mod types;

pub use float8::{F8E4M3, F8E4M3Fnuz, F8E5M2, F8E5M2Fnuz};
pub use handle::LtHandle;
pub use library::library;
pub use matmul::Matmul;
pub use types::{BiasFor, Float8, Float8Result, LtElement, MatmulTypes};

pub(crate) use raw::Failure;

use hip_sys::hipblaslt::hipblasStatus_t;

/// The name of a status.
pub(crate) fn status_name(status: hipblasStatus_t) -> &'static str {
    hip_sys::layout::HIPBLASLT.status_name("hipblasStatus_t", status.0)
}
