//! A plain, slow implementation of BLAS levels 1 to 3, on complex double-double numbers for calls of any type.
//!
//! Vectors and [`Matrix`]es have no layout and no increments. Operands are gathered into them. Each element of a result
//! is judged by [`Sum::accepts`] of a [`Sum`], which knows the magnitude of its terms.
//!
//! ```
//! use reference::blas::{Matrix, Number, gemm};
//! use reference::DType;
//!
//! // [1 2] over [3 4], gathered from rows, times a column.
//! let a = Matrix::gather(&[1.0, 2.0, 3.0, 4.0].map(Number::from), 0, (2, 2), (2, 1));
//! let b = Matrix::from_fn(2, 1, |i, _| Number::from(5.0 + i as f64));
//! let c = gemm(1.0.into(), &a, &b, 0.0.into(), &Matrix::zeros(2, 1));
//! assert_eq!((c[(0, 0)].value.re.hi, c[(1, 0)].value.re.hi), (17.0, 39.0));
//! assert!(c[(1, 0)].accepts(DType::F32, [39.0, 0.0]));
//! ```

mod level1;
mod level2;
mod level3;
mod matrix;
mod number;
mod sum;

pub use level1::{Rotation, asum, axpy, dot, dotc, first_largest, first_smallest, nrm2, rot, rotg, scal};
pub use level2::{gemv, ger, gerc, solve_residual_vector};
pub use level3::{diagonal_left, diagonal_right, geam, gemm, rank_k, solve_residual};
pub use matrix::Matrix;
pub use number::Number;
pub use sum::{Sum, Sums};
