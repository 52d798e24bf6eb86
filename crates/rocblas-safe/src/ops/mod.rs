//! The operations: methods of [`Handle`](crate::Handle), one file for each verb or family.
//!
//! Each of them checks sizes, converts the operands to C's column-major form, and submits one call.

mod axpy;
mod copy;
mod dgmm;
mod dot;
mod extremes;
mod gbmv;
mod geam;
mod gemm;
mod gemm_ex;
mod gemv;
mod ger;
mod norms;
mod rank_k;
mod reduce;
mod rot;
mod scal;
mod symm;
mod symmetric;
mod triangular;
mod triangular_vector;

pub use rot::Rotation;

use crate::flag::Flag;
use crate::stored::Stored;
use crate::{Error, Result};
use hip_sys::rocblas::rocblas_operation;

/// C's value for the operation on an operand.
fn operation(op: &'static str, flag: Flag) -> Result<rocblas_operation> {
    flag.operation().ok_or(Error::NotSupported {
        op,
        what: "an operand that is conjugated and, as it is stored, not transposed",
        remedy: "store it, or the result, in the other layout, or conjugate a copy",
    })
}

/// The result and the inputs in a storage order that C can express, if there is one; else unchanged.
fn expressible<const N: usize>(result: Stored, inputs: [Stored; N]) -> (Stored, [Stored; N]) {
    for result in result.ways() {
        let found = inputs.map(|input| input.expressible(result.flag.transposed));
        if found.iter().all(Option::is_some) {
            return (result, std::array::from_fn(|i| found[i].unwrap_or(inputs[i])));
        }
    }
    (result, inputs)
}

/// Refuses sizes that are not equal.
pub(crate) fn check(op: &'static str, what: &'static str, got: usize, wanted: usize) -> Result<()> {
    if got == wanted { Ok(()) } else { Err(Error::shape(op, what, got.to_string(), wanted.to_string())) }
}

/// Refuses a matrix that is not of `rows` x `cols`.
pub(crate) fn check_matrix(
    op: &'static str,
    what: &'static str,
    got: Stored,
    rows: usize,
    cols: usize,
) -> Result<()> {
    if (got.seen_rows(), got.seen_cols()) == (rows, cols) {
        Ok(())
    } else {
        Err(Error::shape(op, what, got.size(), format!("{rows} x {cols}")))
    }
}

/// An input and the result of one size, both stored in the same layout: C transposes neither.
fn align(op: &'static str, input: Stored, result: Stored) -> Result<(Stored, Stored)> {
    if input.flag.conjugated {
        let what = "a conjugated input of the result's size";
        return Err(Error::NotSupported { op, what, remedy: "conjugate a copy" });
    }
    if let Some(input) = input.stored_as(result.flag.transposed) {
        return Ok((input, result));
    }
    match result.stored_as(input.flag.transposed) {
        Some(result) => Ok((input, result)),
        None => Err(Error::NotSupported {
            op,
            what: "an input of the result's size in another layout than the result",
            remedy: "store both by rows or both by columns: geam copies one into the other",
        }),
    }
}
