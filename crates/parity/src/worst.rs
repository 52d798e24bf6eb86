//! The inputs that decide one element of a result.

use reference::Array;
use serde::Serialize;

use crate::case::{Case, Op, Operand, shape_text};
use crate::judge;
use crate::view::View;

/// Number of values shown of each operand.
const SHOWN: usize = 4;

/// The elements of one operand that decide an element of the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Input {
    /// Their indices in the operand's view: `[3,17]`, or `[3,:]` for a row. All of the operand if the operation has no
    /// simpler rule.
    pub indices: String,
    /// Number of elements there.
    pub count: usize,
    /// The first few, each with its bits.
    pub values: Vec<String>,
}

/// Describes an operand: `f32 [129,37].transpose(0,1), contents mixed`.
pub fn describe(operand: &Operand) -> String {
    let steps: String = operand.steps.iter().map(|step| format!(".{step}")).collect();
    format!("{} {}{steps}, contents {}", operand.dtype, shape_text(&operand.stored), operand.contents.name())
}

/// The inputs of the element at the row-major `index` of a result of this shape. `arrays` are the operands as the
/// operation sees them. An operand whose contents are not used has none.
pub fn inputs(case: &Case, arrays: &[&Array], shape: &[usize], index: usize) -> Vec<Input> {
    let at = coordinates(shape, index);
    let fixed = |number: usize, array: &Array| -> Option<Vec<Option<usize>>> {
        let rank = array.shape().len();
        match &case.op {
            Op::Fill(_) | Op::ConstSet(_) => None,
            Op::CopyInto if number == 0 => None,
            Op::Reduce { axes, keep, .. } => Some(reduced(rank, axes, *keep, &at)),
            Op::Matmul if rank >= 2 && at.len() >= 2 => {
                // The row of the first operand and the column of the second.
                let mut fixed = broadcast(array.shape(), &at);
                fixed[rank - 1 - number] = None;
                Some(fixed)
            }
            Op::Matmul | Op::Named(_) => Some(vec![None; rank]),
            _ => Some(broadcast(array.shape(), &at)),
        }
    };
    let input = |(number, array): (usize, &&Array)| match fixed(number, array) {
        Some(fixed) => part(array, &fixed),
        None => Input { indices: "not used".into(), count: 0, values: Vec::new() },
    };
    arrays.iter().enumerate().map(input).collect()
}

/// The index along each axis.
pub(crate) fn coordinates(shape: &[usize], index: usize) -> Vec<usize> {
    let mut rest = index;
    let mut at: Vec<usize> = shape
        .iter()
        .rev()
        .map(|axis| {
            let here = rest % axis;
            rest /= axis;
            here
        })
        .collect();
    at.reverse();
    at
}

/// The element of an operand of this shape that broadcasting puts at `at`.
fn broadcast(shape: &[usize], at: &[usize]) -> Vec<Option<usize>> {
    let new = at.len().saturating_sub(shape.len());
    shape.iter().zip(&at[new..]).map(|(axis, at)| Some(if *axis == 1 { 0 } else { *at })).collect()
}

/// The elements that a reduction reduces to the one at `at`.
fn reduced(rank: usize, axes: &[usize], keep: bool, at: &[usize]) -> Vec<Option<usize>> {
    let kept: Vec<usize> = (0..rank).filter(|axis| !axes.contains(axis)).collect();
    let mut fixed = vec![None; rank];
    for (position, axis) in kept.into_iter().enumerate() {
        fixed[axis] = at.get(if keep { axis } else { position }).copied();
    }
    fixed
}

/// The elements with these indices along the axes; `None` stands for every index.
fn part(array: &Array, fixed: &[Option<usize>]) -> Input {
    let dense = View::dense(array.shape());
    let mut view = View { dims: Vec::new(), strides: Vec::new(), offset: 0 };
    for ((at, dim), stride) in fixed.iter().zip(&dense.dims).zip(&dense.strides) {
        match at {
            Some(at) => view.offset += at * stride,
            None => {
                view.dims.push(*dim);
                view.strides.push(*stride);
            }
        }
    }
    let mut values = Vec::new();
    first(&view, |index| values.push(judge::text(array.dtype(), array.bits(index))));
    let indices = fixed.iter().map(|at| at.map_or(":".into(), |at| at.to_string())).collect::<Vec<_>>();
    Input { indices: format!("[{}]", indices.join(",")), count: view.len(), values }
}

/// Calls `visit` with the array index of each of the first few elements of a view.
fn first(view: &View, mut visit: impl FnMut(usize)) {
    for number in 0..view.len().min(SHOWN) {
        let at = coordinates(&view.dims, number);
        visit(view.offset + at.iter().zip(&view.strides).map(|(at, stride)| at * stride).sum::<usize>());
    }
}

#[cfg(test)]
mod tests {
    use reference::{BinaryOp, DType, ReduceOp};

    use super::*;
    use crate::case::Layout;
    use crate::inputs::Contents;

    /// The indices and values of the inputs of an element, with arrays of the numbers 0, 1, 2, …
    fn of(op: Op, operands: &[&[usize]], shape: &[usize], index: usize) -> Vec<(String, usize, String)> {
        let operand = |shape: &&[usize]| Operand::dense(DType::I32, shape, Contents::Mixed);
        let case = Case::new(op, operands.iter().map(operand).collect(), Layout::Contiguous, "matrix");
        let count = |shape: &[usize]| (0..shape.iter().product::<usize>() as i64).collect::<Vec<_>>();
        let arrays: Vec<Array> = operands
            .iter()
            .map(|shape| Array::from_i64(DType::I32, shape, &count(shape)).expect("as many as elements"))
            .collect();
        inputs(&case, &arrays.iter().collect::<Vec<_>>(), shape, index)
            .into_iter()
            .map(|input| (input.indices, input.count, input.values.join(" ")))
            .collect()
    }

    fn found(indices: &str, count: usize, values: &str) -> (String, usize, String) {
        (indices.into(), count, values.into())
    }

    #[test]
    fn elementwise_operations_take_one_element_of_each_operand() {
        let sum = of(Op::Binary(BinaryOp::Add), &[&[3, 4], &[4]], &[3, 4], 6);
        assert_eq!(sum, [found("[1,2]", 1, "6"), found("[2]", 1, "2")]);
        let row = of(Op::Binary(BinaryOp::Add), &[&[3, 1], &[]], &[3, 4], 11);
        assert_eq!(row, [found("[2,0]", 1, "2"), found("[]", 1, "0")]);
        let into = of(Op::CopyInto, &[&[2, 2], &[2, 2]], &[2, 2], 3);
        assert_eq!(into, [found("not used", 0, ""), found("[1,1]", 1, "3")]);
    }

    #[test]
    fn reductions_take_what_they_reduce() {
        let sum = |axes: &[usize], keep| Op::Reduce { op: ReduceOp::Sum, axes: axes.to_vec(), keep };
        assert_eq!(of(sum(&[1], false), &[&[3, 5]], &[3], 2), [found("[2,:]", 5, "10 11 12 13")]);
        assert_eq!(of(sum(&[0], true), &[&[3, 5]], &[1, 5], 4), [found("[:,4]", 3, "4 9 14")]);
        assert_eq!(of(sum(&[0, 2], false), &[&[2, 2, 2]], &[2], 1), [found("[:,1,:]", 4, "2 3 6 7")]);
    }

    #[test]
    fn products_take_a_row_and_a_column() {
        let product = of(Op::Matmul, &[&[2, 2, 3], &[3, 2]], &[2, 2, 2], 6);
        assert_eq!(product, [found("[1,1,:]", 3, "9 10 11"), found("[:,0]", 3, "0 2 4")]);
    }
}
