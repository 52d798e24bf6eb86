//! The operations: methods of [`Handle`](crate::Handle), one file for each verb or family.
//!
//! Each of them checks sizes, brings what the caller sees into the form that C knows (matrices stored by columns), and submits one call.

mod axpy;
mod dot;
mod gemm;
mod gemv;
mod reduce;

use crate::flag::Flag;
use crate::stored::Stored;
use crate::{Error, Result};
use hip_sys::rocblas::rocblas_operation;

/// C's word for what happens to an operand.
fn operation(op: &'static str, flag: Flag) -> Result<rocblas_operation> {
    flag.operation().ok_or(Error::NotSupported {
        op,
        what: "an operand that is conjugated and, as it is stored, not transposed",
        remedy: "store it, or the result, in the other layout, or conjugate a copy",
    })
}

/// Refuses sizes that do not fit each other.
fn check(op: &'static str, what: &'static str, got: usize, wanted: usize) -> Result<()> {
    if got == wanted { Ok(()) } else { Err(Error::shape(op, what, got.to_string(), wanted.to_string())) }
}

/// Refuses a matrix that is not of `rows` x `cols`.
fn check_matrix(op: &'static str, what: &'static str, got: Stored, rows: usize, cols: usize) -> Result<()> {
    if (got.seen_rows(), got.seen_cols()) == (rows, cols) {
        Ok(())
    } else {
        Err(Error::shape(op, what, got.size(), format!("{rows} x {cols}")))
    }
}
