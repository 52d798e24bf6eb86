//! The operations on the CPU, one verb a file; every backend has these files and functions.

pub(crate) mod affine;
pub(crate) mod binary;
pub(crate) mod cast;
pub(crate) mod clamp;
pub(crate) mod compare;
pub(crate) mod copy;
pub(crate) mod fill;
pub(crate) mod matmul;
pub(crate) mod random;
pub(crate) mod reduce;
pub(crate) mod unary;
