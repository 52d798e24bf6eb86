//! Cumulative sums and products along an axis.

use reference::{Array, CumulativeOp, DType, Error, Outcome};
use serde_json::{Map, Value, json};
use tensor_core::Tensor;

use super::shapes::{BLOCKS, COLS, ROWS, high_rank, narrowed, permuted, transposed};
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::operation::Operation;
use crate::view::Step;

/// A cumulative sum or product along an axis.
#[derive(Debug, Clone, Copy)]
struct Scan {
    op: CumulativeOp,
    axis: usize,
}

impl Operation for Scan {
    fn name(&self) -> &'static str {
        self.op.name()
    }

    fn parameters(&self) -> String {
        format!("axis={}", self.axis)
    }

    fn manifest(&self) -> Map<String, Value> {
        Map::from_iter([("axis".to_string(), json!(self.axis))])
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        match self.op {
            CumulativeOp::Sum => operands[0].cumsum(self.axis),
            CumulativeOp::Prod => operands[0].cumprod(self.axis),
        }
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        reference::scan(self.op, arrays[0], self.axis)
    }
}

/// Layout, shape class, operand and axis.
type Line = (Layout, &'static str, Operand, usize);

fn lines(dtype: DType, contents: Contents) -> Vec<Line> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    let repeated = |shape: &[usize]| dense(shape).then(Step::Broadcast(vec![ROWS, COLS]));
    vec![
        (Layout::Contiguous, "vector", dense(&[1]), 0),
        (Layout::Contiguous, "vector", dense(&[33]), 0),
        (Layout::Contiguous, "vector", dense(&[1025]), 0),
        (Layout::Contiguous, "vector", dense(&[4099]), 0),
        // Longer than two sections, which takes three kernels.
        (Layout::Contiguous, "sections", dense(&[8461]), 0),
        (Layout::Contiguous, "row", dense(&[ROWS, COLS]), 1),
        (Layout::Contiguous, "kilo-row", dense(&[5, 1025]), 1),
        (Layout::Contiguous, "short-row", dense(&[701, 5]), 1),
        (Layout::Contiguous, "column", dense(&[ROWS, COLS]), 0),
        (Layout::Contiguous, "few-columns", dense(&[COLS, 7]), 0),
        (Layout::Contiguous, "short-column", dense(&[5, 701]), 0),
        (Layout::Contiguous, "middle", dense(&[7, 33, 11]), 1),
        (Layout::Contiguous, "one", dense(&[ROWS, 1]), 1),
        (Layout::Transposed, "row", transposed(dtype, ROWS, COLS, contents), 1),
        (Layout::Transposed, "column", transposed(dtype, ROWS, COLS, contents), 0),
        (Layout::Narrowed, "row", narrowed(dtype, ROWS, COLS, contents), 1),
        (Layout::Permuted, "middle", permuted(dtype, contents), 2),
        (Layout::BroadcastRow, "row", repeated(&[COLS]), 1),
        (Layout::BroadcastColumn, "row", repeated(&[ROWS, 1]), 1),
        (Layout::HighRank, "10d", high_rank(dtype, contents), 3),
        (Layout::Empty, "no-lines", dense(&[0, 5]), 1),
        (Layout::Empty, "no-elements", dense(&[5, 0]), 1),
    ]
}

/// Both operations on every line, sums with infinite and NaN terms, and sums that must be exact.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        for (op, contents) in [(CumulativeOp::Sum, Contents::Terms), (CumulativeOp::Prod, Contents::Factors)]
        {
            for (layout, shape, operand, axis) in lines(dtype, contents) {
                cases.push(Case::new(Op::named(Scan { op, axis }), vec![operand], layout, shape));
            }
        }
        if dtype.is_float() {
            let special = Operand::dense(dtype, &[301, COLS], Contents::SpecialTerms);
            let sum = |axis| Op::named(Scan { op: CumulativeOp::Sum, axis });
            cases.push(Case::new(sum(1), vec![special.clone()], Layout::Contiguous, "special-row"));
            cases.push(Case::new(sum(0), vec![special], Layout::Contiguous, "special-column"));
        }
    }
    // A block has 64 threads, one per short line.
    let many = Operand::dense(DType::U8, &[BLOCKS * 64, 3], Contents::EveryPattern);
    let sum = Op::named(Scan { op: CumulativeOp::Sum, axis: 1 });
    cases.push(Case::new(sum, vec![many], Layout::Contiguous, "many-blocks"));
    // Integers whose sums are exact in f32 in any order, but not in 16 bits.
    for (dtype, bits, length) in [(DType::F16, 10, 1013), (DType::BF16, 7, 1013), (DType::F32, 13, 2003)] {
        let whole = |shape: &[usize]| vec![Operand::dense(dtype, shape, Contents::Whole(bits))];
        let sum = |axis| Op::named(Scan { op: CumulativeOp::Sum, axis });
        let row = Case::new(sum(1), whole(&[5, length]), Layout::Contiguous, "whole-row");
        let column = Case::new(sum(0), whole(&[length, 5]), Layout::Contiguous, "whole-column");
        cases.extend([row.exactly(), column.exactly()]);
    }
    cases
}
