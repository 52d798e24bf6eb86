//! What must not compile.
//!
//! The matrix of a system as its right sides:
//!
//! ```compile_fail,E0502
//! # use rocblas_safe::{Layout::ColMajor, Matrix, MatrixMut};
//! # use rocsolver_safe::{Pivots, Solver, Transpose};
//! # fn solve(solver: &Solver<'_>, pivots: &Pivots, mut a: hip_safe::DeviceBuffer<f32>) {
//! let factors = Matrix::new(a.view(), 2, 2, ColMajor).unwrap();
//! let sides = MatrixMut::new(a.view_mut(), 2, 2, ColMajor).unwrap();
//! solver.getrs(Transpose::No, factors, pivots, sides).unwrap();
//! # }
//! ```
//!
//! Pivots that nobody checked:
//!
//! ```compile_fail,E0451
//! # use rocsolver_safe::Pivots;
//! # fn pivots(buffer: hip_safe::DeviceBuffer<i32>) -> Pivots {
//! Pivots { buffer, rows: 2, len: 2, count: None }
//! # }
//! ```
