//! Joining, splitting, repeating, rolling and padding tensors, and coordinate grids.

use reference::{Array, Border, DType, Error, Outcome, Value};
use serde_json::{Map, json};
use tensor_core::Tensor;

use super::shapes::{COLS, LARGE, ROWS, high_rank, narrowed, permuted, transposed};
use crate::case::{Case, Layout, Op, Operand};
use crate::execute;
use crate::inputs::Contents;
use crate::operation::Operation;
use crate::view::Step;

/// An operation that only moves elements.
#[derive(Debug, Clone)]
enum Rearrange {
    /// All operands concatenated along the axis.
    Cat(usize),
    Stack(usize),
    /// Part `part` of `count` along the axis.
    Chunk {
        count: usize,
        axis: usize,
        part: usize,
    },
    /// Part `part` of `size` elements along the axis.
    Split {
        size: usize,
        axis: usize,
        part: usize,
    },
    Repeat(Vec<usize>),
    Roll {
        shift: i64,
        axis: usize,
    },
    PadWithZeros {
        axis: usize,
        left: usize,
        right: usize,
    },
    PadWithSame {
        axis: usize,
        left: usize,
        right: usize,
    },
    /// Pairs, the last axis first, as in PyTorch.
    Pad(Vec<usize>, Value),
    /// The grid's view of operand `which`.
    Meshgrid {
        xy: bool,
        which: usize,
    },
}

use Rearrange::{Cat, Chunk, Meshgrid, Pad, PadWithSame, PadWithZeros, Repeat, Roll, Split, Stack};

impl Operation for Rearrange {
    fn name(&self) -> &'static str {
        match self {
            Cat(_) => "cat",
            Stack(_) => "stack",
            Chunk { .. } => "chunk",
            Split { .. } => "split",
            Repeat(_) => "repeat",
            Roll { .. } => "roll",
            PadWithZeros { .. } => "pad_with_zeros",
            PadWithSame { .. } => "pad_with_same",
            Pad(..) => "pad",
            Meshgrid { .. } => "meshgrid",
        }
    }

    fn parameters(&self) -> String {
        let named = self.manifest().into_iter();
        named.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
    }

    fn manifest(&self) -> Map<String, serde_json::Value> {
        let value = match self {
            Cat(axis) | Stack(axis) => json!({"axis": axis}),
            Chunk { count, axis, part } => json!({"count": count, "axis": axis, "part": part}),
            Split { size, axis, part } => json!({"size": size, "axis": axis, "part": part}),
            Repeat(repeats) => json!({"repeats": repeats}),
            Roll { shift, axis } => json!({"shift": shift, "axis": axis}),
            PadWithZeros { axis, left, right } | PadWithSame { axis, left, right } => {
                json!({"axis": axis, "left": left, "right": right})
            }
            Pad(padding, value) => json!({"padding": padding, "value": execute::number(*value).to_f64()}),
            Meshgrid { xy, which } => json!({"xy": xy, "which": which}),
        };
        value.as_object().cloned().unwrap_or_default()
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let x = &operands[0];
        let part = |parts: Vec<Tensor>, part: usize| parts[part].clone();
        match self {
            Cat(axis) => Tensor::cat(operands, *axis),
            Stack(axis) => Tensor::stack(operands, *axis),
            Chunk { count, axis, part: number } => x.chunk(*count, *axis).map(|parts| part(parts, *number)),
            Split { size, axis, part: number } => x.split(*size, *axis).map(|parts| part(parts, *number)),
            Repeat(repeats) => x.repeat(repeats.as_slice()),
            Roll { shift, axis } => x.roll(*shift, *axis),
            PadWithZeros { axis, left, right } => x.pad_with_zeros(*axis, *left, *right),
            PadWithSame { axis, left, right } => x.pad_with_same(*axis, *left, *right),
            Pad(padding, value) => x.pad(padding, execute::number(*value)),
            Meshgrid { xy, which } => Tensor::meshgrid(operands, *xy).map(|grids| part(grids, *which)),
        }
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        let x = arrays[0];
        let one_axis = |axis: usize, left, right| {
            let mut sides = vec![(0, 0); x.shape().len()];
            sides[axis] = (left, right);
            sides
        };
        match self {
            Cat(axis) => reference::cat(arrays, *axis),
            Stack(axis) => reference::stack(arrays, *axis),
            Chunk { count, axis, part } => {
                let (length, extra) = (x.shape()[*axis] / count, x.shape()[*axis] % count);
                let start = part * length + extra.min(*part);
                reference::cat(&[&x.narrow(*axis, start, length + usize::from(*part < extra))?], *axis)
            }
            Split { size, axis, part } => {
                let start = part * size;
                reference::cat(&[&x.narrow(*axis, start, (*size).min(x.shape()[*axis] - start))?], *axis)
            }
            Repeat(repeats) => reference::repeat(x, repeats),
            Roll { shift, axis } => reference::roll(x, *shift, *axis),
            PadWithZeros { axis, left, right } => {
                reference::pad(x, &one_axis(*axis, *left, *right), Border::Constant(Value::Int(0)))
            }
            PadWithSame { axis, left, right } => {
                reference::pad(x, &one_axis(*axis, *left, *right), Border::Nearest)
            }
            Pad(padding, value) => {
                let mut sides = vec![(0, 0); x.shape().len()];
                for (i, pair) in padding.chunks(2).enumerate() {
                    sides[x.shape().len() - 1 - i] = (pair[0], pair[1]);
                }
                reference::pad(x, &sides, Border::Constant(*value))
            }
            Meshgrid { xy, which } => {
                let rank = arrays.len();
                let axis_of = |number: usize| if *xy { rank - 1 - number } else { number };
                let mut column = vec![1; rank];
                column[axis_of(*which)] = arrays[*which].len();
                let mut repeats = vec![1; rank];
                for (number, array) in arrays.iter().enumerate().filter(|(number, _)| number != which) {
                    repeats[axis_of(number)] = array.len();
                }
                reference::repeat(&arrays[*which].clone().reshape(&column)?, &repeats)
            }
        }
    }
}

/// Joining several tensors.
pub(super) fn join_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        let x = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Mixed);
        let spread = |shape: &[usize], to: &[usize]| x(shape).then(Step::Broadcast(to.to_vec()));
        let mut push = |op, operands, layout, shape| {
            cases.push(Case::new(Op::named(op), operands, layout, shape));
        };
        let part = || narrowed(dtype, ROWS, COLS, Contents::Mixed);
        let turned = || transposed(dtype, ROWS, COLS, Contents::Mixed);
        push(Cat(0), vec![x(&[ROWS, COLS]), x(&[3, COLS])], Layout::Contiguous, "matrix");
        push(Cat(1), vec![x(&[ROWS, COLS]), x(&[ROWS, 2]), x(&[ROWS, 31])], Layout::Contiguous, "columns");
        push(Cat(1), vec![turned(), part()], Layout::NarrowedTransposed, "columns");
        push(Cat(0), vec![part(), spread(&[COLS], &[5, COLS])], Layout::BroadcastRow, "rows");
        push(Cat(2), vec![permuted(dtype, Contents::Mixed), x(&[11, 5, 2, 7])], Layout::Permuted, "4d");
        push(Cat(4), vec![high_rank(dtype, Contents::Mixed); 2], Layout::HighRank, "10d");
        push(Cat(1), vec![x(&[5, 0]), x(&[5, 3])], Layout::Empty, "matrix");
        push(Stack(1), vec![x(&[ROWS, COLS]), turned(), part()], Layout::Contiguous, "matrix");
        push(Stack(2), vec![x(&[ROWS, COLS]); 2], Layout::Contiguous, "last");
        push(Stack(0), vec![x(&[]), x(&[]), x(&[])], Layout::Contiguous, "scalar");
    }
    for dtype in [DType::F16, DType::F32] {
        let x = || Operand::dense(dtype, &LARGE, Contents::Mixed);
        cases.push(Case::new(Op::named(Cat(1)), vec![x(), x()], Layout::Contiguous, "large"));
    }
    cases
}

/// Splitting, repeating, rolling and padding a tensor.
pub(super) fn move_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        let x = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Mixed);
        let mut push = |op, operand, layout, shape| {
            cases.push(Case::new(Op::named(op), vec![operand], layout, shape));
        };
        let matrix = || x(&[ROWS, COLS]);
        let part = || narrowed(dtype, ROWS, COLS, Contents::Mixed);
        let turned = || transposed(dtype, ROWS, COLS, Contents::Mixed);
        let value = if dtype.is_float() { Value::Float(-2.7) } else { Value::Int(113) };
        push(Chunk { count: 4, axis: 1, part: 1 }, matrix(), Layout::Contiguous, "matrix");
        push(Chunk { count: 4, axis: 0, part: 3 }, turned(), Layout::Transposed, "matrix");
        push(Split { size: 50, axis: 1, part: 2 }, matrix(), Layout::Contiguous, "matrix");
        push(Repeat(vec![2, 3]), matrix(), Layout::Contiguous, "matrix");
        push(Repeat(vec![1, 2, 1, 3]), permuted(dtype, Contents::Mixed), Layout::Permuted, "4d");
        push(Repeat(vec![3, 0]), matrix(), Layout::Empty, "matrix");
        push(Roll { shift: 5, axis: 0 }, matrix(), Layout::Contiguous, "matrix");
        push(Roll { shift: -200, axis: 1 }, part(), Layout::Narrowed, "matrix");
        push(PadWithZeros { axis: 1, left: 2, right: 3 }, matrix(), Layout::Contiguous, "matrix");
        push(PadWithZeros { axis: 0, left: 0, right: 1 }, turned(), Layout::Transposed, "matrix");
        push(PadWithSame { axis: 1, left: 2, right: 3 }, matrix(), Layout::Contiguous, "matrix");
        push(PadWithSame { axis: 0, left: 4, right: 0 }, turned(), Layout::Transposed, "matrix");
        push(Pad(vec![1, 2, 3, 0], value), matrix(), Layout::Contiguous, "matrix");
        push(Pad(vec![1, 0, 0, 0, 2, 2], value), permuted(dtype, Contents::Mixed), Layout::Permuted, "4d");
        push(Pad(vec![1, 2, 0, 3], value), x(&[5, 0]), Layout::Empty, "matrix");
        let high: Vec<usize> = (0..20).map(|i| usize::from(i % 5 == 0)).collect();
        push(Pad(high, value), high_rank(dtype, Contents::Mixed), Layout::HighRank, "10d");
        for (xy, which, shape) in [(false, 0, "first"), (true, 1, "second")] {
            let operands = vec![x(&[31]), x(&[17])];
            cases.push(Case::new(Op::named(Meshgrid { xy, which }), operands, Layout::Contiguous, shape));
        }
    }
    cases
}
