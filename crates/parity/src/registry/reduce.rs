//! Reductions over all kinds of axes.

use reference::{DType, ReduceOp};

use super::shapes::{BLOCKS, COLS, LARGE, ROWS, high_rank, narrowed, permuted, transposed};
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::view::Step;

fn contents(op: ReduceOp) -> Contents {
    match op {
        ReduceOp::Sum | ReduceOp::Mean => Contents::Terms,
        ReduceOp::Prod => Contents::Factors,
        ReduceOp::Min | ReduceOp::Max | ReduceOp::ArgMin | ReduceOp::ArgMax => Contents::Ranked,
    }
}

/// Layout, shape class, operand, axes, and whether these are kept.
type Reduction = (Layout, &'static str, Operand, Vec<usize>, bool);

/// Reductions of one axis, or of a whole matrix.
fn one_axis(dtype: DType, contents: Contents) -> Vec<Reduction> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    let matrix = || dense(&[ROWS, COLS]);
    let flipped = || transposed(dtype, ROWS, COLS, contents);
    let part = || narrowed(dtype, ROWS, COLS, contents);
    let repeated = |shape: &[usize]| dense(shape).then(Step::Broadcast(vec![ROWS, COLS]));
    vec![
        (Layout::Contiguous, "vector", dense(&[4099]), vec![0], false),
        (Layout::Contiguous, "row", matrix(), vec![1], false),
        (Layout::Contiguous, "row-kept", matrix(), vec![1], true),
        (Layout::Contiguous, "column", matrix(), vec![0], false),
        (Layout::Contiguous, "column-kept", matrix(), vec![0], true),
        (Layout::Contiguous, "all", matrix(), vec![0, 1], false),
        (Layout::Contiguous, "middle", dense(&[7, 33, 11]), vec![1], false),
        (Layout::Contiguous, "short-row", dense(&[701, 5]), vec![1], false),
        (Layout::Contiguous, "short-column", dense(&[5, 701]), vec![0], false),
        (Layout::Contiguous, "long-row", dense(&[3, 5003]), vec![1], false),
        (Layout::Contiguous, "one", dense(&[ROWS, 1]), vec![1], false),
        (Layout::Transposed, "row", flipped(), vec![1], false),
        (Layout::Transposed, "column", flipped(), vec![0], false),
        (Layout::Transposed, "all", flipped(), vec![0, 1], false),
        (Layout::Narrowed, "row", part(), vec![1], false),
        (Layout::Narrowed, "column", part(), vec![0], false),
        (Layout::Narrowed, "all", part(), vec![0, 1], false),
        (Layout::Permuted, "middle", permuted(dtype, contents), vec![2], false),
        (Layout::BroadcastRow, "row", repeated(&[COLS]), vec![1], false),
        (Layout::BroadcastRow, "column", repeated(&[COLS]), vec![0], false),
        (Layout::BroadcastColumn, "row", repeated(&[ROWS, 1]), vec![1], false),
        (Layout::HighRank, "10d", high_rank(dtype, contents), vec![3], false),
        (Layout::Empty, "kept-axes", dense(&[0, 5]), vec![1], false),
    ]
}

/// Reductions of several axes, and of all.
fn several_axes(dtype: DType, contents: Contents) -> Vec<Reduction> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    vec![
        (Layout::Contiguous, "all-kept", dense(&[ROWS, COLS]), vec![0, 1], true),
        (Layout::Contiguous, "outer-and-inner", dense(&[7, 33, 11]), vec![0, 2], false),
        (Layout::Contiguous, "last-two", dense(&[7, 33, 11]), vec![1, 2], true),
        (Layout::Contiguous, "first-two", dense(&[7, 33, 11]), vec![0, 1], false),
        (Layout::Permuted, "outer-and-inner", permuted(dtype, contents), vec![0, 3], false),
        (Layout::Permuted, "three", permuted(dtype, contents), vec![0, 1, 3], false),
        (Layout::HighRank, "several", high_rank(dtype, contents), vec![0, 2, 4, 6, 8], false),
        (Layout::HighRank, "all", high_rank(dtype, contents), (0..10).collect(), false),
    ]
}

/// Few outputs with many elements each, which are split into parts, and short rows that share a block.
fn parts(dtype: DType, contents: Contents) -> Vec<Reduction> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    let beside = dense(&[12_300]).then(Step::Narrow { axis: 0, start: 1, len: 12_289 });
    vec![
        (Layout::Contiguous, "parts", dense(&[16_001]), vec![0], false),
        (Layout::Narrowed, "parts", beside, vec![0], false),
        (Layout::Transposed, "parts", transposed(dtype, 127, 129, contents), vec![0, 1], false),
        (Layout::Contiguous, "parts-of-columns", dense(&[1031, 9]), vec![0], false),
        (Layout::Contiguous, "parts-of-many-columns", dense(&[301, 40]), vec![0], false),
        (Layout::Contiguous, "parts-in-batch", dense(&[3, 517, 8]), vec![1], false),
        (Layout::Contiguous, "shared-blocks", dense(&[301, 48]), vec![1], false),
    ]
}

/// Many long rows and columns, in the dtypes common in models.
fn large(dtype: DType, contents: Contents) -> Vec<Reduction> {
    if !matches!(dtype, DType::BF16 | DType::F16 | DType::F32) {
        return Vec::new();
    }
    let dense = || Operand::dense(dtype, &LARGE, contents);
    vec![
        (Layout::Contiguous, "large-row", dense(), vec![1], false),
        (Layout::Contiguous, "large-column", dense(), vec![0], false),
    ]
}

/// Every reduction on every supported dtype.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for op in ReduceOp::ALL {
        for dtype in DType::ALL.into_iter().filter(|dtype| op.supports(*dtype)) {
            let several = several_axes(dtype, contents(op)).into_iter().chain(large(dtype, contents(op)));
            let several = several.chain(parts(dtype, contents(op)));
            for (layout, shape, operand, axes, keep) in
                one_axis(dtype, contents(op)).into_iter().chain(several)
            {
                cases.push(Case::new(Op::Reduce { op, axes, keep }, vec![operand], layout, shape));
            }
        }
    }
    cases
}

/// Sums of no elements, of infinities and NaN, and exact sums that reveal how they are accumulated.
pub(super) fn special_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let reduce = |op, axes: &[usize]| Op::Reduce { op, axes: axes.to_vec(), keep: false };
    for dtype in DType::ALL {
        for op in [ReduceOp::Sum, ReduceOp::Prod] {
            let nothing = Operand::dense(dtype, &[5, 0], Contents::Terms);
            cases.push(Case::new(reduce(op, &[1]), vec![nothing], Layout::Empty, "nothing"));
        }
        if dtype.is_float() {
            let special = |shape: &[usize]| vec![Operand::dense(dtype, shape, Contents::SpecialTerms)];
            let (row, column) = (reduce(ReduceOp::Sum, &[1]), reduce(ReduceOp::Sum, &[0]));
            cases.push(Case::new(row, special(&[301, COLS]), Layout::Contiguous, "special-row"));
            cases.push(Case::new(column, special(&[COLS, 301]), Layout::Contiguous, "special-column"));
        }
    }
    // Integers whose sums are exact in f32 in any order, but not in 16 bits.
    for (dtype, bits, length) in [(DType::F16, 10, 1013), (DType::BF16, 7, 1013), (DType::F32, 13, 2003)] {
        let whole = |shape: &[usize]| vec![Operand::dense(dtype, shape, Contents::Whole(bits))];
        let row =
            Case::new(reduce(ReduceOp::Sum, &[1]), whole(&[5, length]), Layout::Contiguous, "whole-row");
        let column =
            Case::new(reduce(ReduceOp::Sum, &[0]), whole(&[length, 5]), Layout::Contiguous, "whole-column");
        cases.extend([row.exactly(), column.exactly()]);
    }
    for dtype in [DType::BF16, DType::F16, DType::F32, DType::F64, DType::I64] {
        let long = Operand::dense(dtype, &[(1 << 20) + 13], Contents::Ones);
        cases.push(Case::new(reduce(ReduceOp::Max, &[0]), vec![long.clone()], Layout::Contiguous, "long"));
        cases.push(Case::new(reduce(ReduceOp::ArgMax, &[0]), vec![long], Layout::Contiguous, "long"));
    }
    // A block sums 256 short rows, or 64 columns with one thread each.
    let rows = Operand::dense(DType::I16, &[BLOCKS * 256, 2], Contents::EveryPattern);
    cases.push(Case::new(reduce(ReduceOp::Sum, &[1]), vec![rows], Layout::Contiguous, "many-blocks"));
    let columns = Operand::dense(DType::I16, &[BLOCKS * 64, 2, 2], Contents::EveryPattern);
    let columns = columns.then(Step::Narrow { axis: 2, start: 1, len: 1 });
    cases.push(Case::new(reduce(ReduceOp::Max, &[1]), vec![columns], Layout::Narrowed, "many-blocks"));
    let long = Operand::dense(DType::F32, &[(1 << 20) + 13], Contents::Terms);
    cases.push(Case::new(reduce(ReduceOp::Sum, &[0]), vec![long], Layout::Contiguous, "long"));
    // A sequential sum stops at 2^24.
    let ones = Operand::dense(DType::F32, &[1 << 25], Contents::Ones);
    cases.push(Case::new(reduce(ReduceOp::Sum, &[0]), vec![ones], Layout::Contiguous, "2^25-ones").exactly());
    cases
}
