//! LAPACK on hip-safe's memory, by rocSOLVER or by its replacement on other platforms: factors of matrices, solutions of linear systems, least
//! squares, eigenvalues and singular values.
//!
//! ```
//! use rocblas_safe::{Handle, Layout::ColMajor, MatrixMut};
//! use rocsolver_safe::{Error, Solver, Transpose};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = hip_safe::Device::new(&hip_host::platform(), 0)?;
//! let stream = device.new_stream()?;
//! let handle = Handle::new(&stream)?;
//! let solver = Solver::new(&handle)?;
//!
//! // Columns: the matrix is [[1, 2], [4, 4]].
//! let mut a = stream.upload(&[1.0_f64, 4.0, 2.0, 4.0])?;
//! let mut a = MatrixMut::new(a.view_mut(), 2, 2, ColMajor)?;
//! // The call is asynchronous; `check` waits, and says whether the matrix has factors.
//! let (pivots, info) = solver.getrf(&mut a)?;
//! info.check()?;
//!
//! let mut b = stream.upload(&[5.0, 12.0])?;
//! let x = MatrixMut::new(b.view_mut(), 2, 1, ColMajor)?;
//! solver.getrs(Transpose::No, &a, &pivots, x)?;
//! assert_eq!(stream.download(&b)?, [1.0, 2.0]);
//!
//! // Its second column is twice the first one.
//! let mut singular = stream.upload(&[1.0_f64, 2.0, 2.0, 4.0])?;
//! let a = MatrixMut::new(singular.view_mut(), 2, 2, ColMajor)?;
//! let error = solver.getrf(a)?.1.check().unwrap_err();
//! assert_eq!(error.to_string(), "getrf: pivot 2 is exactly zero: the matrix is singular, and no system can be solved with its factors");
//! # Ok(())
//! # }
//! ```
//!
//! What holds everywhere:
//! - Operations are methods of a [`Solver`], which borrows a [`rocblas_safe::Handle`]: they are submitted to its stream and ordered with all other
//!   uses of their operands. They use its workspace: what needs more answers `rocblas_status_memory_error`, and
//!   [`set_workspace`](rocblas_safe::Handle::set_workspace) gives more.
//! - Matrices are column-major, with any leading dimension, single ones or batches ([`MatrixBatchMut`](rocblas_safe::MatrixBatchMut)): at equal
//!   distances, or anywhere, whose members are called one after the other. [`Pivots`], factors of reflectors, eigenvalues and singular values lie one member after the
//!   other, without gaps.
//! - What is stored is what LAPACK stores: pivots count from 1, L and U are packed, eigenvalues rise, singular values fall.
//! - An operation that can fail in its computation returns an [`Info`], whose `check` waits for the result and names what failed, and in which
//!   member of a batch. Such an operation is refused while its stream captures a graph.
//! - Sizes above 2147483647 are errors.
//!
//! # Platforms
//! rocSOLVER itself is found at run time. Its replacements are crates, one for each cargo feature, and both are on by default: `host` for
//! hip-host's threads of the CPU, `nvidia` for cuSOLVER on hip-nvidia. [`library()`] says what a platform has.
//!
//! `COVERAGE.md` lists the C functions and what wraps them.

mod convert;
mod error;
mod info;
mod library;
#[cfg(doctest)]
mod misuse;
mod ops;
mod pivots;
mod raw;
mod solver;
mod types;
mod work;

pub use error::{Error, Result};
pub use info::Info;
pub use library::library;
pub use num_complex::{Complex32, Complex64};
pub use pivots::Pivots;
pub use solver::Solver;
pub use types::{Lapack, Problem, Transpose, Vectors};
