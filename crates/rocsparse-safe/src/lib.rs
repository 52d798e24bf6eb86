//! Sparse matrices on hip-safe's memory, by rocSPARSE or by its replacement on other platforms.
//!
//! ```
//! use rocsparse_safe::{Handle, Op, Order, Parts, SparseMatrix, Spmv};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = hip_safe::Device::new(&hip_host::platform(), 0)?;
//! let stream = device.new_stream()?;
//! let handle = Handle::new(&stream)?;
//!
//! // 1 0 2
//! // 0 0 0
//! // 0 3 0
//! let parts = Parts::csr(3, 3, &[0, 2, 2, 3][..], &[0, 2, 1][..], &[1.0_f32, 2.0, 3.0][..]);
//! let matrix = parts.upload(&stream)?;
//!
//! // What the library wants to know of a matrix it finds out once. The matrix is borrowed here; it could be owned.
//! let product = Spmv::prepare(&handle, Op::None, matrix.view())?;
//! let x = stream.upload(&[1.0_f32, 10.0, 100.0])?;
//! let mut y = stream.alloc_zeros::<f32>(3)?;
//! product.compute(2.0, &x, 0.0, &mut y)?;
//! assert_eq!(stream.download(&y)?, [402.0, 0.0, 60.0]);
//! drop(product);
//!
//! // The matrix gives its buffers back. Memory of a device becomes a matrix again after a look at its indices.
//! let parts = matrix.into_parts();
//! assert_eq!(parts.check(&stream)?, Order::Unique);
//! let matrix = SparseMatrix::new(parts, &stream)?;
//! let coo = handle.csr_to_coo(matrix)?;
//! assert_eq!(coo.download(&stream)?.outer, Some(vec![0, 0, 2]));
//!
//! // An index outside of the matrix is an error before anything is copied.
//! let error = Parts::csr(1, 3, &[0, 1][..], &[3][..], &[1.0_f32][..]).upload(&stream).unwrap_err();
//! assert_eq!(error.to_string(), "the column index of entry 0 is 3, and has to be from 0 to below 3");
//! # Ok(())
//! # }
//! ```
//!
//! What holds everywhere:
//! - A [`SparseMatrix`] is made of [`Parts`]: sizes, a [`Format`], and memory that it owns or borrows. Its offsets and indices are checked when
//!   it is made: on the host for the host's data, after a copy to the host for memory of a device. So no call reads outside of its memory.
//! - Operations of several phases are types: [`Spmv`], [`Spmm`], [`Spgemm`], [`Sddmm`], [`Spsv`] and [`Spsm`]. `prepare` runs the phases before the last
//!   one and owns the work memory, which comes from the pool; `compute` can be called as often as wanted, from several threads too.
//! - Other operations are methods of a [`Handle`]: conversions, sorts, and those of a [`SparseVector`].
//! - Indices are `i32` or `i64`, start at 0, and are all of one type in a matrix. Conversions between formats and sorts are for `i32`, as in the
//!   library.
//! - A matrix knows how its entries are ordered ([`Order`]). An operation that needs a better order is refused with the first entry
//!   that breaks it.
//! - Calls return once they are submitted, and are ordered after conflicting uses of their memory on any stream or thread.
//! - Calls are not captured into graphs: a graph's launches would use indices that may have changed since they were checked.
//!   They are refused with [`Capturing`](hip_safe::Error::Capturing).
//! - What is read and what is written cannot overlap: one is borrowed shared, the other exclusively.
//!
//! # Platforms
//! rocSPARSE itself, of ROCm 6 or later, is found at run time. Its replacements are crates, one for each cargo feature, and both are on by
//! default: `host` for hip-host's threads of the CPU, `nvidia` for cuSPARSE on hip-nvidia. [`library()`] says what a
//! platform has.
//!
//! `COVERAGE.md` lists each C function and what wraps it.

mod check;
mod convert;
mod dense;
mod error;
mod handle;
mod library;
mod matrix;
#[cfg(doctest)]
mod misuse;
mod ops;
mod parts;
mod prepared;
mod raw;
mod types;
mod vector;

pub use check::Order;
pub use dense::{DenseMatrix, DenseShape, Layout};
pub use error::{Error, Result};
pub use handle::Handle;
pub use library::library;
pub use matrix::{OwnedMatrix, SparseMatrix};
pub use num_complex::Complex;
pub use ops::{DiagonalKind, Op, Sddmm, Spgemm, Spmm, Spmv, Spsm, Spsv, Triangle};
pub use parts::{BlockLayout, Format, Parts};
pub use types::{Index, Scalar};
pub use vector::SparseVector;
