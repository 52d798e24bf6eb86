//! Quantized numbers: their values, rows by ids, and products with activations.
//!
//! Bounds of products are wide, because activations are rounded to 8 bits. The cases "whole" have none: their activations
//! are such integers, their scales powers of two, and their sums fit `f32`, so that results are exact.

mod operation;

use operation::{Quantized, Verb, class};
use reference::{DType, QuantFormat};

use super::shapes::BLOCKS;
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::view::Step;

/// The dtypes of activations and of numbers.
const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::BF16];
/// The dtypes of ids.
const IDS: [DType; 4] = [DType::U8, DType::U32, DType::I32, DType::I64];
/// Rows of activations: one, a few, the most that are rounded to 8 bits, and more.
const ROWS: [usize; 4] = [1, 3, 8, 9];

/// All cases of the family but the longest.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (turn, format) in QuantFormat::ALL.into_iter().enumerate() {
        cases.extend(conversions(format, turn));
        cases.extend(products(format, turn));
        cases.extend(experts(format, turn));
    }
    cases.extend(views());
    cases.extend(long_rows());
    cases.extend(many_rows());
    cases
}

/// A block has eight teams, one for each result. Few matrices make many results.
pub(super) fn many_blocks() -> Case {
    let (experts, rows, top) = (3, BLOCKS.div_ceil(64), 2);
    let x = Operand::dense(DType::F16, &[256, 1, 32], Contents::Terms);
    let operands =
        vec![x, ids(&[256, top], experts, DType::U8), blocks(QuantFormat::Q8_0, &[experts, rows], 32)];
    case(Verb::Experts, QuantFormat::Q8_0, operands, Layout::Contiguous, "many-blocks")
}

fn case(
    verb: Verb,
    format: QuantFormat,
    operands: Vec<Operand>,
    layout: Layout,
    shape: &'static str,
) -> Case {
    Case::new(Op::named(Quantized { verb, format }), operands, layout, shape)
}

/// Rows of `width` numbers.
fn rows(format: QuantFormat, outer: &[usize], width: usize, contents: Contents) -> Operand {
    let bytes = width / format.block_size() * format.type_size();
    Operand::dense(DType::U8, &[outer, &[bytes]].concat(), contents)
}

fn blocks(format: QuantFormat, outer: &[usize], width: usize) -> Operand {
    rows(format, outer, width, Contents::Blocks(format))
}

fn whole_blocks(format: QuantFormat, outer: &[usize], width: usize) -> Operand {
    rows(format, outer, width, Contents::WholeBlocks(format))
}

fn ids(shape: &[usize], end: usize, dtype: DType) -> Operand {
    Operand::dense(dtype, shape, Contents::Below(end as u32))
}

/// The numbers in each dtype, and rows by ids.
fn conversions(format: QuantFormat, turn: usize) -> Vec<Case> {
    let width = if format.block_size() == 32 { 96 } else { 512 };
    let name = class(format, 0, false);
    let convert = |to| {
        let operands = vec![blocks(format, &[5], width)];
        case(Verb::Dequantize(to), format, operands, Layout::Contiguous, name)
    };
    let mut cases: Vec<Case> = DTYPES.into_iter().map(convert).collect();
    let operands = vec![blocks(format, &[29], width), ids(&[3, 7], 29, IDS[turn % 4])];
    cases.push(case(Verb::Embedding, format, operands, Layout::Contiguous, name));
    cases
}

/// Products with each number of rows, in each dtype and exactly.
fn products(format: QuantFormat, turn: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for (index, count) in ROWS.into_iter().enumerate() {
        for dtype in DTYPES {
            // 40 pieces of 32: some lanes have two.
            let x = Operand::dense(dtype, &[count, 1280], Contents::Terms);
            let operands = vec![x, blocks(format, &[5], 1280)];
            cases.push(case(Verb::Matmul, format, operands, Layout::Contiguous, class(format, count, false)));
        }
        // Weights of more rows may be rounded to the dtype.
        let dtype = if count == 9 { DType::F32 } else { DTYPES[(turn + index) % 3] };
        let width = whole_width(format);
        let x = Operand::dense(dtype, &[count, width], Contents::Steps);
        let operands = vec![x, whole_blocks(format, &[7], width)];
        let whole = case(Verb::Matmul, format, operands, Layout::Contiguous, class(format, count, true));
        cases.push(whole.exactly());
    }
    cases
}

/// The longest rows for which Σ |w · x| is below 2^24 times the smallest scale, whatever the bytes are: a test computes it.
fn whole_width(format: QuantFormat) -> usize {
    match format {
        QuantFormat::Q6K | QuantFormat::IQ4XS => 512,
        QuantFormat::Q5K => 1024,
        _ => 1280,
    }
}

/// Products with the matrices of experts, in each dtype and exactly.
fn experts(format: QuantFormat, turn: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for (index, dtype) in DTYPES.into_iter().enumerate() {
        // The same activations for all experts of a row, or others for each.
        let each = if (turn + index).is_multiple_of(2) { 1 } else { 3 };
        let x = |contents| Operand::dense(dtype, &[4, each, 256], contents);
        let which = ids(&[4, 3], 3, IDS[(turn + index) % 4]);
        let operands = vec![x(Contents::Terms), which.clone(), blocks(format, &[3, 9], 256)];
        cases.push(case(Verb::Experts, format, operands, Layout::Contiguous, class(format, 0, false)));
        if index == turn % 3 {
            let operands = vec![x(Contents::Steps), which, whole_blocks(format, &[3, 9], 256)];
            let whole = case(Verb::Experts, format, operands, Layout::Contiguous, class(format, 0, true));
            cases.push(whole.exactly());
        }
    }
    cases
}

/// Operands that are views, and those without elements.
fn views() -> Vec<Case> {
    let format = QuantFormat::Q5_1;
    let narrow = |axis, start, len| Step::Narrow { axis, start, len };
    let table = || blocks(format, &[31], 96).then(narrow(0, 1, 29));
    let none = || blocks(format, &[0], 96);
    let convert = Verb::Dequantize(DType::F32);
    let mut cases = vec![
        case(convert, format, vec![table()], Layout::Narrowed, "rows"),
        case(convert, format, vec![none()], Layout::Empty, "no-rows"),
        case(convert, format, vec![blocks(format, &[2, 3], 96)], Layout::Contiguous, "3d"),
    ];
    let turned = |shape: &[usize], end| ids(shape, end, DType::I64).then(Step::Transpose(0, 1));
    let repeated = ids(&[1], 29, DType::I32).then(Step::Broadcast(vec![9]));
    cases.extend([
        case(Verb::Embedding, format, vec![table(), turned(&[9, 7], 29)], Layout::Transposed, "ids"),
        case(Verb::Embedding, format, vec![table(), repeated], Layout::BroadcastScalar, "ids"),
        case(Verb::Embedding, format, vec![table(), ids(&[0, 4], 1, DType::U32)], Layout::Empty, "no-ids"),
    ]);
    for dtype in DTYPES {
        let dense = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Terms);
        let w = || blocks(format, &[31], 256).then(narrow(0, 1, 29));
        // From an odd element on.
        let part = dense(&[6, 265]).then(narrow(0, 1, 5)).then(narrow(1, 3, 256));
        let product = |x, layout, shape| case(Verb::Matmul, format, vec![x, w()], layout, shape);
        cases.extend([
            product(dense(&[256, 5]).then(Step::Transpose(0, 1)), Layout::Transposed, "few"),
            product(dense(&[256, 11]).then(Step::Transpose(0, 1)), Layout::Transposed, "more"),
            product(part, Layout::Narrowed, "both"),
            product(dense(&[256]).then(Step::Broadcast(vec![3, 256])), Layout::BroadcastRow, "rows"),
        ]);
        // Several rows for an expert.
        let many = vec![dense(&[8, 3, 64]), ids(&[8, 3], 2, DType::U32), blocks(format, &[2, 9], 64)];
        cases.push(case(Verb::Experts, format, many, Layout::Contiguous, "many-rows"));
        let x = dense(&[5, 3, 128]).then(narrow(2, 32, 64)).then(narrow(0, 1, 4));
        let views = vec![x, turned(&[3, 4], 3), blocks(format, &[3, 9], 64)];
        cases.push(case(Verb::Experts, format, views, Layout::Narrowed, "all"));
    }
    let dense = |shape: &[usize]| Operand::dense(DType::F32, shape, Contents::Terms);
    let w = || blocks(format, &[29], 96);
    let nobody = || vec![dense(&[0, 1, 96]), ids(&[0, 2], 1, DType::U8), blocks(format, &[3, 9], 96)];
    cases.extend([
        case(Verb::Matmul, format, vec![dense(&[96]), w()], Layout::Contiguous, "vector"),
        case(Verb::Matmul, format, vec![dense(&[2, 3, 96]), w()], Layout::Contiguous, "3d"),
        case(Verb::Matmul, format, vec![dense(&[0, 96]), w()], Layout::Empty, "no-rows"),
        case(Verb::Matmul, format, vec![dense(&[2, 96]), none()], Layout::Empty, "no-columns"),
        case(Verb::Experts, format, nobody(), Layout::Empty, "no-rows"),
    ]);
    cases
}

/// Rows that several teams share, with several turns for each lane, exactly and nearly.
fn long_rows() -> Vec<Case> {
    let (format, width) = (QuantFormat::Q4_0, 12_320);
    let product = |count, x, w, shape| {
        let x = Operand::dense(DType::F32, &[count, width], x);
        case(Verb::Matmul, format, vec![x, w], Layout::Contiguous, shape)
    };
    let near = || blocks(format, &[5], width);
    let whole = || whole_blocks(format, &[5], width);
    vec![
        product(1, Contents::Terms, near(), "long-1"),
        product(3, Contents::Terms, near(), "long-3"),
        product(8, Contents::Terms, near(), "long-8"),
        product(1, Contents::Steps, whole(), "long-1-whole").exactly(),
        product(3, Contents::Steps, whole(), "long-3-whole").exactly(),
        product(8, Contents::Steps, whole(), "long-8-whole").exactly(),
    ]
}

/// Odd numbers of rows of both: activations below and above the 64 up to which matrix units are used.
fn many_rows() -> Vec<Case> {
    let formats = [QuantFormat::Q4_0, QuantFormat::Q6K, QuantFormat::Q8_0, QuantFormat::Q4K];
    let sizes = [(17, 131, "17-rows"), (33, 129, "33-rows"), (65, 31, "65-rows"), (127, 257, "127-rows")];
    let mut cases = Vec::new();
    for ((count, columns, shape), format) in sizes.into_iter().zip(formats) {
        // An odd number of pieces of 32 where blocks allow it.
        let width = if format.block_size() == 32 { 160 } else { 256 };
        for dtype in DTYPES {
            let x = Operand::dense(dtype, &[count, width], Contents::Terms);
            let operands = vec![x, blocks(format, &[columns], width)];
            cases.push(case(Verb::Matmul, format, operands, Layout::Contiguous, shape));
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate;

    #[test]
    fn each_format_has_its_name() {
        for format in QuantFormat::ALL {
            assert_eq!(class(format, 0, false), format.name());
            assert_eq!(class(format, 8, true), format!("{format}-8-whole"));
        }
    }

    /// The sums of the largest numbers that a format can have with scales of a case, in units of the smallest.
    #[test]
    fn sums_of_exact_cases_fit_f32() {
        let exact: Vec<Case> = cases().into_iter().filter(|case| case.exact).collect();
        assert_eq!(exact.len(), 13 * 5 + 3);
        for case in exact {
            let Some(Operand { contents: Contents::WholeBlocks(format), .. }) = case.operands.last() else {
                panic!("{} has other weights", case.id())
            };
            let width = case.operands[0].view().dims.last().copied().unwrap_or_default();
            // 31 numbers up to 3 in each 32, and one of 127.
            let activations = width / 32 * (31 * 3 + 127);
            let bases = match format {
                QuantFormat::Q4_1 | QuantFormat::Q5_1 => 8,
                QuantFormat::Q2K => 15,
                QuantFormat::Q4K | QuantFormat::Q5K => 63,
                _ => 0,
            };
            // Scales of small blocks differ by up to two bits.
            let spread = if format.block_size() == 32 { 4 } else { 1 };
            let most = (format.largest() as usize + bases) * spread * activations;
            assert!(most < 1 << 24, "{}: {most}", case.id());
        }
    }

    #[test]
    fn results_are_finite_and_most_are_no_zeros() {
        for case in cases().iter().filter(|case| case.layout != Layout::Empty) {
            let arrays = evaluate::arrays(case, &case.inputs(7)).expect("inputs fit");
            let outcome =
                evaluate::outcome(case, &arrays.iter().collect::<Vec<_>>()).expect("cases are valid");
            let values: Vec<f64> = outcome.iter().map(|expected| expected.value.hi).collect();
            assert!(values.iter().all(|x| x.is_finite()), "{}", case.id());
            let zeros = values.iter().filter(|x| **x == 0.0).count();
            assert!(zeros * 2 < values.len(), "{}: {zeros} of {}", case.id(), values.len());
        }
    }
}
