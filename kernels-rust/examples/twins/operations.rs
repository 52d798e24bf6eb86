//! The operations, their exact results, and how far a result may be off.

use crate::launches::{self, Dims, FACTOR, Load, Run, Side};
use kernels_rust::BLOCK;
use parity::case::{Case, Layout, Op, Operand};
use parity::custom::{Answer, CustomOperation};
use parity::inputs::Contents;
use parity::record::Form;
use reference::{Array, DType, Judge, Value};
use tensor_core::{
    DType as Kind, ErrorKind, HipStorage, InplaceOp1, Layout as Strides, Result, Storage, Tensor,
};

/// u of f32: half an ulp of 1. A rounding changes a number by at most this fraction.
const U: f64 = f32::EPSILON as f64 / 2.0;

/// Blocks of the launches whose threads go round.
const BLOCKS: u32 = 3;

/// `t` counts the roundings on the way, in `Answer::scale`; the half ulp is what their products add to their sum, and the last rounding where
/// a result is subnormal.
fn rounded(_: DType) -> Judge {
    Judge::Within { ulps: 0.5, t: U }
}

fn exactly(_: DType) -> Judge {
    Judge::Exact
}

/// Every operation in Rust and in HIP, with its cases.
pub(crate) fn cases() -> Vec<Case> {
    Side::BOTH
        .into_iter()
        .flat_map(|side| [saxpy, block_sum, matmul, softmax, histogram, sort_tiles].map(|of| of(side)))
        .flatten()
        .collect()
}

/// The cases of an operation: operands, and a word that tells them apart.
fn of(operation: CustomOperation, cases: Vec<(&'static str, Vec<Operand>)>) -> Vec<Case> {
    let op = Op::named(operation);
    cases
        .into_iter()
        .map(|(shape, operands)| Case::new(op.clone(), operands, Layout::Contiguous, shape))
        .collect()
}

/// Adds the launch for each platform of HIP.
fn on_devices(operation: CustomOperation, side: Side, launching: Launching) -> CustomOperation {
    ["host", "amd", "nvidia"].into_iter().fold(operation.parameters(side.name()), |operation, platform| {
        operation.run_on(platform, move |operands| launching.run(side, operands))
    })
}

fn saxpy(side: Side) -> Vec<Case> {
    let factor = f64::from(FACTOR);
    // The product is rounded if it is not fused with the sum, and the sum is.
    let exact = move |x: &[f64]| {
        let (product, sum) = (factor * x[0], factor * x[0] + x[1]);
        Answer::from(sum).scale(product.abs() + sum.abs())
    };
    let operation = CustomOperation::elementwise("saxpy", rounded, exact);
    let operation = operation.run_on("cpu", move |x| x[0].affine(FACTOR, 0.0)? + &x[1]);
    let launching = Launching::new(launches::saxpy, |x| dims(x[0].elements(), 1), Start::Operand(1));
    let mixed = |shape: &[usize]| Operand::dense(DType::F32, shape, Contents::Mixed);
    let of_length = |length: usize| vec![mixed(&[length]), mixed(&[length])];
    of(
        on_devices(operation, side, launching),
        vec![("blocks", of_length(1024)), ("part of a block", of_length(1000))],
    )
}

fn block_sum(side: Side) -> Vec<Case> {
    let blocks = BLOCKS as usize;
    // A thread adds its turns, waves of 64 six times, and the first thread up to eight sums of waves.
    let exact = move |x: &[&Array], _: &Form| -> Vec<Answer> {
        let roundings = x[0].len().div_ceil(BLOCK * blocks) + 6 + 8;
        let of_block = |block: usize| {
            let mine = (0..x[0].len()).filter(|i| i / BLOCK % blocks == block).map(|i| number(x[0], i));
            let (sum, size) = mine.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
            Answer::from(sum).scale(roundings as f64 * size)
        };
        (0..blocks).map(of_block).collect()
    };
    let operation = CustomOperation::whole("block_sum", rounded, exact)
        .form(move |_| Form { dtype: DType::F32, shape: vec![blocks] })
        .run_on("cpu", move |x| {
            let turn = BLOCK * blocks;
            let turns = x[0].elem_count().div_ceil(turn);
            let padded = x[0].to_dtype(Kind::F64)?.pad_with_zeros(0, 0, turns * turn - x[0].elem_count())?;
            padded.reshape((turns, blocks, BLOCK))?.sum((0, 2))?.to_dtype(Kind::F32)
        });
    let launching = Launching::new(
        launches::block_sum,
        |x| dims(x[0].elements(), 1),
        Start::Unset(|_| vec![BLOCKS as usize]),
    );
    let of_length = |length: usize| vec![Operand::dense(DType::F32, &[length], Contents::Terms)];
    of(
        on_devices(operation, side, launching),
        vec![("turns", of_length(5 * BLOCK + 77)), ("less than the grid", of_length(300))],
    )
}

fn matmul(side: Side) -> Vec<Case> {
    // A product and at most k additions; fused ones round less.
    let exact = |x: &[&Array], form: &Form| -> Vec<Answer> {
        let (n, k) = (form.shape[1], x[0].shape()[1]);
        let element = |index: usize| {
            let term = |i: usize| number(x[0], index / n * k + i) * number(x[1], i * n + index % n);
            let (sum, size) = (0..k).map(term).fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
            Answer::from(sum).scale((k + 1) as f64 * size)
        };
        (0..form.shape.iter().product()).map(element).collect()
    };
    let operation = CustomOperation::whole("matmul", rounded, exact)
        .form(|x| Form { dtype: DType::F32, shape: vec![x[0].shape[0], x[1].shape[1]] })
        .run_on("cpu", |x| x[0].matmul(&x[1]));
    let sizes = |x: &[Sizes]| Dims { rows: x[0].0[0], columns: x[1].0[1], inner: x[0].0[1], blocks: 0 };
    let launching = Launching::new(launches::matmul, sizes, Start::Unset(|x| vec![x[0].0[0], x[1].0[1]]));
    let of_shape = |m: usize, n: usize, k: usize| {
        let terms = |shape: &[usize]| Operand::dense(DType::F32, shape, Contents::Terms);
        vec![terms(&[m, k]), terms(&[k, n])]
    };
    of(
        on_devices(operation, side, launching),
        vec![("tiles", of_shape(32, 48, 64)), ("parts of tiles", of_shape(19, 35, 21))],
    )
}

fn softmax(side: Side) -> Vec<Case> {
    let exact = |x: &[&Array], form: &Form| -> Vec<Answer> {
        let width = form.shape[1];
        let row = |row: usize| {
            let x: Vec<f64> = (0..width).map(|column| number(x[0], row * width + column)).collect();
            let max = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let powers: Vec<f64> = x.iter().map(|x| (x - max).exp()).collect();
            let sum: f64 = powers.iter().sum();
            // A difference is off by half an ulp, which exp makes this many u of its result; exp by two ulps, which are 4 u, and at least
            // twice the least number; the sum by what its terms are, a thread's turns and eight halvings; the quotient by one ulp.
            let least = 2.0 * f64::from(f32::from_bits(1)) / U;
            let power = |(x, of): (&f64, &f64)| (max - x + 4.0) * of + least;
            let of_sum =
                x.iter().zip(&powers).map(power).sum::<f64>() / sum + (width.div_ceil(BLOCK) + 8) as f64;
            let answer = |(x, of): (&f64, &f64)| {
                Answer::from(of / sum).scale((power((x, of)) + of * (of_sum + 2.0)) / sum)
            };
            x.iter().zip(&powers).map(answer).collect::<Vec<_>>()
        };
        (0..form.shape[0]).flat_map(row).collect()
    };
    let operation = CustomOperation::whole("softmax", rounded, exact)
        .run_on("cpu", |x| x[0].to_dtype(Kind::F64)?.softmax(-1)?.to_dtype(Kind::F32));
    let sizes = |x: &[Sizes]| dims(x[0].0[0], x[0].0[1]);
    let launching = Launching::new(launches::softmax, sizes, Start::Unset(|x| x[0].0.clone()));
    let of_width = |width: usize| vec![Operand::dense(DType::F32, &[3, width], Contents::Terms)];
    of(
        on_devices(operation, side, launching),
        vec![("short rows", of_width(7)), ("rows of a block", of_width(BLOCK)), ("long rows", of_width(600))],
    )
}

fn histogram(side: Side) -> Vec<Case> {
    let exact = |x: &[&Array], _: &Form| -> Vec<Answer> {
        let mut counts: Vec<f64> = (0..256).map(|value| number(x[1], value)).collect();
        (0..x[0].len()).for_each(|i| counts[number(x[0], i) as usize] += 1.0);
        counts.into_iter().map(Answer::from).collect()
    };
    let operation =
        CustomOperation::whole("histogram", exactly, exact).form(|x| x[1].clone()).run_on("cpu", |x| {
            let ones = Tensor::full(1, x[0].shape(), Kind::U32, &x[0].device())?;
            x[1].index_add(&x[0].to_dtype(Kind::U32)?, &ones, 0)
        });
    let launching = Launching::new(launches::histogram, |x| dims(x[0].elements(), 1), Start::Operand(1));
    let before = || Operand::dense(DType::U32, &[256], Contents::Below(1000));
    let bytes = |length: usize, below: u32| {
        vec![Operand::dense(DType::U8, &[length], Contents::Below(below)), before()]
    };
    of(
        on_devices(operation, side, launching),
        vec![("many values", bytes(10_000, 256)), ("few values", bytes(777, 5))],
    )
}

fn sort_tiles(side: Side) -> Vec<Case> {
    let exact = |x: &[&Array], _: &Form| -> Vec<Answer> {
        let mut values: Vec<f64> = (0..x[0].len()).map(|i| number(x[0], i)).collect();
        values.chunks_mut(BLOCK).for_each(|tile| tile.sort_by(f64::total_cmp));
        values.into_iter().map(Answer::from).collect()
    };
    let operation = CustomOperation::whole("sort_tiles", exactly, exact).run_on("cpu", |x| {
        let count = x[0].elem_count();
        let tiles = (0..count).step_by(BLOCK).map(|start| {
            x[0].narrow(0, start, BLOCK.min(count - start))?.sort(0, false).map(|(values, _)| values)
        });
        Tensor::cat(&tiles.collect::<Result<Vec<_>>>()?, 0)
    });
    let launching =
        Launching::new(launches::sort_tiles, |x| dims(x[0].elements(), 1), Start::Unset(|x| x[0].0.clone()));
    let whole = |length: usize| vec![Operand::dense(DType::U32, &[length], Contents::Mixed)];
    let few = vec![Operand::dense(DType::U32, &[BLOCK], Contents::Below(7))];
    of(
        on_devices(operation, side, launching),
        vec![("tiles", whole(3 * BLOCK)), ("part of a tile", whole(BLOCK + 100)), ("ties", few)],
    )
}

fn number(array: &Array, index: usize) -> f64 {
    match array.get(index) {
        Value::Float(x) => x,
        Value::Int(i) => i as f64,
    }
}

/// The dimensions of an operand.
pub(crate) struct Sizes(Vec<usize>);

impl Sizes {
    fn elements(&self) -> usize {
        self.0.iter().product()
    }
}

fn dims(rows: usize, columns: usize) -> Dims {
    Dims { rows, columns, inner: 0, blocks: BLOCKS }
}

/// What the memory of the result holds before the launch.
#[derive(Clone, Copy)]
enum Start {
    /// What this operand holds.
    Operand(usize),
    /// Bytes of 0xff in this shape, so that an element that is not written shows.
    Unset(fn(&[Sizes]) -> Vec<usize>),
}

/// How an operation is launched on tensors.
#[derive(Clone, Copy)]
struct Launching {
    load: Load,
    dims: fn(&[Sizes]) -> Dims,
    start: Start,
}

impl Launching {
    fn new(load: Load, dims: fn(&[Sizes]) -> Dims, start: Start) -> Self {
        Self { load, dims, start }
    }

    fn run(&self, side: Side, operands: &[Tensor]) -> Result<Tensor> {
        let operands = operands.iter().map(Tensor::contiguous).collect::<Result<Vec<_>>>()?;
        let sizes: Vec<Sizes> = operands.iter().map(|operand| Sizes(operand.dims().to_vec())).collect();
        let dims = (self.dims)(&sizes);
        let mut result = match self.start {
            Start::Operand(index) => operands[index].copy()?,
            Start::Unset(shape) => {
                let shape = shape(&sizes);
                let bytes = vec![0xff; shape.iter().product::<usize>() * operands[0].dtype().size_in_bytes()];
                Tensor::from_bytes(&bytes, operands[0].dtype(), shape.as_slice(), &operands[0].device())?
            }
        };
        result.inplace_op1(&Launch { load: self.load, side, dims, operands: &operands })?;
        Ok(result)
    }
}

/// A launch that writes to a tensor.
struct Launch<'a> {
    load: Load,
    side: Side,
    dims: Dims,
    operands: &'a [Tensor],
}

impl InplaceOp1 for Launch<'_> {
    fn name(&self) -> &'static str {
        "twins"
    }

    fn hip_fwd(&self, storage: &mut HipStorage, layout: &Strides) -> Result<()> {
        let device = storage.device().clone();
        let stream = device.stream();
        let views = self.operands.iter().map(|operand| match operand.storage() {
            Storage::Hip(storage) => {
                let bytes = operand.elem_count() * operand.dtype().size_in_bytes();
                Ok(storage.view_from(operand.layout().offset())?.slice(..bytes)?)
            }
            _ => Err(tensor_core::Error::new(
                "twins",
                ErrorKind::Argument { what: "an operand is on the CPU".into() },
            )),
        });
        let views = views.collect::<Result<Vec<_>>>()?;
        let bytes = layout.dims().iter().product::<usize>() * storage.dtype().size_in_bytes();
        let target = storage.view_from_mut(layout.offset())?.into_slice(..bytes)?;
        let run: Run = (self.load)(self.side, stream.device(), self.dims)?;
        Ok(run(stream, &views, target)?)
    }
}
