//! A matrix and vectors.

mod columns;
pub(super) mod gemv;
