//! The types of elements, and the choices that operations take.

use crate::raw::Calls;
use num_complex::{Complex32, Complex64};
use rocblas_safe::Blas;

/// What matrices are made of: `f32`, `f64`, `Complex32` and `Complex64`. No other crate implements it.
pub trait Lapack: Blas + Calls {}

impl Lapack for f32 {}
impl Lapack for f64 {}
impl Lapack for Complex32 {}
impl Lapack for Complex64 {}

/// How a matrix is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transpose {
    /// As it is.
    No,
    /// Transposed.
    Yes,
    /// Conjugated and transposed; of real numbers, transposed.
    Conjugate,
}

/// Whether eigenvectors are computed too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vectors {
    /// Eigenvalues alone: the matrix has no meaning afterwards.
    No,
    /// The matrix is replaced by its eigenvectors, a column for each eigenvalue.
    InPlace,
}

/// A generalised eigenvalue problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Problem {
    /// A x = λ B x
    Ax,
    /// A B x = λ x
    Abx,
    /// B A x = λ x
    Bax,
}
