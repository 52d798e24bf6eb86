//! Selecting by masks and by position, and tensors made from a size only.

use reference::{Array, DType, Error, Outcome, Value};
use serde_json::{Map, json};
use tensor_core::{Element, F8E4M3, Tensor, bf16, f16};

use super::shapes::{BLOCKS, COLS, LARGE, ROWS, every, few, high_rank, narrowed, permuted, transposed};
use crate::case::{Case, Layout, Op, Operand};
use crate::execute;
use crate::inputs::Contents;
use crate::operation::Operation;
use crate::view::Step;

/// `mask.where_cond(on_true, on_false)`; the operands are on_true, mask, on_false.
#[derive(Debug)]
struct Where {
    mask: DType,
}

impl Operation for Where {
    fn name(&self) -> &'static str {
        "where_cond"
    }

    fn parameters(&self) -> String {
        format!("mask={}", self.mask)
    }

    fn manifest(&self) -> Map<String, serde_json::Value> {
        Map::from_iter([("mask".into(), json!(self.mask.name()))])
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        operands[1].where_cond(&operands[0], &operands[2])
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        reference::where_cond(arrays[1], arrays[0], arrays[2])
    }
}

/// `x.masked_fill(mask, value)`.
#[derive(Debug)]
struct MaskedFill {
    mask: DType,
    value: Value,
}

impl Operation for MaskedFill {
    fn name(&self) -> &'static str {
        "masked_fill"
    }

    fn parameters(&self) -> String {
        format!("mask={},{:?}", self.mask, execute::number(self.value))
    }

    fn manifest(&self) -> Map<String, serde_json::Value> {
        let value = execute::number(self.value).to_f64();
        Map::from_iter([("mask".into(), json!(self.mask.name())), ("value".into(), json!(value))])
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        operands[0].masked_fill(&operands[1], execute::number(self.value))
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        reference::masked_fill(arrays[0], arrays[1], self.value)
    }
}

/// `x.tril(diagonal)` or `x.triu(diagonal)`.
#[derive(Debug)]
struct Triangle {
    diagonal: i64,
    upper: bool,
}

impl Operation for Triangle {
    fn name(&self) -> &'static str {
        if self.upper { "triu" } else { "tril" }
    }

    fn parameters(&self) -> String {
        format!("diagonal={}", self.diagonal)
    }

    fn manifest(&self) -> Map<String, serde_json::Value> {
        Map::from_iter([("diagonal".into(), json!(self.diagonal))])
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        if self.upper { operands[0].triu(self.diagonal) } else { operands[0].tril(self.diagonal) }
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        reference::triangle(arrays[0], self.diagonal, self.upper)
    }
}

/// A tensor with the dtype and length of the operand, whose contents are not used.
#[derive(Debug, Clone, Copy)]
enum Made {
    Eye,
    Tril2,
    Triu2,
    /// From 3 by −0.5 or, for integers, 2, with an end that gives the operand's length.
    Arange,
    /// From 2 to 47.
    Linspace,
}

impl Made {
    fn step(dtype: DType) -> f64 {
        if dtype.is_float() { -0.5 } else { 2.0 }
    }

    fn of<T: Element>(self, operand: &Tensor) -> tensor_core::Result<Tensor> {
        let number = |x: f64| T::from_scalar(x.into());
        let (length, device) = (operand.elements(), operand.device());
        let step = Made::step(execute::known(T::DTYPE));
        match self {
            Made::Arange => {
                Tensor::arange_step(number(3.0), number(3.0 + step * length as f64), number(step), &device)
            }
            _ => Tensor::linspace(number(2.0), number(47.0), length, &device),
        }
    }
}

impl Operation for Made {
    fn name(&self) -> &'static str {
        match self {
            Made::Eye => "eye",
            Made::Tril2 => "tril2",
            Made::Triu2 => "triu2",
            Made::Arange => "arange",
            Made::Linspace => "linspace",
        }
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        use tensor_core::DType::{BF16, F8E4M3 as F8, F16, F32, F64, I16, I32, I64, U8, U32};
        let x = &operands[0];
        let (length, dtype, device) = (x.elements(), x.dtype(), x.device());
        match (self, dtype) {
            (Made::Eye, _) => Tensor::eye(length, dtype, &device),
            (Made::Tril2, _) => Tensor::tril2(length, dtype, &device),
            (Made::Triu2, _) => Tensor::triu2(length, dtype, &device),
            (_, U8) => self.of::<u8>(x),
            (_, U32) => self.of::<u32>(x),
            (_, I16) => self.of::<i16>(x),
            (_, I32) => self.of::<i32>(x),
            (_, I64) => self.of::<i64>(x),
            (_, F8) => self.of::<F8E4M3>(x),
            (_, BF16) => self.of::<bf16>(x),
            (_, F16) => self.of::<f16>(x),
            (_, F32) => self.of::<f32>(x),
            (_, F64) => self.of::<f64>(x),
        }
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        let (dtype, length) = (arrays[0].dtype(), arrays[0].len());
        // Arguments are rounded to the dtype first.
        let number = |x: f64| match Value::Float(x).round_to(dtype) {
            Value::Float(x) => x,
            Value::Int(i) => i as f64,
        };
        let ones = || Array::from_i64(dtype, &[], &[1])?.broadcast_to(&[length, length]);
        match self {
            Made::Eye => reference::eye(dtype, length),
            Made::Tril2 => reference::triangle(&ones()?, 0, false),
            Made::Triu2 => reference::triangle(&ones()?, 0, true),
            Made::Arange => {
                let step = Made::step(dtype);
                reference::arange(dtype, 3.0, number(3.0 + step * length as f64), step)
            }
            Made::Linspace => reference::linspace(dtype, 2.0, number(47.0), length),
        }
    }
}

const MASKS: [DType; 3] = [DType::U8, DType::U32, DType::I64];

/// on_true, mask, on_false in all relevant layouts; fewer for the wider masks.
fn triples(dtype: DType, mask: DType) -> Vec<(Layout, &'static str, [Operand; 3])> {
    let x = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Mixed);
    let masks = |shape: &[usize]| Operand::dense(mask, shape, Contents::Below(2));
    let all = || x(&[ROWS, COLS]);
    let mut triples = vec![
        (Layout::Contiguous, "matrix", [all(), masks(&[ROWS, COLS]), all()]),
        (Layout::BroadcastScalar, "first", [x(&[]), masks(&[ROWS, COLS]), all()]),
        (Layout::Narrowed, "all", {
            let part = |dtype, contents| narrowed(dtype, ROWS, COLS, contents);
            [part(dtype, Contents::Mixed), part(mask, Contents::Below(2)), part(dtype, Contents::Mixed)]
        }),
    ];
    if mask == DType::U8 {
        let turned = transposed(mask, ROWS, COLS, Contents::Below(2));
        let bits = Operand::dense(mask, &[ROWS, COLS], Contents::EveryPattern);
        triples.extend([
            (Layout::Contiguous, "scalar", [x(&[]), masks(&[]), x(&[])]),
            (Layout::Contiguous, "every-mask", [all(), bits, all()]),
            (Layout::Transposed, "mask", [all(), turned, all()]),
            (Layout::BroadcastRow, "mask", [all(), masks(&[COLS]), all()]),
            (Layout::BroadcastColumn, "mask", [all(), masks(&[ROWS, 1]), x(&[])]),
            (Layout::BroadcastBoth, "values", [x(&[ROWS, 1]), masks(&[ROWS, COLS]), x(&[1, COLS])]),
            (Layout::BroadcastBatch, "4d", [x(&[3, 1, 7, 11]), masks(&[5, 1, 11]), x(&[7, 1])]),
            (Layout::Permuted, "4d", {
                [permuted(dtype, Contents::Mixed), masks(&[11, 5, 13, 7]), x(&[13, 1])]
            }),
            (Layout::HighRank, "10d", {
                let mask = high_rank(mask, Contents::Below(2));
                [high_rank(dtype, Contents::Mixed), mask, x(&[2, 3, 2, 2, 2, 2, 3, 2, 2, 2])]
            }),
            (Layout::Empty, "matrix", [x(&[0, 5]), masks(&[0, 5]), x(&[5])]),
        ]);
    }
    triples
}

/// where_cond and masked_fill for every mask and dtype.
pub(super) fn mask_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        for mask in MASKS {
            for (layout, shape, operands) in triples(dtype, mask) {
                cases.push(Case::new(Op::named(Where { mask }), operands.into(), layout, shape));
            }
            let value = if dtype.is_float() { Value::Float(-2.7) } else { Value::Int(113) };
            let x = || Operand::dense(dtype, &[ROWS, COLS], Contents::Mixed);
            let masks = |shape: &[usize]| Operand::dense(mask, shape, Contents::Below(2));
            let mut push = |operands: [Operand; 2], layout, shape| {
                cases.push(Case::new(Op::named(MaskedFill { mask, value }), operands.into(), layout, shape));
            };
            push([x(), masks(&[ROWS, COLS])], Layout::Contiguous, "matrix");
            push([x(), masks(&[ROWS, 1])], Layout::BroadcastColumn, "mask");
        }
    }
    for dtype in [DType::BF16, DType::F16, DType::F32] {
        let x = || Operand::dense(dtype, &LARGE, Contents::Mixed);
        let mask = Operand::dense(DType::U8, &LARGE, Contents::Below(2));
        let op = Op::named(Where { mask: DType::U8 });
        cases.push(Case::new(op, vec![x(), mask, x()], Layout::Contiguous, "large"));
    }
    cases
}

/// tril and triu of every dtype.
pub(super) fn triangle_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        for upper in [false, true] {
            let triangle = |diagonal| Op::named(Triangle { diagonal, upper });
            for (layout, shape, operand) in few(dtype, Contents::Mixed) {
                cases.push(Case::new(triangle(0), vec![operand], layout, shape));
            }
            let batch = Operand::dense(dtype, &[3, 19, 17], Contents::Mixed);
            cases.push(Case::new(triangle(2), vec![batch.clone()], Layout::Contiguous, "3d"));
            let turned = batch.then(Step::Transpose(1, 2));
            cases.push(Case::new(triangle(-3), vec![turned], Layout::Transposed, "3d"));
        }
    }
    cases
}

/// Tensors made from a size, in every dtype.
pub(super) fn made_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        for made in [Made::Eye, Made::Tril2, Made::Triu2, Made::Arange, Made::Linspace] {
            for (length, layout, shape) in [
                (0, Layout::Empty, "vector"),
                (1, Layout::Contiguous, "one"),
                (67, Layout::Contiguous, "vector"),
            ] {
                let operand = Operand::dense(dtype, &[length], Contents::Ones);
                cases.push(Case::new(Op::named(made), vec![operand], layout, shape));
            }
        }
    }
    cases
}

/// `x.flip(axes)`.
#[derive(Debug)]
struct Flip(Vec<usize>);

impl Operation for Flip {
    fn name(&self) -> &'static str {
        "flip"
    }

    fn parameters(&self) -> String {
        format!("axes={:?}", self.0)
    }

    fn manifest(&self) -> Map<String, serde_json::Value> {
        Map::from_iter([("axes".into(), json!(self.0))])
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        operands[0].flip(&self.0)
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        reference::flip(arrays[0], &self.0)
    }
}

/// A block has 256 threads, each of which writes 16 bytes.
pub(super) fn many_blocks() -> Case {
    let operand = Operand::dense(DType::F64, &[BLOCKS * 512], Contents::Mixed);
    Case::new(Op::named(Flip(vec![0])), vec![operand], Layout::Contiguous, "many-blocks")
}

/// Flips of every second axis of every layout, and of others.
pub(super) fn flip_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        for (layout, shape, operand) in every(dtype, Contents::Mixed) {
            let rank = operand.view().dims.len();
            // Every second axis, from the last one.
            let axes = (0..rank).filter(|axis| (rank - axis) % 2 == 1).collect();
            cases.push(Case::new(Op::named(Flip(axes)), vec![operand], layout, shape));
        }
        let more = |shape: &'static str, axes: &[usize]| {
            let operand = Operand::dense(dtype, &[7, 33, 11], Contents::Mixed);
            Case::new(Op::named(Flip(axes.to_vec())), vec![operand], Layout::Contiguous, shape)
        };
        cases.extend([more("first", &[0]), more("all", &[0, 1, 2])]);
    }
    cases
}
