//! Operations on two arrays that broadcast: arithmetic and comparisons.

use reference::{BinaryOp, CmpOp, DType};

use super::shapes::{COLS, LARGE, ROWS, high_rank, narrowed, permuted, transposed};
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::view::Step;

type Pair = (Layout, &'static str, [Operand; 2]);

/// Two operands in every relevant combination of layouts, by views and by the operation's broadcasting.
fn pairs(dtype: DType) -> Vec<Pair> {
    let contents = Contents::Mixed;
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    let matrix = || dense(&[ROWS, COLS]);
    let spread = |operand: Operand| operand.then(Step::Broadcast(vec![ROWS, COLS]));
    let mut pairs = few_pairs(dtype);
    pairs.extend([
        (Layout::Contiguous, "scalar", [dense(&[]), dense(&[])]),
        (Layout::Contiguous, "vector", [dense(&[4099]), dense(&[4099])]),
        (Layout::Transposed, "both", {
            [transposed(dtype, ROWS, COLS, contents), transposed(dtype, ROWS, COLS, contents)]
        }),
        (Layout::Permuted, "4d", [permuted(dtype, contents), dense(&[11, 5, 13, 7])]),
        (Layout::BroadcastRow, "first", [dense(&[COLS]), matrix()]),
        (Layout::BroadcastRow, "view", [matrix(), spread(dense(&[1, COLS]))]),
        (Layout::BroadcastColumn, "first", [dense(&[ROWS, 1]), matrix()]),
        (Layout::BroadcastColumn, "view", [spread(dense(&[ROWS, 1])), matrix()]),
        (Layout::BroadcastScalar, "first", [dense(&[]), matrix()]),
        (Layout::BroadcastScalar, "matrix", [matrix(), dense(&[1, 1])]),
        (Layout::BroadcastBatch, "4d", [dense(&[3, 1, 7, 11]), dense(&[5, 1, 11])]),
        (Layout::Empty, "broadcast", [dense(&[0, 5]), dense(&[1, 5])]),
    ]);
    pairs
}

/// The most revealing combinations.
fn few_pairs(dtype: DType) -> Vec<Pair> {
    let contents = Contents::Mixed;
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    let matrix = || dense(&[ROWS, COLS]);
    let mut pairs = vec![
        (Layout::Contiguous, "matrix", [matrix(), matrix()]),
        (Layout::Transposed, "matrix", [matrix(), transposed(dtype, ROWS, COLS, contents)]),
        (Layout::Narrowed, "matrix", [narrowed(dtype, ROWS, COLS, contents), matrix()]),
        (Layout::BroadcastRow, "matrix", [matrix(), dense(&[COLS])]),
        (Layout::BroadcastColumn, "matrix", [matrix(), dense(&[ROWS, 1])]),
        (Layout::BroadcastBoth, "matrix", [dense(&[ROWS, 1]), dense(&[1, COLS])]),
        (Layout::HighRank, "10d", [high_rank(dtype, contents), dense(&[2, 3, 2, 2, 2, 2, 3, 2, 2, 2])]),
        (Layout::Empty, "matrix", [dense(&[0, 5]), dense(&[0, 5])]),
    ];
    if dtype.bits() == 8 {
        let all = |shape: &[usize]| Operand::dense(dtype, shape, Contents::EveryPattern);
        pairs.push((Layout::BroadcastBoth, "every-pair", [all(&[256, 1]), all(&[1, 256])]));
    }
    pairs
}

/// Strided traversals in packs of 16 bytes: rows with and without whole packs, rows that are not aligned to packs,
/// three dimensions, and large transposed operands.
fn packed_pairs(dtype: DType) -> Vec<Pair> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Mixed);
    let beside = || dense(&[65]).then(Step::Narrow { axis: 0, start: 1, len: 64 });
    let turned = |rows, columns| transposed(dtype, rows, columns, Contents::Mixed);
    vec![
        (Layout::BroadcastRow, "packs", [dense(&[31, 64]), dense(&[64])]),
        (Layout::BroadcastRow, "packs-and-more", [dense(&[31, 65]), dense(&[65])]),
        (Layout::BroadcastRow, "less-than-packs", [dense(&[701, 3]), dense(&[3])]),
        (Layout::BroadcastRow, "beside-packs", [dense(&[31, 64]), beside()]),
        (Layout::BroadcastColumn, "packs", [dense(&[31, 64]), dense(&[31, 1])]),
        (Layout::BroadcastBoth, "packs", [dense(&[31, 1]), dense(&[1, 64])]),
        (Layout::BroadcastBatch, "middle", [dense(&[5, 7, 48]), dense(&[5, 1, 48])]),
        (Layout::BroadcastBatch, "outer", [dense(&[5, 7, 37]), dense(&[7, 37])]),
        (Layout::Transposed, "large", [turned(257, 263), dense(&[257, 263])]),
    ]
}

/// Arithmetic on every dtype; pow on floats.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for op in BinaryOp::ALL {
        for dtype in DType::ALL.into_iter().filter(|dtype| op.supports(*dtype)) {
            for (layout, shape, operands) in pairs(dtype) {
                cases.push(Case::new(Op::Binary(op), operands.into(), layout, shape));
            }
        }
    }
    for dtype in DType::ALL {
        for (layout, shape, operands) in packed_pairs(dtype) {
            cases.push(Case::new(Op::Binary(BinaryOp::Add), operands.into(), layout, shape));
        }
    }
    for dtype in [DType::BF16, DType::F16, DType::F32] {
        let operand = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Mixed);
        let add = |second, layout| {
            Case::new(Op::Binary(BinaryOp::Add), vec![operand(&LARGE), second], layout, "large")
        };
        cases.push(add(operand(&LARGE), Layout::Contiguous));
        cases.push(add(operand(&[LARGE[1]]), Layout::BroadcastRow));
        cases.push(add(operand(&[LARGE[0], 1]), Layout::BroadcastColumn));
    }
    cases
}

/// Comparisons on every dtype.
pub(super) fn compare_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for op in CmpOp::ALL {
        for dtype in DType::ALL.into_iter().filter(|dtype| op.supports(*dtype)) {
            for (layout, shape, operands) in few_pairs(dtype) {
                cases.push(Case::new(Op::Compare(op), operands.into(), layout, shape));
            }
        }
    }
    cases
}
