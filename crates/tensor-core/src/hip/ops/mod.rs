//! Operations on HIP storage: one file per verb, the same names as in `cpu/ops`.

pub(crate) mod affine;
pub(crate) mod binary;
pub(crate) mod cast;
pub(crate) mod clamp;
pub(crate) mod compare;
pub(crate) mod copy;
pub(crate) mod fill;
pub(crate) mod foreign;
mod launch;
pub(crate) mod matmul;
pub(crate) mod random;
pub(crate) mod reduce;
pub(crate) mod unary;
