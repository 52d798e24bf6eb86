//! Rotary position embeddings.

use reference::{Array, DType, Error, Outcome, RopeKind};
use serde_json::{Map, Value};
use tensor_core::Tensor;

use super::shapes::BLOCKS;
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::operation::Operation;
use crate::view::Step;

const DTYPES: [DType; 5] = [DType::F8E4M3, DType::BF16, DType::F16, DType::F32, DType::F64];

/// A rotary embedding of x, with cosines and sines.
#[derive(Debug)]
struct Rope(RopeKind);

impl Operation for Rope {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let (x, cos, sin) = (&operands[0], &operands[1], &operands[2]);
        match self.0 {
            RopeKind::Halves => x.rope(cos, sin),
            RopeKind::Neighbours => x.rope_i(cos, sin),
            RopeKind::TimeFirst => x.rope_thd(cos, sin),
        }
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        reference::rope(self.0, arrays[0], arrays[1], arrays[2])
    }
}

/// A rotary embedding of two tensors by the same cosines and sines, and one of its results.
#[derive(Debug)]
struct RopePair {
    kind: RopeKind,
    second: bool,
}

impl Operation for RopePair {
    fn name(&self) -> &'static str {
        if self.kind == RopeKind::Neighbours { "rope_i_pair" } else { "rope_pair" }
    }

    fn parameters(&self) -> String {
        (if self.second { "second" } else { "first" }).to_owned()
    }

    fn manifest(&self) -> Map<String, Value> {
        Map::from_iter([("second".to_owned(), self.second.into())])
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let [x, y, cos, sin] = operands else { unreachable!("there are four operands") };
        let (first, second) = match self.kind {
            RopeKind::Neighbours => x.rope_i_pair(y, cos, sin),
            _ => x.rope_pair(y, cos, sin),
        }?;
        Ok(if self.second { second } else { first })
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        reference::rope(self.kind, arrays[usize::from(self.second)], arrays[2], arrays[3])
    }
}

/// Both kinds for two tensors in every layout, with another number of heads in the second.
pub(super) fn pair_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in [RopeKind::Halves, RopeKind::Neighbours] {
        for dtype in DTYPES {
            for (layout, shape, mut operands) in rope_operands(kind, dtype) {
                let [batch, _, times, d] = operands[0].view().dims[..] else {
                    unreachable!("there are four axes")
                };
                let keys = Operand::dense(dtype, &[batch, times, 2, d], Contents::Mixed);
                operands.insert(1, keys.then(Step::Transpose(1, 2)));
                for second in [false, true] {
                    let op = Op::named(RopePair { kind, second });
                    cases.push(Case::new(op, operands.clone(), layout, shape));
                }
            }
        }
    }
    cases
}

/// Every kind of rotary embedding in every layout.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in RopeKind::ALL {
        for dtype in DTYPES {
            for (layout, shape, operands) in rope_operands(kind, dtype) {
                cases.push(Case::new(Op::named(Rope(kind)), operands, layout, shape));
            }
        }
    }
    cases
}

/// A block has 256 threads, one per pair.
pub(super) fn many_blocks() -> Case {
    let dense = |shape: &[usize]| Operand::dense(DType::BF16, shape, Contents::Factors);
    let operands = vec![dense(&[1, BLOCKS, 16, 32]), dense(&[16, 16]), dense(&[16, 16])];
    Case::new(Op::named(Rope(RopeKind::Halves)), operands, Layout::Contiguous, "many-blocks")
}

/// Layout, shape class and operands of a case.
type Viewed = (Layout, &'static str, Vec<Operand>);

fn rope_operands(kind: RopeKind, dtype: DType) -> Vec<Viewed> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Mixed);
    // [b, h, t, d] in the order of the kind.
    let axes = |b, h, t, d| if kind == RopeKind::TimeFirst { [b, t, h, d] } else { [b, h, t, d] };
    let swapped = |b, h, t, d| {
        let [b, first, second, d] = axes(b, h, t, d);
        dense(&[b, second, first, d]).then(Step::Transpose(1, 2))
    };
    let table = |shape: &[usize]| dense(shape);
    let narrow = |axis, start, len| Step::Narrow { axis, start, len };
    let part = dense(&[3, 9, 11, 26]);
    let part = (0..4).fold(part, |part, axis| part.then(narrow(axis, 1, [2, 7, 7, 24][axis])));
    let same = |x: Operand, angles: Operand| vec![x, angles.clone(), angles];
    vec![
        (Layout::Contiguous, "matrix", same(dense(&axes(2, 3, 17, 20)), table(&[17, 10]))),
        (Layout::Contiguous, "batch-angles", same(dense(&axes(2, 3, 17, 20)), table(&[2, 17, 10]))),
        (Layout::Contiguous, "long-table", same(dense(&axes(2, 3, 7, 20)), table(&[23, 10]))),
        (Layout::Contiguous, "long-batch-table", same(dense(&axes(2, 3, 7, 20)), table(&[2, 23, 10]))),
        (Layout::Contiguous, "one-pair", same(dense(&axes(1, 1, 1, 2)), table(&[1, 1]))),
        (Layout::Contiguous, "large", same(dense(&axes(2, 4, 19, 128)), table(&[19, 64]))),
        (Layout::Transposed, "matrix", same(swapped(2, 3, 17, 20), table(&[17, 10]))),
        (
            Layout::Permuted,
            "columns-first",
            same(
                dense(&[2, 24, 3, 5]).then(Step::Permute(vec![0, 2, 3, 1])),
                table(&[12, if kind == RopeKind::TimeFirst { 3 } else { 5 }]).then(Step::Transpose(0, 1)),
            ),
        ),
        (
            Layout::Narrowed,
            "matrix",
            same(part, table(&[9, 14]).then(narrow(0, 2, 7)).then(narrow(1, 1, 12))),
        ),
        (
            Layout::BroadcastBatch,
            "heads",
            same(
                dense(&axes(2, 1, 1, 16)).then(Step::Broadcast(axes(2, 5, 6, 16).to_vec())),
                table(&[1, 8]).then(Step::Broadcast(vec![6, 8])),
            ),
        ),
        (Layout::Empty, "no-times", same(dense(&axes(2, 3, 0, 20)), table(&[0, 10]))),
        (Layout::Empty, "no-columns", same(dense(&axes(2, 3, 5, 0)), table(&[5, 0]))),
    ]
}
