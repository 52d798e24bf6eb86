//! Conversions between dtypes, copies of views, and filled arrays.

use reference::{DType, Value};

use super::shapes::{BLOCKS, COLS, LARGE, ROWS, every, every_pattern, few, narrowed, transposed};
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::view::Step;

/// All hundred pairs of dtypes, with all patterns for the narrow sources.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for from in DType::ALL {
        for to in DType::ALL {
            for (layout, shape, operand) in few(from, Contents::Mixed) {
                cases.push(Case::new(Op::Cast(to), vec![operand], layout, shape));
            }
            if from.bits() <= 16 {
                cases.push(Case::new(
                    Op::Cast(to),
                    vec![every_pattern(from)],
                    Layout::Contiguous,
                    "every-pattern",
                ));
            }
        }
    }
    for (from, to) in [(DType::F32, DType::F16), (DType::BF16, DType::F32), (DType::I64, DType::F32)] {
        let operand = Operand::dense(from, &LARGE, Contents::Mixed);
        cases.push(Case::new(Op::Cast(to), vec![operand], Layout::Contiguous, "large"));
    }
    // A block has 256 threads, each of which writes 16 bytes.
    let many = Operand::dense(DType::I16, &[BLOCKS * 512], Contents::EveryPattern);
    cases.push(Case::new(Op::Cast(DType::I64), vec![many], Layout::Contiguous, "many-blocks"));
    cases
}

/// Contiguous copies of views of every layout.
pub(super) fn copy_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        for (layout, shape, operand) in every(dtype, Contents::Mixed) {
            cases.push(Case::new(Op::Copy, vec![operand], layout, shape));
        }
        let large = transposed(dtype, LARGE[0], LARGE[1], Contents::Mixed);
        cases.push(Case::new(Op::Copy, vec![large], Layout::Transposed, "large"));
        cases.extend(turned_copies(dtype));
    }
    cases
}

/// As many transposed matrices as blocks: each block has one for its tile.
pub(super) fn many_blocks() -> Case {
    let turned =
        Operand::dense(DType::U8, &[BLOCKS, 16, 17], Contents::EveryPattern).then(Step::Transpose(1, 2));
    Case::new(Op::Copy, vec![turned], Layout::Transposed, "many-blocks")
}

/// Matrices transposed in tiles: whole and partial tiles, tiles that end within 16 bytes but not within a word,
/// batches, addresses not aligned to 16 bytes, and dimensions that move across others.
fn turned_copies(dtype: DType) -> Vec<Case> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Mixed);
    let part = |operand: Operand, axis, start, len| operand.then(Step::Narrow { axis, start, len });
    let turned = [
        (Layout::Transposed, "tiles", dense(&[128, 64]).then(Step::Transpose(0, 1))),
        (Layout::Transposed, "words", dense(&[132, 68]).then(Step::Transpose(0, 1))),
        (Layout::Transposed, "odd", dense(&[131, 67]).then(Step::Transpose(0, 1))),
        (Layout::Transposed, "batch", dense(&[3, 33, 131]).then(Step::Transpose(1, 2))),
        (Layout::Transposed, "outer-and-inner", dense(&[33, 3, 65]).then(Step::Transpose(0, 2))),
        (Layout::Permuted, "outer-to-inner", dense(&[64, 4, 32]).then(Step::Permute(vec![1, 2, 0]))),
        (Layout::Permuted, "two-batches", dense(&[2, 40, 3, 48]).then(Step::Permute(vec![2, 3, 0, 1]))),
        (
            Layout::NarrowedTransposed,
            "beside",
            part(part(dense(&[133, 70]), 0, 2, 131), 1, 1, 67).then(Step::Transpose(0, 1)),
        ),
        (Layout::Narrowed, "packs", part(dense(&[37, 160]), 1, 16, 128)),
    ];
    turned.into_iter().map(|(layout, shape, view)| Case::new(Op::Copy, vec![view], layout, shape)).collect()
}

/// Writing views of every layout, with one value or with another view's elements.
pub(super) fn write_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        let contents = Contents::Mixed;
        let value = if dtype.is_float() { Value::Float(-2.7) } else { Value::Int(113) };
        for (layout, shape, operand) in few(dtype, contents) {
            cases.push(Case::new(Op::ConstSet(value), vec![operand], layout, shape));
        }
        let dense = || Operand::dense(dtype, &[ROWS, COLS], contents);
        let turned = || transposed(dtype, ROWS, COLS, contents);
        let part = || narrowed(dtype, ROWS, COLS, contents);
        for (layout, shape, target, source) in [
            (Layout::Contiguous, "matrix", dense(), dense()),
            (Layout::Transposed, "into", turned(), dense()),
            (Layout::Transposed, "from", dense(), turned()),
            (Layout::Narrowed, "into", part(), dense()),
            (Layout::Narrowed, "both", part(), part()),
            (Layout::NarrowedTransposed, "into", part(), turned()),
            (Layout::Transposed, "both", turned(), turned()),
            (
                Layout::Narrowed,
                "into-packs",
                narrowed_to_packs(dtype),
                Operand::dense(dtype, &[ROWS, 64], contents),
            ),
        ] {
            cases.push(Case::new(Op::CopyInto, vec![target, source], layout, shape));
        }
    }
    cases
}

/// Rows of a wider array, aligned to packs.
fn narrowed_to_packs(dtype: DType) -> Operand {
    let wide = Operand::dense(dtype, &[ROWS, 96], Contents::Mixed);
    wide.then(Step::Narrow { axis: 1, start: 16, len: 64 })
}

/// New arrays filled with one value.
pub(super) fn fill_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        let value = if dtype.is_float() { Value::Float(-2.7) } else { Value::Int(113) };
        for (shape_class, shape) in [
            ("scalar", &[][..]),
            ("vector", &[4099]),
            ("matrix", &[37, 129]),
            ("10d", &[2; 10]),
            ("empty", &[3, 0]),
        ] {
            let layout = if shape_class == "empty" { Layout::Empty } else { Layout::Contiguous };
            let operand = Operand::dense(dtype, shape, Contents::Given);
            cases.push(Case::new(Op::Fill(value), vec![operand], layout, shape_class));
        }
        let special = if dtype.is_float() { Value::Float(f64::NAN) } else { Value::Int(-1) };
        let operand = Operand::dense(dtype, &[1031], Contents::Given);
        cases.push(Case::new(Op::Fill(special), vec![operand], Layout::Contiguous, "special-value"));
    }
    cases
}
