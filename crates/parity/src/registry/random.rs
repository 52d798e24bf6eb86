//! Random numbers: equal seeds must give equal bits. All but dropout use only shape and dtype of their operand.

use reference::{Array, DType, Draw, Error, Outcome};
use serde_json::{Map, Value as Json, json};
use tensor_core::{Generator, Tensor};

use super::shapes::{BLOCKS, COLS, LARGE, ROWS, every, every_pattern};
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::operation::Operation;

/// A distribution with its parameters.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Uniform(f64, f64),
    Normal(f64, f64),
    Randint(i64, i64),
    Randperm,
    Bernoulli(f64),
    Dropout(f64),
}

/// A distribution and its draw.
#[derive(Debug, Clone, Copy)]
struct Random {
    kind: Kind,
    draw: Draw,
}

impl Operation for Random {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Uniform(..) => "uniform",
            Kind::Normal(..) => "normal",
            Kind::Randint(..) => "randint",
            Kind::Randperm => "randperm",
            Kind::Bernoulli(_) => "bernoulli",
            Kind::Dropout(_) => "dropout",
        }
    }

    fn parameters(&self) -> String {
        let Draw { seed, stream } = self.draw;
        let own = match self.kind {
            Kind::Uniform(a, b) | Kind::Normal(a, b) => format!("{a:?},{b:?},"),
            Kind::Randint(low, high) => format!("{low},{high},"),
            Kind::Randperm => String::new(),
            Kind::Bernoulli(p) | Kind::Dropout(p) => format!("{p:?},"),
        };
        format!("{own}seed={seed},draw={stream}")
    }

    fn manifest(&self) -> Map<String, Json> {
        let mut all = Map::new();
        let mut put = |name: &str, value: Json| {
            all.insert(name.to_owned(), value);
        };
        match self.kind {
            Kind::Uniform(low, high) => {
                put("low", json!(low));
                put("high", json!(high));
            }
            Kind::Normal(mean, deviation) => {
                put("mean", json!(mean));
                put("deviation", json!(deviation));
            }
            Kind::Randint(low, high) => {
                put("low", json!(low));
                put("high", json!(high));
            }
            Kind::Randperm => {}
            Kind::Bernoulli(p) | Kind::Dropout(p) => put("probability", json!(p)),
        }
        put("seed", json!(self.draw.seed));
        put("draw", json!(self.draw.stream));
        all
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let x = &operands[0];
        let (shape, dtype, device) = (x.shape(), x.dtype(), &x.device());
        let mut generator = Generator::at(self.draw.seed, self.draw.stream);
        match self.kind {
            Kind::Uniform(low, high) => generator.uniform(low, high, shape, dtype, device),
            Kind::Normal(mean, deviation) => generator.normal(mean, deviation, shape, dtype, device),
            Kind::Randint(low, high) => generator.randint(low, high, shape, dtype, device),
            Kind::Randperm => generator.randperm(x.elements(), dtype, device),
            Kind::Bernoulli(p) => generator.bernoulli(p, shape, dtype, device),
            Kind::Dropout(p) => generator.dropout(x, p),
        }
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        let (x, draw) = (arrays[0], self.draw);
        let (dtype, shape) = (x.dtype(), x.shape());
        match self.kind {
            Kind::Uniform(low, high) => reference::uniform(dtype, shape, draw, low, high),
            Kind::Normal(mean, deviation) => reference::normal(dtype, shape, draw, mean, deviation),
            Kind::Randint(low, high) => reference::randint(dtype, shape, draw, low, high),
            Kind::Randperm => reference::randperm(dtype, x.len(), draw),
            Kind::Bernoulli(p) => reference::bernoulli(dtype, shape, draw, p),
            Kind::Dropout(p) => reference::dropout(x, draw, p),
        }
    }
}

/// The shapes of new arrays, by shape class.
const SHAPES: [(&str, &[usize]); 9] = [
    ("scalar", &[]),
    ("one", &[1]),
    ("two", &[2]),
    ("three", &[3]),
    ("vector", &[4099]),
    ("matrix", &[ROWS, COLS]),
    ("block", &[16, 1024]),
    ("10d", &[2; 10]),
    ("empty", &[3, 0]),
];

const DRAW: Draw = Draw { seed: 0x1234_5678_9abc_def0, stream: 3 };
/// A draw whose seed and stream use all their bits.
const WIDE: Draw = Draw { seed: u64::MAX, stream: u64::MAX - 1 };

/// Every distribution on every supported dtype, in sizes around the blocks of words, with ordinary and extreme
/// parameters.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        let (kinds, extreme): (&[Kind], &[(&'static str, Kind)]) = match dtype {
            DType::U8 => (&[Kind::Randint(3, 203)], &EXTREME_BYTES),
            DType::U32 => (&[Kind::Randint(3, 4_000_000_001)], &EXTREME_BYTES),
            DType::I16 => (&[Kind::Randint(-31_001, 31_002)], &EXTREME_SHORTS),
            DType::I32 => (&[Kind::Randint(-2_000_000_001, 7)], &EXTREME_SHORTS),
            DType::I64 => (&[Kind::Randint(-9_000_000_000_000_000_001, 7)], &EXTREME_LONGS),
            _ => (&[Kind::Uniform(-1.3, 2.7), Kind::Normal(0.3, 1.7)], &EXTREME_FLOATS),
        };
        let coin = Kind::Bernoulli(0.3);
        for kind in kinds.iter().chain([&coin]) {
            cases.extend(SHAPES.into_iter().map(|(class, shape)| new(*kind, DRAW, dtype, class, shape)));
            cases.push(new(*kind, WIDE, dtype, "wide-draw", &[1031]));
        }
        cases.extend(extreme.iter().map(|&(class, kind)| new(kind, DRAW, dtype, class, &[1031])));
        cases.push(new(Kind::Bernoulli(0.0), DRAW, dtype, "never", &[1031]));
        cases.push(new(Kind::Bernoulli(1.0), DRAW, dtype, "always", &[1031]));
        if dtype.is_int() {
            for (class, size) in [("empty", 0), ("one", 1), ("vector", 251), ("large", 5003)] {
                if dtype != DType::U8 || size < 256 {
                    cases.push(new(Kind::Randperm, WIDE, dtype, class, &[size]));
                }
            }
        } else {
            dropout_cases(dtype, &mut cases);
        }
    }
    let large = |kind, dtype| new(kind, DRAW, dtype, "large", &LARGE);
    cases.push(large(Kind::Uniform(0.0, 1.0), DType::F16));
    cases.push(large(Kind::Normal(0.0, 1.0), DType::F32));
    cases.push(large(Kind::Randint(0, 1 << 40), DType::I64));
    cases
}

/// A block has 256 threads, each of which makes four elements.
pub(super) fn many_blocks() -> Case {
    new(Kind::Bernoulli(0.3), DRAW, DType::U8, "many-blocks", &[BLOCKS * 1024])
}

/// Adjacent bounds, and distributions that overflow the narrow types.
const EXTREME_FLOATS: [(&str, Kind); 6] = [
    ("unit", Kind::Uniform(0.0, 1.0)),
    ("below-zero", Kind::Uniform(-1.0, 0.0)),
    ("one-number", Kind::Uniform(1.5, 1.5)),
    ("far", Kind::Uniform(100.0, 101.0)),
    ("overflow", Kind::Normal(0.0, 400.0)),
    ("no-deviation", Kind::Normal(-2.5, 0.0)),
];
const EXTREME_BYTES: [(&str, Kind); 2] =
    [("one-number", Kind::Randint(7, 8)), ("byte", Kind::Randint(0, 256))];
const EXTREME_SHORTS: [(&str, Kind); 2] =
    [("one-number", Kind::Randint(-7, -6)), ("short", Kind::Randint(-32_768, 32_768))];
const EXTREME_LONGS: [(&str, Kind); 2] =
    [("one-number", Kind::Randint(i64::MIN, i64::MIN + 1)), ("all", Kind::Randint(i64::MIN, i64::MAX))];

/// Dropout of every layout, and of all patterns of the narrow types.
fn dropout_cases(dtype: DType, cases: &mut Vec<Case>) {
    let op = |p| Op::named(Random { kind: Kind::Dropout(p), draw: DRAW });
    for (layout, shape, operand) in every(dtype, Contents::Mixed) {
        cases.push(Case::new(op(0.3), vec![operand], layout, shape));
    }
    if dtype.bits() <= 16 {
        cases.push(Case::new(op(0.1), vec![every_pattern(dtype)], Layout::Contiguous, "every-pattern"));
    }
    for (class, p) in [("half", 0.5), ("most", 0.9), ("none", 0.0)] {
        let operand = Operand::dense(dtype, &[1031], Contents::Mixed);
        cases.push(Case::new(op(p), vec![operand], Layout::Contiguous, class));
    }
}

fn new(kind: Kind, draw: Draw, dtype: DType, class: &'static str, shape: &[usize]) -> Case {
    let layout = if shape.contains(&0) { Layout::Empty } else { Layout::Contiguous };
    let operand = Operand::dense(dtype, shape, Contents::Ones);
    Case::new(Op::named(Random { kind, draw }), vec![operand], layout, class)
}
