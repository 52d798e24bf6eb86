//! Evaluating a case with the reference.

use reference::{Array, Error, Outcome};

use crate::case::{Case, Op};

/// The operands as the operation sees them: dense arrays of the views' elements.
///
/// # Errors
/// None for a case's own inputs; [`Error::Length`] for inputs of the wrong size.
pub fn arrays(case: &Case, inputs: &[Vec<u8>]) -> Result<Vec<Array>, Error> {
    let dense = |(operand, bytes): (&crate::case::Operand, &Vec<u8>)| {
        if operand.steps.is_empty() {
            return Array::from_bytes(operand.dtype, &operand.stored, bytes);
        }
        let view = operand.view();
        Array::from_bytes(operand.dtype, &view.dims, &view.gather(bytes, operand.dtype.size()))
    };
    case.operands.iter().zip(inputs).map(dense).collect()
}

/// The expected result, element by element.
///
/// # Errors
/// The reference's, if the case is invalid.
pub fn outcome<'a>(case: &Case, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
    Ok(match &case.op {
        Op::Unary(op) => reference::unary(*op, arrays[0])?,
        Op::Scalar(op, scalar) => reference::unary_scalar(*op, arrays[0], *scalar)?,
        Op::Affine { mul, add } => reference::affine(arrays[0], *mul, *add),
        Op::Clamp { low, high } => reference::clamp(arrays[0], *low, *high),
        Op::Binary(op) => reference::binary(*op, arrays[0], arrays[1])?,
        Op::Compare(op) => reference::compare(*op, arrays[0], arrays[1])?,
        Op::Cast(to) => reference::cast(arrays[0], *to),
        Op::Copy => reference::copy(arrays[0]),
        Op::Fill(value) | Op::ConstSet(value) => {
            reference::fill(arrays[0].dtype(), arrays[0].shape(), *value)?
        }
        Op::CopyInto => reference::copy(arrays[1]),
        Op::Reduce { op, axes, keep } => reference::reduce(*op, arrays[0], axes, *keep)?,
        Op::Matmul => reference::matmul(arrays[0], arrays[1])?,
        Op::Named(operation) => operation.outcome(arrays)?,
    })
}
