//! Matrices.

pub(super) mod dgmm;
pub(super) mod geam;
pub(super) mod gemm;
mod matrix;
mod product;
pub(super) mod symm;
pub(super) mod syrk;
pub(super) mod tiles;
mod triangle;
pub(super) mod trmm;
pub(super) mod trsm;
