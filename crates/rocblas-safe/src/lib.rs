//! BLAS levels 1 to 3 on hip-safe's memory, by rocBLAS or by its replacement on other platforms.
//!
//! ```
//! use rocblas_safe::{Handle, Layout::RowMajor, Matrix, MatrixMut};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = hip_safe::Device::new(&hip_host::platform(), 0)?;
//! let stream = device.new_stream()?;
//! let handle = Handle::new(&stream)?;
//!
//! // Matrices may be row-major or column-major.
//! let a = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let a = Matrix::new(a.view(), 2, 3, RowMajor)?;
//! let mut square = stream.alloc_zeros::<f32>(4)?;
//! handle.gemm(1.0, a, a.t(), 0.0, MatrixMut::new(square.view_mut(), 2, 2, RowMajor)?)?;
//! assert_eq!(stream.download(&square)?, [14.0, 32.0, 32.0, 77.0]);
//!
//! // A buffer or a view is a vector.
//! let x = stream.upload(&[1.0_f32, 10.0, 100.0, 1000.0])?;
//! handle.axpy(0.5, &x, &mut square)?;
//! assert_eq!(handle.dot(&x, &square)?, 14.5 + 370.0 + 8200.0 + 577_000.0);
//!
//! // Sizes that do not match are an error before any call.
//! let error = handle.gemm(1.0, a, a, 0.0, MatrixMut::new(square.view_mut(), 2, 2, RowMajor)?);
//! assert_eq!(error.unwrap_err().to_string(), "gemm: b is 2 x 3, and 3 x 2 is needed");
//! # Ok(())
//! # }
//! ```
//!
//! What holds everywhere:
//! - Operations are methods of a [`Handle`], which is bound to a stream. They return once they are submitted, may be captured into a
//!   graph, and are ordered after conflicting uses of their operands on any stream or thread.
//! - The host waits for the handle's stream in two cases: a result is on the host; or, outside of captures, a batch has members at
//!   arbitrary addresses, which are copied to the device before the call. Batches at equal distances do not wait.
//! - A [`Vector`] or [`Matrix`] has its memory, sizes, increments and leading dimension, and cannot exceed its view. The same method
//!   takes single operands and batches ([`VectorBatch`], [`MatrixBatch`]), at equal distances or at arbitrary addresses. A single input
//!   is used with every member of a batch.
//! - Inputs and outputs cannot overlap: the borrow checker ensures it. A check does for the members of an output batch.
//! - Sizes beyond 32 bits use the library's 64-bit functions. If there is none for a batch, its members are called one after the
//!   other; if there is none at all, it is an error.
//! - Alpha and beta are values, or elements of device memory ([`Scalar`]).
//! - Triangles, transposition and sides refer to the matrix as the caller sees it, whatever its layout.
//! - `f16`, `bf16` and `f32` accumulate in `f32`, unless [`Handle::gemm_ex`] or [`Handle::set_math_mode`] selects otherwise.
//!
//! # Platforms
//! rocBLAS itself is found at run time. Its replacements are crates, one for each cargo feature, and both are on by default: `host` for
//! hip-host's threads of the CPU, `nvidia` for cuBLAS on hip-nvidia. [`library()`] says what a platform has.
//!
//! [`lt`] has products with what follows them in networks, by hipBLASLt: a library of its own, which not every machine has.
//!
//! `COVERAGE.md` lists each C function and what wraps it.

mod band;
mod columns;
mod convert;
mod error;
mod flag;
mod foreign;
mod handle;
mod library;
pub mod lt;
mod matrix;
mod matrix_batch;
#[cfg(doctest)]
mod misuse;
mod ops;
mod options;
mod plan;
mod raw;
mod scalar;
mod storage;
mod stored;
mod types;
mod vector;
mod vector_batch;

pub use band::BandMatrix;
pub use columns::Columns;
pub use error::{Error, Result};
pub use handle::Handle;
pub use library::library;
pub use matrix::{Matrix, MatrixMut};
pub use matrix_batch::{MatrixBatch, MatrixBatchMut};
pub use ops::Rotation;
pub use options::{AtomicsMode, Diagonal, Layout, MathMode, Side, Triangle};
pub use scalar::Scalar;
pub use storage::Storage;
pub use types::{Blas, Complex, Element, Operable, Product, VectorProduct};
pub use vector::{Vector, VectorMut};
pub use vector_batch::{VectorBatch, VectorBatchMut};
