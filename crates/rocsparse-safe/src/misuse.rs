//! What must not compile.
//!
//! An output that is an input:
//!
//! ```compile_fail,E0502
//! # use rocsparse_safe::*;
//! # fn product(product: &Spmv<hip_safe::DeviceBuffer<i32>, hip_safe::DeviceBuffer<f32>>, mut x: hip_safe::DeviceBuffer<f32>) {
//! product.compute(1.0, &x, 0.0, &mut x);
//! # }
//! ```
//!
//! A change of indices that were checked:
//!
//! ```compile_fail,E0616
//! # use rocsparse_safe::*;
//! # fn change(mut matrix: OwnedMatrix<i32, f32>, other: hip_safe::DeviceBuffer<i32>) {
//! matrix.parts.inner = other;
//! # }
//! ```
