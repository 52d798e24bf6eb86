//! A matrix and vectors.

mod columns;
pub(super) mod gbmv;
pub(super) mod gemv;
pub(super) mod ger;
pub(super) mod symv;
pub(super) mod syr;
mod triangle;
pub(super) mod trmv;
pub(super) mod trsv;
