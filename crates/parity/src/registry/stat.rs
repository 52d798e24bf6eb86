//! Statistics over all kinds of axes.

use reference::{Array, DType, Error, Outcome, StatOp};
use serde_json::{Map, json};
use tensor_core::Tensor;

use super::shapes::{BLOCKS, COLS, LARGE, ROWS, high_rank, narrowed, permuted, transposed};
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::operation::Operation;
use crate::view::{Step, list};

/// A statistic, or any or all.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Which {
    Stat(StatOp),
    Any,
    All,
}

#[derive(Debug)]
struct Statistic {
    which: Which,
    axes: Vec<usize>,
    keep: bool,
}

impl Operation for Statistic {
    fn name(&self) -> &'static str {
        match self.which {
            Which::Stat(op) => op.name(),
            Which::Any => "any",
            Which::All => "all",
        }
    }

    fn parameters(&self) -> String {
        format!("axes={}{}", list(&self.axes), if self.keep { ",keep" } else { "" })
    }

    fn manifest(&self) -> Map<String, serde_json::Value> {
        Map::from_iter([("axes".into(), json!(self.axes)), ("keep".into(), json!(self.keep))])
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let (x, axes) = (&operands[0], &self.axes);
        match (self.which, self.keep) {
            (Which::Stat(StatOp::Var), false) => x.var(axes),
            (Which::Stat(StatOp::Var), true) => x.var_keepdim(axes),
            (Which::Stat(StatOp::Std), false) => x.std(axes),
            (Which::Stat(StatOp::Std), true) => x.std_keepdim(axes),
            (Which::Stat(StatOp::Norm), false) => x.norm(axes),
            (Which::Stat(StatOp::Norm), true) => x.norm_keepdim(axes),
            (Which::Stat(StatOp::LogSumExp), false) => x.log_sum_exp(axes),
            (Which::Stat(StatOp::LogSumExp), true) => x.log_sum_exp_keepdim(axes),
            (Which::Any, false) => x.any(axes),
            (Which::Any, true) => x.any_keepdim(axes),
            (Which::All, false) => x.all(axes),
            (Which::All, true) => x.all_keepdim(axes),
        }
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        match self.which {
            Which::Stat(op) => reference::stat(op, arrays[0], &self.axes, self.keep),
            which => reference::truth(which == Which::All, arrays[0], &self.axes, self.keep),
        }
    }
}

/// Layout, shape class, operand, axes, and whether these are kept.
type Reduction = (Layout, &'static str, Operand, Vec<usize>, bool);

/// The most revealing reductions.
fn few(dtype: DType, contents: Contents) -> Vec<Reduction> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    vec![
        (Layout::Contiguous, "vector", dense(&[4099]), vec![0], false),
        (Layout::Contiguous, "column-kept", dense(&[ROWS, COLS]), vec![0], true),
        (Layout::Contiguous, "short-row", dense(&[701, 5]), vec![1], false),
        (Layout::Transposed, "row", transposed(dtype, ROWS, COLS, contents), vec![1], false),
        (Layout::Permuted, "outer-and-inner", permuted(dtype, contents), vec![0, 3], false),
        (Layout::Empty, "kept-axes", dense(&[0, 5]), vec![1], false),
        (Layout::Empty, "nothing", dense(&[5, 0]), vec![1], false),
    ]
}

/// The other reductions.
fn more(dtype: DType, contents: Contents) -> Vec<Reduction> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    let row = dense(&[COLS]).then(Step::Broadcast(vec![ROWS, COLS]));
    let mut more = vec![
        (Layout::Contiguous, "row", dense(&[ROWS, COLS]), vec![1], false),
        (Layout::Contiguous, "all", dense(&[ROWS, COLS]), vec![0, 1], false),
        (Layout::Contiguous, "middle", dense(&[7, 33, 11]), vec![1], false),
        (Layout::Contiguous, "long-row", dense(&[3, 5003]), vec![1], false),
        (Layout::Contiguous, "long-column", dense(&[5003, 3]), vec![0], false),
        (Layout::Contiguous, "one", dense(&[ROWS, 1]), vec![1], true),
        (Layout::Narrowed, "row", narrowed(dtype, ROWS, COLS, contents), vec![1], false),
        (Layout::Narrowed, "all", narrowed(dtype, ROWS, COLS, contents), vec![0, 1], true),
        (Layout::BroadcastRow, "column", row, vec![0], false),
        (Layout::HighRank, "several", high_rank(dtype, contents), vec![0, 2, 4, 6, 8], false),
        (Layout::HighRank, "all", high_rank(dtype, contents), (0..10).collect(), false),
    ];
    if matches!(dtype, DType::F16 | DType::F32) {
        more.push((Layout::Contiguous, "large-row", dense(&LARGE), vec![1], false));
        more.push((Layout::Contiguous, "large-column", dense(&LARGE), vec![0], false));
    }
    more
}

/// Statistics of floats, with ordinary and special values.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut push = |which, (layout, shape, operand, axes, keep): Reduction| {
        let op = Op::named(Statistic { which, axes, keep });
        cases.push(Case::new(op, vec![operand], layout, shape));
    };
    for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_float()) {
        for op in StatOp::ALL {
            for reduction in few(dtype, Contents::Terms).into_iter().chain(more(dtype, Contents::Terms)) {
                push(Which::Stat(op), reduction);
            }
            let special = |shape: &[usize]| Operand::dense(dtype, shape, Contents::SpecialTerms);
            let mixed = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Mixed);
            for (shape, operand, axes) in [
                ("special-row", special(&[301, COLS]), vec![1]),
                ("special-column", special(&[COLS, 301]), vec![0]),
                // Few elements each, so that many results are finite.
                ("extreme-row", mixed(&[701, 3]), vec![1]),
                ("extreme-column", mixed(&[3, 701]), vec![0]),
            ] {
                push(Which::Stat(op), (Layout::Contiguous, shape, operand, axes, false));
            }
        }
    }
    // One block per row of more than 32 elements.
    let many = Operand::dense(DType::F32, &[BLOCKS, 33], Contents::Terms);
    push(Which::Stat(StatOp::Var), (Layout::Contiguous, "many-blocks", many, vec![1], false));
    for dtype in DType::ALL {
        for which in [Which::Any, Which::All] {
            for reduction in few(dtype, Contents::Below(3)) {
                push(which, reduction);
            }
            let ranked = Operand::dense(dtype, &[ROWS, COLS], Contents::Ranked);
            push(which, (Layout::Contiguous, "row", ranked, vec![1], false));
        }
    }
    cases
}
