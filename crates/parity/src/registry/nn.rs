//! Softmax and normalisation.

use reference::{Array, BinaryOp, DType, Error, Outcome};
use serde_json::{Map, Value};
use tensor_core::Tensor;

use super::shapes::{BLOCKS, COLS, ROWS, high_rank, narrowed, permuted, transposed};
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::operation::Operation;
use crate::view::Step;

/// Softmax along an axis, or its logarithm.
#[derive(Debug)]
struct Softmax {
    axis: usize,
    log: bool,
}

impl Operation for Softmax {
    fn name(&self) -> &'static str {
        if self.log { "log_softmax" } else { "softmax" }
    }

    fn parameters(&self) -> String {
        format!("axis={}", self.axis)
    }

    fn manifest(&self) -> Map<String, Value> {
        Map::from_iter([("axis".to_owned(), self.axis.into())])
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let x = &operands[0];
        if self.log { x.log_softmax(self.axis) } else { x.softmax(self.axis) }
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        reference::softmax(arrays[0], self.axis, self.log)
    }
}

/// The kind of normalisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Layer,
    Rms,
    Group(usize),
    Batch,
}

/// A normalisation. Its operands are the tensor, mean and variance for batch_norm, and the optional weight and bias.
#[derive(Debug, Clone, Copy)]
struct Norm {
    kind: Kind,
    weight: bool,
    bias: bool,
    eps: f64,
}

impl Norm {
    /// Weight and bias, if they are among the operands.
    fn affine<'o, T>(&self, operands: &'o [T]) -> [Option<&'o T>; 2] {
        let mut rest = operands[if self.kind == Kind::Batch { 3 } else { 1 }..].iter();
        let weight = if self.weight { rest.next() } else { None };
        [weight, if self.bias { rest.next() } else { None }]
    }
}

impl Operation for Norm {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Layer => "layer_norm",
            Kind::Rms => "rms_norm",
            Kind::Group(_) => "group_norm",
            Kind::Batch => "batch_norm",
        }
    }

    fn parameters(&self) -> String {
        let groups =
            if let Kind::Group(groups) = self.kind { format!("groups={groups},") } else { String::new() };
        let (weight, bias) = (if self.weight { ",weight" } else { "" }, if self.bias { ",bias" } else { "" });
        format!("{groups}eps={:?}{weight}{bias}", self.eps)
    }

    fn manifest(&self) -> Map<String, Value> {
        let mut map = Map::from_iter([
            ("eps".to_owned(), self.eps.into()),
            ("weight".to_owned(), self.weight.into()),
            ("bias".to_owned(), self.bias.into()),
        ]);
        if let Kind::Group(groups) = self.kind {
            map.insert("groups".to_owned(), groups.into());
        }
        map
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let (x, [weight, bias]) = (&operands[0], self.affine(operands));
        match self.kind {
            Kind::Layer => x.layer_norm(weight, bias, self.eps),
            Kind::Rms => x.rms_norm(weight, self.eps),
            Kind::Group(groups) => x.group_norm(groups, weight, bias, self.eps),
            Kind::Batch => x.batch_norm(&operands[1], &operands[2], weight, bias, self.eps),
        }
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        let (x, [weight, bias]) = (arrays[0], self.affine(arrays).map(Option::<&&Array>::copied));
        match self.kind {
            Kind::Layer => reference::layer_norm(x, weight, bias, self.eps),
            Kind::Rms => reference::rms_norm(x, weight, self.eps),
            Kind::Group(groups) => reference::group_norm(x, groups, weight, bias, self.eps),
            Kind::Batch => reference::batch_norm(x, arrays[1], arrays[2], weight, bias, self.eps),
        }
    }
}

/// An addition in place, and the norm of the sum. Its operands are the two summands and the optional weight.
#[derive(Debug, Clone, Copy)]
struct AddRmsNorm {
    weight: bool,
    eps: f64,
    /// Which of both results: the norm, or else the sum.
    normed: bool,
}

impl Operation for AddRmsNorm {
    fn name(&self) -> &'static str {
        "add_rms_norm"
    }

    fn parameters(&self) -> String {
        let weight = if self.weight { ",weight" } else { "" };
        let result = if self.normed { "norm" } else { "sum" };
        format!("eps={:?}{weight},{result}", self.eps)
    }

    fn manifest(&self) -> Map<String, Value> {
        Map::from_iter([
            ("eps".to_owned(), self.eps.into()),
            ("weight".to_owned(), self.weight.into()),
            ("normed".to_owned(), self.normed.into()),
        ])
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let mut x = operands[0].clone();
        let normed = x.add_rms_norm_(&operands[1], operands.get(2), self.eps)?;
        Ok(if self.normed { normed } else { x })
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        let (x, y) = (arrays[0], arrays[1]);
        if self.normed {
            return reference::add_rms_norm(x, y, arrays.get(2).copied(), self.eps);
        }
        reference::binary(BinaryOp::Add, x, y)
    }
}

fn floats() -> impl Iterator<Item = DType> {
    DType::ALL.into_iter().filter(|dtype| dtype.is_float())
}

/// Layout, shape class and operand.
type Viewed = (Layout, &'static str, Operand);

/// Tensors with rows along the last axis in every layout: of lengths around the sizes of lanes, waves and blocks,
/// contiguous and not.
fn rows(dtype: DType, contents: Contents) -> Vec<Viewed> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    let repeated = |shape: &[usize]| dense(shape).then(Step::Broadcast(vec![ROWS, COLS]));
    vec![
        (Layout::Contiguous, "vector", dense(&[4099])),
        (Layout::Contiguous, "row", dense(&[ROWS, COLS])),
        (Layout::Contiguous, "row-of-one", dense(&[ROWS, 1])),
        (Layout::Contiguous, "short-row", dense(&[701, 5])),
        (Layout::Contiguous, "row-31", dense(&[9, 31])),
        (Layout::Contiguous, "row-32", dense(&[9, 32])),
        (Layout::Contiguous, "row-33", dense(&[9, 33])),
        (Layout::Contiguous, "packed-row", dense(&[3, 5, 128])),
        (Layout::Contiguous, "block-row", dense(&[5, 1031])),
        (Layout::Contiguous, "packed-block-row", dense(&[3, 2048])),
        // Some lanes have one pack less than others, for every dtype.
        (Layout::Contiguous, "packed-part-row", dense(&[3, 48])),
        (Layout::Contiguous, "packed-block-part-row", dense(&[2, 1296])),
        (Layout::Contiguous, "packed-block-part-row", dense(&[2, 6160])),
        (Layout::Contiguous, "long-row", dense(&[3, 5003])),
        (Layout::Contiguous, "longest-row", dense(&[1, 9001])),
        (Layout::Contiguous, "packed-longest-row", dense(&[1, 12_288])),
        (Layout::Transposed, "row", transposed(dtype, ROWS, COLS, contents)),
        (Layout::Narrowed, "row", narrowed(dtype, ROWS, COLS, contents)),
        (
            Layout::NarrowedTransposed,
            "row",
            narrowed(dtype, COLS, ROWS, contents).then(Step::Transpose(0, 1)),
        ),
        (Layout::Permuted, "outer-row", dense(&[5, 7, 3, 16]).then(Step::Permute(vec![2, 0, 1, 3]))),
        (Layout::Permuted, "row", permuted(dtype, contents)),
        (Layout::BroadcastRow, "row", repeated(&[COLS])),
        (Layout::BroadcastColumn, "row", repeated(&[ROWS, 1])),
        (Layout::HighRank, "row", high_rank(dtype, contents)),
        (Layout::Empty, "no-rows", dense(&[0, 5])),
        (Layout::Empty, "empty-rows", dense(&[5, 0])),
    ]
}

/// Tensors with an axis other than the last.
fn columns(dtype: DType, contents: Contents) -> Vec<(Layout, &'static str, Operand, usize)> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    let repeated = |shape: &[usize]| dense(shape).then(Step::Broadcast(vec![ROWS, COLS]));
    vec![
        (Layout::Contiguous, "column", dense(&[ROWS, COLS]), 0),
        (Layout::Contiguous, "middle", dense(&[7, 33, 11]), 1),
        (Layout::Contiguous, "column-of-one", dense(&[1, 67]), 0),
        (Layout::Contiguous, "long-column", dense(&[2053, 7]), 0),
        (Layout::Contiguous, "column-then-one", dense(&[5, 67, 1]), 1),
        (Layout::Transposed, "column", transposed(dtype, ROWS, COLS, contents), 0),
        (Layout::Narrowed, "column", narrowed(dtype, ROWS, COLS, contents), 0),
        (Layout::Permuted, "middle", permuted(dtype, contents), 1),
        (Layout::BroadcastRow, "column", repeated(&[COLS]), 0),
        (Layout::BroadcastColumn, "column", repeated(&[ROWS, 1]), 0),
        (Layout::HighRank, "column", high_rank(dtype, contents), 3),
        (Layout::Empty, "no-columns", dense(&[5, 0]), 0),
    ]
}

/// Softmax and its logarithm along every kind of axis.
pub(super) fn softmax_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for log in [false, true] {
        let op = |axis| Op::named(Softmax { axis, log });
        for dtype in floats() {
            for (layout, shape, operand) in rows(dtype, Contents::Terms) {
                let axis = operand.view().dims.len() - 1;
                cases.push(Case::new(op(axis), vec![operand], layout, shape));
            }
            for (layout, shape, operand, axis) in columns(dtype, Contents::Terms) {
                cases.push(Case::new(op(axis), vec![operand], layout, shape));
            }
            let special = |shape: &[usize], contents| vec![Operand::dense(dtype, shape, contents)];
            for (shape, dims, axis) in [
                ("special-row", [301, 67], 1),
                ("special-column", [67, 301], 0),
                ("special-long-row", [2, 9001], 1),
            ] {
                cases.push(Case::new(
                    op(axis),
                    special(&dims, Contents::SpecialTerms),
                    Layout::Contiguous,
                    shape,
                ));
            }
            let ranked = special(&[ROWS, COLS], Contents::Ranked);
            cases.push(Case::new(op(1), ranked, Layout::Contiguous, "ranked-row"));
        }
        // More rows and columns than one round of a launch's blocks processes.
        for (shape, dims, axis) in [("many-rows", [66_001, 3], 1), ("many-columns", [3, 66_001], 0)] {
            let operand = Operand::dense(DType::F32, &dims, Contents::Terms);
            cases.push(Case::new(op(axis), vec![operand], Layout::Contiguous, shape));
        }
    }
    // One block per 32 columns.
    let many = Operand::dense(DType::F16, &[2, BLOCKS * 32], Contents::Terms);
    let op = Op::named(Softmax { axis: 0, log: false });
    cases.push(Case::new(op, vec![many], Layout::Contiguous, "many-blocks"));
    cases
}

/// The operands of a normalisation of `x` with this many channels.
fn with_parameters(x: Operand, norm: Norm, channels: usize) -> Vec<Operand> {
    let numbers = |contents| Operand::dense(x.dtype, &[channels], contents);
    let mut operands = vec![x.clone()];
    if norm.kind == Kind::Batch {
        operands.extend([numbers(Contents::Terms), numbers(Contents::Below(5))]);
    }
    for _ in 0..usize::from(norm.weight) + usize::from(norm.bias) {
        operands.push(numbers(Contents::Terms));
    }
    operands
}

/// layer_norm and rms_norm of rows in every layout, with and without weight and bias.
pub(super) fn row_norm_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in floats() {
        for kind in [Kind::Layer, Kind::Rms] {
            let centred = kind == Kind::Layer;
            let whole = Norm { kind, weight: true, bias: centred, eps: 1e-5 };
            let case = |norm: Norm, layout, shape, x: Operand| {
                let length = x.view().dims.last().copied().expect("an axis");
                Case::new(Op::named(norm), with_parameters(x, norm, length), layout, shape)
            };
            for (layout, shape, x) in rows(dtype, Contents::Terms) {
                cases.push(case(whole, layout, shape, x));
            }
            let dense = |contents| Operand::dense(dtype, &[ROWS, 64], contents);
            let plain = Norm { weight: false, bias: false, eps: 0.25, ..whole };
            cases.push(case(plain, Layout::Contiguous, "plain-row", dense(Contents::Terms)));
            let long = Operand::dense(dtype, &[2, 5003], Contents::Terms);
            cases.push(case(plain, Layout::Contiguous, "plain-long-row", long));
            if centred {
                let biased = Norm { bias: true, ..plain };
                cases.push(case(biased, Layout::Contiguous, "biased-row", dense(Contents::Terms)));
            }
            let special = Operand::dense(dtype, &[301, 67], Contents::SpecialTerms);
            cases.push(case(plain, Layout::Contiguous, "special-row", special));
            // Ones have variance 0.
            cases.push(case(whole, Layout::Contiguous, "equal-row", dense(Contents::Ones)));
            // A part of a larger tensor, and a single repeated number.
            let mut strided = case(whole, Layout::Contiguous, "strided-parameters", dense(Contents::Terms));
            strided.operands[1] = Operand::dense(dtype, &[70], Contents::Terms).then(Step::Narrow {
                axis: 0,
                start: 3,
                len: 64,
            });
            if centred {
                strided.operands[2] =
                    Operand::dense(dtype, &[1], Contents::Terms).then(Step::Broadcast(vec![64]));
            }
            cases.push(strided);
        }
    }
    let many = Norm { kind: Kind::Layer, weight: true, bias: true, eps: 1e-5 };
    let x = Operand::dense(DType::F32, &[66_001, 3], Contents::Terms);
    cases.push(Case::new(Op::named(many), with_parameters(x, many, 3), Layout::Contiguous, "many-rows"));
    // A block has 256 threads, one per row.
    let plain = Norm { kind: Kind::Rms, weight: false, bias: false, eps: 0.25 };
    let x = Operand::dense(DType::F8E4M3, &[BLOCKS * 256, 1], Contents::EveryPattern);
    cases.push(Case::new(Op::named(plain), vec![x], Layout::Contiguous, "many-blocks"));
    cases
}

/// add_rms_norm in every layout, with both of its results.
pub(super) fn add_rms_norm_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in floats() {
        let mut push = |layout, shape, [x, y]: [Operand; 2], (weight, eps): (bool, f64)| {
            let length = x.view().dims.last().copied().expect("an axis");
            for normed in [true, false] {
                let mut operands = vec![x.clone(), y.clone()];
                operands.extend(weight.then(|| Operand::dense(dtype, &[length], Contents::Terms)));
                let op = Op::named(AddRmsNorm { weight, eps, normed });
                cases.push(Case::new(op, operands, layout, shape));
            }
        };
        for (layout, shape, x) in rows(dtype, Contents::Terms) {
            let y = Operand::dense(dtype, &x.view().dims, Contents::Terms);
            push(layout, shape, [x, y], (true, 1e-5));
        }
        let dense = |shape: &[usize], contents| Operand::dense(dtype, shape, contents);
        let terms = |shape: &[usize]| dense(shape, Contents::Terms);
        let turned = transposed(dtype, ROWS, 64, Contents::Terms);
        push(Layout::Contiguous, "plain-row", [terms(&[ROWS, 64]), terms(&[ROWS, 64])], (false, 0.25));
        push(Layout::Contiguous, "plain-long-row", [terms(&[2, 5003]), terms(&[2, 5003])], (false, 0.25));
        push(Layout::Transposed, "second", [terms(&[ROWS, 64]), turned], (true, 1e-5));
        push(Layout::BroadcastRow, "second", [terms(&[ROWS, 64]), terms(&[64])], (true, 1e-5));
        // Only one of both begins at a multiple of 16 bytes.
        let beside = terms(&[ROWS * 64 + 1]).then(Step::Narrow { axis: 0, start: 1, len: ROWS * 64 });
        push(Layout::Narrowed, "beside-packs", [terms(&[ROWS * 64]), beside], (true, 1e-5));
        let special = dense(&[301, 67], Contents::SpecialTerms);
        push(Layout::Contiguous, "special-row", [special.clone(), special], (false, 0.25));
    }
    cases
}

/// group_norm and batch_norm over channels of every size.
pub(super) fn channel_norm_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in floats() {
        let dense = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Terms);
        let turned = || dense(&[2, 7, 6, 5]).then(Step::Permute(vec![0, 2, 3, 1]));
        let part = || dense(&[3, 8, 9]).then(Step::Narrow { axis: 1, start: 1, len: 6 });
        let views = [
            (Layout::Contiguous, "4d", dense(&[3, 6, 5, 7]), 3),
            (Layout::Contiguous, "packed", dense(&[2, 6, 16, 16]), 2),
            (Layout::Contiguous, "large-groups", dense(&[2, 6, 23, 31]), 2),
            (Layout::Contiguous, "packed-large-groups", dense(&[2, 4, 32, 32]), 1),
            (Layout::Contiguous, "long-groups", dense(&[1, 2, 93, 97]), 2),
            (Layout::Contiguous, "packed-matrix", dense(&[37, 64]), 4),
            (Layout::Contiguous, "packed-odd-channels", dense(&[2, 32, 37]), 1),
            (Layout::Contiguous, "matrix", dense(&[37, 12]), 4),
            (Layout::Contiguous, "one-a-group", dense(&[5, 4, 33]), 4),
            (Layout::Transposed, "3d", dense(&[5, 11, 6]).then(Step::Transpose(1, 2)), 2),
            (Layout::Permuted, "4d", turned(), 3),
            (Layout::Narrowed, "3d", part(), 2),
            (Layout::BroadcastColumn, "3d", dense(&[5, 6, 1]).then(Step::Broadcast(vec![5, 6, 9])), 2),
            (Layout::Empty, "no-items", dense(&[0, 6, 4]), 2),
            (Layout::Empty, "empty-channels", dense(&[3, 6, 0]), 2),
        ];
        for (layout, shape, x, groups) in views {
            let channels = x.view().dims[1];
            for kind in [Kind::Group(groups), Kind::Batch] {
                let norm = Norm { kind, weight: true, bias: true, eps: 1e-5 };
                let operands = with_parameters(x.clone(), norm, channels);
                cases.push(Case::new(Op::named(norm), operands, layout, shape));
            }
        }
        // Packs of 16 bytes that span several channels.
        for (shape, weight, bias) in
            [("packed-crossing", true, true), ("weight", true, false), ("bias", false, true)]
        {
            for kind in [Kind::Group(2), Kind::Batch] {
                let norm = Norm { kind, weight, bias, eps: 1e-5 };
                let operands = with_parameters(dense(&[3, 32, 5]), norm, 32);
                cases.push(Case::new(Op::named(norm), operands, Layout::Contiguous, shape));
            }
        }
        for (shape, contents) in [("plain", Contents::Terms), ("special", Contents::SpecialTerms)] {
            let x = || Operand::dense(dtype, &[11, 6, 37], contents);
            for kind in [Kind::Group(3), Kind::Batch] {
                let norm = Norm { kind, weight: false, bias: false, eps: 0.25 };
                cases.push(Case::new(
                    Op::named(norm),
                    with_parameters(x(), norm, 6),
                    Layout::Contiguous,
                    shape,
                ));
            }
        }
    }
    cases
}
