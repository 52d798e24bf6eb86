//! What an operation computes, in the form that the functions of every backend take: one file an operation.

pub(crate) mod attention;
pub(crate) mod flip;
pub(crate) mod index;
pub(crate) mod join;
pub(crate) mod norm;
pub(crate) mod rope;
pub(crate) mod scan;
pub(crate) mod stat;
