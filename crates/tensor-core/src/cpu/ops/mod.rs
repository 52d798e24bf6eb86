//! The operations on the CPU, one per file. Every backend has the same files and functions.

pub(crate) mod affine;
pub(crate) mod attention;
pub(crate) mod binary;
pub(crate) mod cast;
pub(crate) mod clamp;
pub(crate) mod compare;
pub(crate) mod conv;
pub(crate) mod copy;
pub(crate) mod fill;
pub(crate) mod index;
pub(crate) mod join;
pub(crate) mod matmul;
pub(crate) mod norm;
pub(crate) mod pool;
pub(crate) mod quant;
pub(crate) mod random;
pub(crate) mod range;
pub(crate) mod reduce;
pub(crate) mod rope;
pub(crate) mod scan;
pub(crate) mod select;
pub(crate) mod softmax;
pub(crate) mod sort;
pub(crate) mod stat;
pub(crate) mod unary;
