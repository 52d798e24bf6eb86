//! Matrix products.

use reference::DType;

use super::shapes::{BLOCKS, narrowed, transposed};
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::view::Step;

const DTYPES: [DType; 4] = [DType::BF16, DType::F16, DType::F32, DType::F64];

/// Every layout that matrix products distinguish.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        let contents = Contents::Terms;
        let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
        let turned = |rows, columns| transposed(dtype, rows, columns, contents);
        let part = |rows, columns| narrowed(dtype, rows, columns, contents);
        let repeated = |shape: &[usize], to: &[usize]| dense(shape).then(Step::Broadcast(to.to_vec()));
        let products = [
            (Layout::Contiguous, "matrix", dense(&[37, 65]), dense(&[65, 33])),
            (Layout::Contiguous, "large", dense(&[129, 257]), dense(&[257, 67])),
            (Layout::Contiguous, "one", dense(&[1, 1]), dense(&[1, 1])),
            (Layout::Contiguous, "dot", dense(&[1, 1031]), dense(&[1031, 1])),
            (Layout::Contiguous, "outer", dense(&[37, 1]), dense(&[1, 41])),
            (Layout::Contiguous, "matrix-vector", dense(&[67, 129]), dense(&[129, 1])),
            (Layout::Contiguous, "vector-matrix", dense(&[1, 129]), dense(&[129, 67])),
            (Layout::Contiguous, "batch", dense(&[5, 17, 19]), dense(&[5, 19, 13])),
            (Layout::Contiguous, "4d", dense(&[2, 3, 17, 19]), dense(&[2, 3, 19, 13])),
            (Layout::Transposed, "first", turned(37, 65), dense(&[65, 33])),
            (Layout::Transposed, "second", dense(&[37, 65]), turned(65, 33)),
            (Layout::Transposed, "both", turned(37, 65), turned(65, 33)),
            (
                Layout::Transposed,
                "batch",
                dense(&[5, 17, 19]),
                dense(&[5, 13, 19]).then(Step::Transpose(1, 2)),
            ),
            (Layout::Narrowed, "matrix", part(37, 65), part(65, 33)),
            (
                Layout::NarrowedTransposed,
                "matrix",
                dense(&[37, 65]),
                part(33, 65).then(Step::Transpose(0, 1)),
            ),
            (
                Layout::Permuted,
                "batch",
                dense(&[17, 5, 19]).then(Step::Permute(vec![1, 0, 2])),
                dense(&[19, 13, 5]).then(Step::Permute(vec![2, 0, 1])),
            ),
            (Layout::BroadcastBatch, "second", dense(&[5, 17, 19]), dense(&[19, 13])),
            (Layout::BroadcastBatch, "first", dense(&[17, 19]), dense(&[5, 19, 13])),
            (Layout::BroadcastBatch, "both", dense(&[3, 1, 7, 11]), dense(&[4, 11, 5])),
            (Layout::BroadcastRow, "view", repeated(&[65], &[37, 65]), dense(&[65, 33])),
            (Layout::BroadcastColumn, "view", dense(&[37, 65]), repeated(&[65, 1], &[65, 33])),
            (Layout::Empty, "no-rows", dense(&[0, 5]), dense(&[5, 7])),
            (Layout::Empty, "no-terms", dense(&[4, 0]), dense(&[0, 7])),
            (Layout::Empty, "no-batches", dense(&[0, 4, 5]), dense(&[0, 5, 7])),
        ];
        for (layout, shape, a, b) in products {
            cases.push(Case::new(Op::Matmul, vec![a, b], layout, shape));
        }
    }
    // One block per product.
    let many = |shape| Operand::dense(DType::F32, shape, Contents::Terms);
    let operands = vec![many(&[BLOCKS, 1, 2]), many(&[BLOCKS, 2, 1])];
    cases.push(Case::new(Op::Matmul, operands, Layout::Contiguous, "many-blocks"));
    cases
}

/// Products of integers that must be exact: their sums fit the accumulator in any order. Entries of 13 bits lose bits
/// in TF32, long sums in 16-bit accumulators.
pub(super) fn exact_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    // Bits of the larger and the smaller factor, and number of terms: 2^(large + small) · terms is at most 2^24, or
    // 65504 for f16's results.
    let sizes = [
        (DType::BF16, 7, 1, 257),
        (DType::F16, 10, 1, 63),
        (DType::F32, 13, 3, 255),
        (DType::F64, 40, 3, 255),
    ];
    for (dtype, large, small, terms) in sizes {
        let whole = |shape: &[usize], bits| Operand::dense(dtype, shape, Contents::Whole(bits));
        let products = [
            (Layout::Contiguous, "whole-first", whole(&[37, terms], large), whole(&[terms, 33], small)),
            (Layout::Contiguous, "whole-second", whole(&[37, terms], small), whole(&[terms, 33], large)),
            (
                Layout::Transposed,
                "whole-first",
                whole(&[terms, 37], large).then(Step::Transpose(0, 1)),
                whole(&[33, terms], small).then(Step::Transpose(0, 1)),
            ),
            (
                Layout::BroadcastBatch,
                "whole-second",
                whole(&[3, 17, terms], small),
                whole(&[terms, 19], large),
            ),
        ];
        for (layout, shape, a, b) in products {
            cases.push(Case::new(Op::Matmul, vec![a, b], layout, shape).exactly());
        }
    }
    cases
}
