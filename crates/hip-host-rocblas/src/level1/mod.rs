//! Vectors.

pub(super) mod asum;
pub(super) mod axpy;
pub(super) mod copy;
pub(super) mod dot;
pub(super) mod extreme;
pub(super) mod nrm2;
pub(super) mod reduce;
pub(super) mod rot;
pub(super) mod rotg;
pub(super) mod scal;
pub(super) mod swap;
mod zip;

use zip::{GRAIN, zip, zip_both};
