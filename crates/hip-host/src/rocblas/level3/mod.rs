//! Matrices.

pub(super) mod gemm;
mod matrix;
mod product;
mod tiles;
