//! Scaled dot product attention with every kind of mask.

use std::borrow::Cow;

use reference::{Array, AttentionOptions, DType, Error, Outcome};
use serde_json::{Map, Value};
use tensor_core::Tensor;

use super::shapes::BLOCKS;
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::operation::Operation;
use crate::view::Step;

const DTYPES: [DType; 5] = [DType::F8E4M3, DType::BF16, DType::F16, DType::F32, DType::F64];

/// The fourth operand of an attention.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Masking {
    /// There is none.
    None,
    /// u8: nonzero selects a key.
    Truth,
    /// Numbers added to the scores.
    Added,
    /// Zeros and ones of the dtype, whose logarithm is added: minus infinity hides a key.
    Hidden,
}

/// An attention with its parameters.
#[derive(Debug, Clone, Copy)]
struct Attention {
    masking: Masking,
    causal: bool,
    scale: Option<f64>,
}

impl Operation for Attention {
    fn name(&self) -> &'static str {
        "scaled_dot_product_attention"
    }

    fn parameters(&self) -> String {
        let mask = match self.masking {
            Masking::None => None,
            Masking::Truth => Some("truth".to_owned()),
            Masking::Added => Some("added".to_owned()),
            Masking::Hidden => Some("hidden".to_owned()),
        };
        let causal = self.causal.then(|| "causal".to_owned());
        let scale = self.scale.map(|scale| format!("scale={scale}"));
        [causal, mask, scale].into_iter().flatten().collect::<Vec<_>>().join(",")
    }

    fn manifest(&self) -> Map<String, Value> {
        let mask = match self.masking {
            Masking::None => Value::Null,
            Masking::Truth => "truth".into(),
            Masking::Added => "added".into(),
            Masking::Hidden => "log_added".into(),
        };
        let all = [("mask", mask), ("causal", self.causal.into()), ("scale", self.scale.into())];
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let mask = match self.masking {
            Masking::None => None,
            Masking::Truth | Masking::Added => Some(operands[3].clone()),
            Masking::Hidden => Some(operands[3].log()?),
        };
        let (q, k, v) = (&operands[0], &operands[1], &operands[2]);
        q.scaled_dot_product_attention(k, v, mask.as_ref(), self.causal, self.scale)
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        let options = AttentionOptions { causal: self.causal, scale: self.scale };
        let mask = match (self.masking, arrays.get(3)) {
            (Masking::Hidden, Some(mask)) => Some(Cow::Owned(logarithm(mask)?)),
            (_, mask) => mask.map(|mask| Cow::Borrowed(*mask)),
        };
        reference::attention(arrays[0], arrays[1], arrays[2], mask, options)
    }
}

/// The logarithm of zeros and ones: minus infinity and 0.
fn logarithm(mask: &Array) -> Result<Array, Error> {
    let log = |i| if mask.get(i) == reference::Value::Float(0.0) { f64::NEG_INFINITY } else { 0.0 };
    Array::from_f64(mask.dtype(), mask.shape(), &(0..mask.len()).map(log).collect::<Vec<_>>())
}

/// The dimensions of an attention: batches, heads of q and of k, queries, keys, columns of k and of v.
#[derive(Debug, Clone, Copy)]
struct Lengths {
    b: usize,
    hq: usize,
    hk: usize,
    tq: usize,
    tk: usize,
    d: usize,
    dv: usize,
}

impl Lengths {
    /// A single head of a single batch entry.
    fn single(tq: usize, tk: usize, d: usize, dv: usize) -> Lengths {
        Lengths { b: 1, hq: 1, hk: 1, tq, tk, d, dv }
    }

    fn q(&self) -> [usize; 4] {
        [self.b, self.hq, self.tq, self.d]
    }

    fn k(&self) -> [usize; 4] {
        [self.b, self.hk, self.tk, self.d]
    }

    fn v(&self) -> [usize; 4] {
        [self.b, self.hk, self.tk, self.dv]
    }
}

const PLAIN: Attention = Attention { masking: Masking::None, causal: false, scale: None };
const CAUSAL: Attention = Attention { causal: true, ..PLAIN };

/// q, k and v near ±1, dense.
fn operands(dtype: DType, lengths: Lengths) -> Vec<Operand> {
    let factors = |shape: [usize; 4]| Operand::dense(dtype, &shape, Contents::Factors);
    vec![factors(lengths.q()), factors(lengths.k()), Operand::dense(dtype, &lengths.v(), Contents::Terms)]
}

/// Every kind of attention.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        let mut add = |layout, shape, attention: Attention, operands| {
            cases.push(Case::new(Op::named(attention), operands, layout, shape));
        };
        for (shape, lengths) in sizes() {
            add(Layout::Contiguous, shape, PLAIN, operands(dtype, lengths));
            add(Layout::Contiguous, shape, CAUSAL, operands(dtype, lengths));
        }
        let sharp = Attention { scale: Some(3.0), ..PLAIN };
        add(Layout::Contiguous, "sharp", sharp, operands(dtype, Lengths::single(33, 70, 20, 20)));
        add(Layout::Contiguous, "sharp-row", sharp, operands(dtype, Lengths::single(1, 300, 20, 20)));
        let mut special = operands(dtype, Lengths::single(9, 70, 16, 20));
        special[2].contents = Contents::SpecialTerms;
        add(Layout::Contiguous, "special", PLAIN, special.clone());
        special[0].stored[2] = 1;
        add(Layout::Contiguous, "special-row", PLAIN, special);
        for (layout, shape, attention, operands) in masked(dtype).into_iter().chain(views(dtype)) {
            add(layout, shape, attention, operands);
        }
        for case in whole(dtype) {
            cases.push(case);
        }
    }
    cases.extend([DType::BF16, DType::F16].into_iter().flat_map(matrix_units));
    cases
}

/// One block per head, for a tile of queries and for a single query.
pub(super) fn many_blocks() -> [Case; 2] {
    [("many-blocks", 8), ("many-blocks-row", 1)].map(|(shape, tq)| {
        let operands = operands(DType::F32, Lengths { b: 1, hq: BLOCKS, hk: BLOCKS, tq, tk: 2, d: 2, dv: 1 });
        Case::new(Op::named(PLAIN), operands, Layout::Contiguous, shape)
    })
}

/// Lengths around tile sizes, and every grouping of heads.
fn sizes() -> Vec<(&'static str, Lengths)> {
    let single = Lengths::single;
    vec![
        ("matrix", Lengths { b: 2, hq: 2, hk: 2, tq: 33, tk: 33, d: 20, dv: 20 }),
        ("one", single(1, 1, 1, 1)),
        ("one-key", single(33, 1, 16, 16)),
        ("one-column", single(33, 70, 1, 1)),
        ("head-16", single(70, 70, 16, 16)),
        ("head-64", single(70, 150, 64, 64)),
        ("head-65", single(33, 70, 65, 65)),
        ("head-128", single(70, 70, 128, 128)),
        ("head-200", single(33, 33, 200, 200)),
        ("wide-values", single(33, 70, 16, 300)),
        ("narrow-values", single(33, 70, 64, 3)),
        ("long", single(150, 150, 20, 20)),
        ("more-queries", single(150, 33, 20, 20)),
        ("more-keys", single(33, 150, 20, 20)),
        ("row", Lengths { b: 1, hq: 2, hk: 2, tq: 1, tk: 150, d: 64, dv: 64 }),
        ("long-row", single(1, 600, 20, 24)),
        ("few-rows", Lengths { b: 1, hq: 2, hk: 2, tq: 5, tk: 300, d: 20, dv: 65 }),
        ("wide-row", single(2, 33, 65, 200)),
        ("deep-row", single(1, 9, 600, 16)),
        ("grouped-4-2", Lengths { b: 2, hq: 4, hk: 2, tq: 33, tk: 70, d: 20, dv: 16 }),
        ("grouped-6-1", Lengths { b: 2, hq: 6, hk: 1, tq: 20, tk: 33, d: 16, dv: 16 }),
        ("grouped-row", Lengths { b: 2, hq: 6, hk: 2, tq: 1, tk: 70, d: 16, dv: 16 }),
        ("many-heads", Lengths { b: 4, hq: 100, hk: 100, tq: 1, tk: 2, d: 4, dv: 4 }),
    ]
}

/// Shapes that use matrix units if the device has them: whole packs, and as many keys as `bf16` needs. Lengths are
/// around their tile sizes.
fn matrix_units(dtype: DType) -> Vec<Case> {
    let single = Lengths::single;
    let grouped = Lengths { b: 1, hq: 2, hk: 1, tq: 66, tk: 257, d: 64, dv: 128 };
    let mut cases: Vec<(Layout, &'static str, Attention, Vec<Operand>)> = Vec::new();
    for attention in [PLAIN, CAUSAL] {
        for (shape, lengths) in [
            ("units-64", single(64, 256, 64, 64)),
            ("units-128", single(130, 264, 128, 128)),
            ("units-narrow", single(129, 300, 24, 40)),
            ("units-more-queries", single(300, 256, 16, 64)),
            ("units-grouped", grouped),
        ] {
            cases.push((Layout::Contiguous, shape, attention, operands(dtype, lengths)));
        }
    }
    let sharp = Attention { scale: Some(3.0), ..CAUSAL };
    cases.push((Layout::Contiguous, "units-sharp", sharp, operands(dtype, single(257, 257, 64, 16))));
    // [b, t, h, d] viewed as [b, h, t, d].
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Factors);
    let heads = |t, d| dense(&[1, t, 2, d]).then(Step::Transpose(1, 2));
    cases.push((Layout::Transposed, "units", CAUSAL, vec![heads(70, 64), heads(260, 64), heads(260, 32)]));
    for (masking, of, contents) in [
        (Masking::Truth, DType::U8, Contents::Below(3)),
        (Masking::Added, dtype, Contents::Factors),
        (Masking::Hidden, dtype, Contents::Below(2)),
    ] {
        let lengths = Lengths { tq: 65, tk: 259, ..grouped };
        let mask = Operand::dense(of, &[65, 259], contents);
        let operands = operands(dtype, lengths).into_iter().chain([mask]).collect();
        cases.push((Layout::BroadcastBatch, "units-mask", Attention { masking, ..PLAIN }, operands));
    }
    cases
        .into_iter()
        .map(|(layout, shape, attention, operands)| Case::new(Op::named(attention), operands, layout, shape))
        .collect()
}

/// Every kind of mask with every way to broadcast it.
fn masked(dtype: DType) -> Vec<(Layout, &'static str, Attention, Vec<Operand>)> {
    let lengths = Lengths { b: 2, hq: 2, hk: 1, tq: 33, tk: 70, d: 20, dv: 20 };
    let row = Lengths { tq: 1, ..lengths };
    let with =
        |lengths, mask: Operand| operands(dtype, lengths).into_iter().chain([mask]).collect::<Vec<_>>();
    let mut cases = Vec::new();
    for (masking, of, contents) in [
        (Masking::Truth, DType::U8, Contents::Below(3)),
        (Masking::Added, dtype, Contents::Factors),
        (Masking::Hidden, dtype, Contents::Below(2)),
    ] {
        let attention = Attention { masking, ..PLAIN };
        let dense = |shape: &[usize]| Operand::dense(of, shape, contents);
        let turned = dense(&[70, 33]).then(Step::Transpose(0, 1));
        let part = dense(&[40, 80]).then(Step::Narrow { axis: 0, start: 3, len: 33 }).then(Step::Narrow {
            axis: 1,
            start: 5,
            len: 70,
        });
        cases.extend([
            (Layout::Contiguous, "mask", attention, with(lengths, dense(&[2, 2, 33, 70]))),
            (Layout::BroadcastBatch, "mask", attention, with(lengths, dense(&[33, 70]))),
            (Layout::BroadcastRow, "mask", attention, with(lengths, dense(&[2, 1, 1, 70]))),
            (Layout::BroadcastColumn, "mask", attention, with(lengths, dense(&[2, 33, 1]))),
            (Layout::Transposed, "mask", attention, with(lengths, turned)),
            (Layout::Narrowed, "mask", attention, with(lengths, part)),
            (Layout::Contiguous, "mask-row", attention, with(row, dense(&[2, 2, 1, 70]))),
            (
                Layout::BroadcastBatch,
                "mask-causal",
                Attention { causal: true, ..attention },
                with(lengths, dense(&[33, 70])),
            ),
            // Rows that attend to nothing.
            (
                Layout::Contiguous,
                "mask-nothing",
                attention,
                with(Lengths { tk: 1, ..lengths }, dense(&[33, 1])),
            ),
        ]);
    }
    cases
}

/// Layouts of q, k and v.
fn views(dtype: DType) -> Vec<(Layout, &'static str, Attention, Vec<Operand>)> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Factors);
    let narrow = |axis, start, len| Step::Narrow { axis, start, len };
    // [b, t, h, d] viewed as [b, h, t, d].
    let heads = |b, h, t, d| dense(&[b, t, h, d]).then(Step::Transpose(1, 2));
    // Columns with a large stride.
    let columns = |b, h, t, d| dense(&[b, h, d, t]).then(Step::Transpose(2, 3));
    let cache = |b, h, t, d| dense(&[b, h, t + 9, d]).then(narrow(2, 0, t));
    let part = |b, h, t, d| dense(&[b, h, t + 4, d + 5]).then(narrow(2, 3, t)).then(narrow(3, 1, d));
    let repeated = |h, t, d| dense(&[1, h, t, d]).then(Step::Broadcast(vec![3, h, t, d]));
    let mut cases = Vec::new();
    for (plain, t) in [("matrix", 33), ("row", 1)] {
        cases.extend([
            (
                Layout::Transposed,
                plain,
                PLAIN,
                vec![heads(2, 2, t, 32), heads(2, 2, 70, 32), heads(2, 2, 70, 20)],
            ),
            (
                Layout::Permuted,
                plain,
                CAUSAL,
                vec![columns(1, 2, t, 20), columns(1, 2, 70, 20), columns(1, 2, 70, 9)],
            ),
            (
                Layout::Narrowed,
                plain,
                PLAIN,
                vec![dense(&[1, 2, t, 32]), cache(1, 2, 70, 32), cache(1, 2, 70, 32)],
            ),
            (
                Layout::NarrowedTransposed,
                plain,
                PLAIN,
                vec![part(1, 2, t, 20), part(1, 2, 70, 20), part(1, 2, 70, 31)],
            ),
            (
                Layout::BroadcastBatch,
                plain,
                PLAIN,
                vec![dense(&[3, 2, t, 20]), repeated(2, 33, 20), repeated(2, 33, 20)],
            ),
            (
                Layout::Empty,
                "no-keys",
                PLAIN,
                vec![dense(&[2, 2, t, 4]), dense(&[2, 2, 0, 4]), dense(&[2, 2, 0, 5])],
            ),
            (
                Layout::Empty,
                "no-depth",
                PLAIN,
                vec![dense(&[1, 2, t, 0]), dense(&[1, 2, 9, 0]), dense(&[1, 2, 9, 5])],
            ),
        ]);
    }
    let empty = |shape: [usize; 4]| dense(&shape);
    cases.extend([
        (
            Layout::Empty,
            "no-queries",
            PLAIN,
            vec![empty([2, 2, 0, 4]), empty([2, 2, 5, 4]), empty([2, 2, 5, 3])],
        ),
        (
            Layout::Empty,
            "no-batches",
            CAUSAL,
            vec![empty([0, 2, 3, 4]), empty([0, 2, 5, 4]), empty([0, 2, 5, 3])],
        ),
        (
            Layout::Empty,
            "no-columns",
            PLAIN,
            vec![empty([2, 2, 3, 4]), empty([2, 2, 5, 4]), empty([2, 2, 5, 0])],
        ),
    ]);
    cases
}

/// Equal scores: every weight is 1, and means of integers over a power of two of keys are exact.
fn whole(dtype: DType) -> Vec<Case> {
    let bits = match dtype {
        DType::F8E4M3 => 2,
        DType::BF16 => 6,
        DType::F16 => 9,
        DType::F32 => 13,
        _ => 40,
    };
    let case = |tq: usize, tk: usize| {
        let ones = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Ones);
        let values = Operand::dense(dtype, &[1, 2, tk, 20], Contents::Whole(bits));
        let operands = vec![ones(&[1, 2, tq, 16]), ones(&[1, 2, tk, 16]), values];
        Case::new(Op::named(PLAIN), operands, Layout::Contiguous, if tq == 1 { "whole-row" } else { "whole" })
            .exactly()
    };
    vec![case(33, 128), case(1, 256)]
}
