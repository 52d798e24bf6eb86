//! Vectors.

pub(super) mod axpy;
pub(super) mod dot;
pub(super) mod nrm2;
pub(super) mod reduce;
pub(super) mod scal;
mod zip;

use zip::{GRAIN, zip};
