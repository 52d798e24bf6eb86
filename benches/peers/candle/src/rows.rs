//! The rows: the same operation on the same numbers in both libraries.

use candle_core as candle;
use candle_nn::ops as nn;
use tensor_core as tc;

/// An operation on both sides.
pub struct Row {
    pub operation: &'static str,
    pub dtype: &'static str,
    pub shape: String,
    pub ours: Box<dyn FnMut()>,
    pub theirs: Box<dyn FnMut()>,
    /// Both results; candle's is an error if it does not have the operation for the dtype.
    pub(crate) results: Box<dyn Fn() -> (Vec<f32>, candle::Result<Vec<f32>>)>,
    /// What both are held against, if not against each other.
    pub(crate) truth: Option<Truth>,
}

/// What a check has found.
pub enum Check {
    Passed,
    /// Ours is right, candle's is not, by as much as is said.
    CandleIsOff(String),
    CandleHasNone,
}

/// The same numbers in both libraries.
#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) ours: tc::Tensor,
    pub(crate) theirs: candle::Tensor,
}

type Ours = fn(&[tc::Tensor]) -> tc::Result<tc::Tensor>;
type Theirs = fn(&[candle::Tensor]) -> candle::Result<candle::Tensor>;

const DTYPES: [(&str, tc::DType, candle::DType); 3] = [
    ("f32", tc::DType::F32, candle::DType::F32),
    ("f16", tc::DType::F16, candle::DType::F16),
    ("bf16", tc::DType::BF16, candle::DType::BF16),
];

impl Row {
    /// As filters see it.
    pub fn name(&self) -> String {
        format!("{}/{}/{}", self.operation, self.dtype, self.shape)
    }

    /// Whether both give the same within a few roundings of the dtype, or ours the truth within one.
    pub fn check(&self) -> Result<Check, String> {
        let (ours, theirs) = (self.results)();
        let Ok(theirs) = theirs else { return Ok(Check::CandleHasNone) };
        if let Some(truth) = &self.truth {
            let step = match self.dtype {
                "f32" => 2f64.powi(-24),
                "f16" => 2f64.powi(-11),
                _ => 2f64.powi(-8),
            };
            return match (truth.excess(&ours, step), truth.excess(&theirs, step)) {
                (None, None) => Ok(Check::Passed),
                (None, Some(off)) => Ok(Check::CandleIsOff(off)),
                (Some(off), _) => Err(format!("{}: ours is {off}", self.name())),
            };
        }
        let step = match self.dtype {
            "f32" => 1e-5,
            "f16" => 4e-3,
            _ => 3e-2,
        };
        let largest = theirs.iter().fold(1.0f32, |most, x| most.max(x.abs()));
        let apart = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        if ours.len() != theirs.len() || !(apart <= step * largest) {
            return Err(format!(
                "{}: {} and {} elements, {apart} apart",
                self.name(),
                ours.len(),
                theirs.len()
            ));
        }
        Ok(Check::Passed)
    }
}

/// Sums of the numbers that both libraries were given, and of their absolute values, in `f64`.
pub(crate) struct Truth {
    sums: Vec<(f64, f64)>,
}

impl Truth {
    /// Of a matrix, along `axis`.
    fn of_sums(matrix: &tc::Tensor, axis: usize) -> Truth {
        let lines = if axis == 0 { matrix.t().expect("a matrix") } else { matrix.clone() };
        let length = lines.dims()[1];
        let lines = lines.to_dtype(tc::DType::F32).and_then(|lines| lines.to_vec::<f32>()).expect("numbers");
        let sums = lines.chunks(length).map(|line| {
            line.iter().map(|x| f64::from(*x)).fold((0.0, 0.0), |(sum, all), x| (sum + x, all + x.abs()))
        });
        Truth { sums: sums.collect() }
    }

    /// By how much `results` are off, if that is more than a rounding to the dtype, `step` of the sum, and for each element 32 roundings
    /// of `f32` on its way into the sum allow.
    fn excess(&self, results: &[f32], step: f64) -> Option<String> {
        if results.len() != self.sums.len() {
            return Some(format!("{} elements, not {}", results.len(), self.sums.len()));
        }
        let wrong = |(result, (sum, all)): (&f32, &(f64, f64))| {
            let off = (f64::from(*result) - sum).abs();
            // Negated, so that NaN is wrong.
            (!(off <= step * sum.abs() + 32.0 * 2f64.powi(-24) * all)).then_some(off)
        };
        let worst = results.iter().zip(&self.sums).filter_map(wrong).max_by(f64::total_cmp)?;
        Some(format!("{worst:.3} off the sum in f64"))
    }
}

/// Numbers in ±2, always the same.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 22) as f32 - 2.0
    };
    (0..count).map(|_| next()).collect()
}

pub(crate) fn floats(shape: &[usize], seed: u32, (_, ours, theirs): (&str, tc::DType, candle::DType)) -> Pair {
    let numbers = numbers(shape.iter().product(), seed);
    let make = || tc::Tensor::from_slice(&numbers, shape, &tc::Device::Cpu)?.to_dtype(ours);
    let ours = make().expect("a tensor");
    let there = candle::Tensor::from_slice(&numbers, shape, &candle::Device::Cpu);
    Pair { ours, theirs: there.and_then(|t| t.to_dtype(theirs)).expect("a tensor") }
}

/// Numbers below `end`.
fn ids(shape: &[usize], end: u32) -> Pair {
    let count: usize = shape.iter().product();
    let ids: Vec<u32> = (0..count as u32).map(|i| i.wrapping_mul(2_654_435_761) % end).collect();
    Pair {
        ours: tc::Tensor::from_slice(&ids, shape, &tc::Device::Cpu).expect("a tensor"),
        theirs: candle::Tensor::from_slice(&ids, shape, &candle::Device::Cpu).expect("a tensor"),
    }
}

fn row(operation: &'static str, dtype: &'static str, operands: Vec<Pair>, ours: Ours, theirs: Theirs) -> Row {
    let shapes: Vec<String> = operands.iter().map(|pair| format!("{:?}", pair.theirs.dims())).collect();
    let shape = shapes.join("x").replace(' ', "");
    let (a, b): (Vec<_>, Vec<_>) = operands.into_iter().map(|pair| (pair.ours, pair.theirs)).unzip();
    let (a2, b2) = (a.clone(), b.clone());
    // Candle's order of equal elements is any: what the positions name is compared.
    let positions = operation == "argsort";
    let ours_once = move || {
        let result = ours(&a2)?;
        let result = if positions { a2[0].gather(&result, 1)? } else { result };
        result.to_dtype(tc::DType::F32)?.to_vec()
    };
    let theirs_once = move || {
        let result = theirs(&b2)?;
        let result = if positions { b2[0].gather(&result, 1)? } else { result };
        result.to_dtype(candle::DType::F32)?.flatten_all()?.to_vec1()
    };
    let results = move || (ours_once().expect("our result"), theirs_once());
    Row {
        operation,
        dtype,
        shape,
        ours: Box::new(move || drop(std::hint::black_box(ours(&a).expect("our operation")))),
        theirs: Box::new(move || drop(std::hint::black_box(theirs(&b).expect("candle's operation")))),
        results: Box::new(results),
        truth: None,
    }
}

/// A sum of a matrix along `axis`. Candle adds 16-bit floats up in 16 bits, so results are held against sums in `f64`.
fn sum(
    operation: &'static str,
    dtype: &'static str,
    x: &Pair,
    axis: usize,
    ours: Ours,
    theirs: Theirs,
) -> Row {
    let truth = Truth::of_sums(&x.ours, axis);
    Row { truth: Some(truth), ..row(operation, dtype, vec![x.clone()], ours, theirs) }
}

/// Every row, dtype by dtype.
pub fn all() -> Vec<Row> {
    DTYPES
        .into_iter()
        .flat_map(|dtype| {
            [elementwise(dtype), rows_and_columns(dtype), moves(dtype), products(dtype)].into_iter().flatten()
        })
        .chain(crate::quantized::rows())
        .collect()
}

type DTypes = (&'static str, tc::DType, candle::DType);

/// Small, and larger than the caches.
const SIZES: [[usize; 2]; 2] = [[64, 64], [2048, 2048]];

fn elementwise(dtype: DTypes) -> Vec<Row> {
    let mut rows = Vec::new();
    for [m, n] in SIZES {
        let x = floats(&[m, n], 1, dtype);
        let pair = || vec![x.clone(), floats(&[m, n], 2, dtype)];
        let with_row = || vec![x.clone(), floats(&[n], 3, dtype)];
        let with_column = || vec![x.clone(), floats(&[m, 1], 4, dtype)];
        let alone = || vec![x.clone()];
        rows.extend([
            row("add", dtype.0, pair(), |t| t[0].add(&t[1]), |t| &t[0] + &t[1]),
            row("add_row", dtype.0, with_row(), |t| t[0].add(&t[1]), |t| t[0].broadcast_add(&t[1])),
            row("add_column", dtype.0, with_column(), |t| t[0].add(&t[1]), |t| t[0].broadcast_add(&t[1])),
            row("exp", dtype.0, alone(), |t| t[0].exp(), |t| t[0].exp()),
            row("gelu", dtype.0, alone(), |t| t[0].gelu(), |t| t[0].gelu()),
        ]);
    }
    rows
}

fn rows_and_columns(dtype: DTypes) -> Vec<Row> {
    let mut rows = Vec::new();
    for [m, n] in SIZES {
        let x = floats(&[m, n], 5, dtype);
        let (weight, bias) = (floats(&[n], 6, dtype), floats(&[n], 7, dtype));
        let alone = || vec![x.clone()];
        rows.extend([
            sum("sum_last", dtype.0, &x, 1, |t| t[0].sum(1), |t| t[0].sum(1)),
            sum("sum_first", dtype.0, &x, 0, |t| t[0].sum(0), |t| t[0].sum(0)),
            row("softmax", dtype.0, alone(), |t| t[0].softmax(1), |t| nn::softmax_last_dim(&t[0])),
            row(
                "layer_norm",
                dtype.0,
                vec![x.clone(), weight.clone(), bias],
                |t| t[0].layer_norm(Some(&t[1]), Some(&t[2]), 1e-5),
                |t| nn::layer_norm(&t[0], &t[1], &t[2], 1e-5),
            ),
            row(
                "rms_norm",
                dtype.0,
                vec![x.clone(), weight],
                |t| t[0].rms_norm(Some(&t[1]), 1e-5),
                |t| nn::rms_norm(&t[0], &t[1], 1e-5),
            ),
        ]);
    }
    rows
}

fn moves(dtype: DTypes) -> Vec<Row> {
    let mut rows = Vec::new();
    for [m, n] in SIZES {
        let x = floats(&[m, n], 8, dtype);
        rows.extend([
            row(
                "transpose",
                dtype.0,
                vec![x.clone()],
                |t| t[0].t()?.contiguous(),
                |t| t[0].t()?.contiguous(),
            ),
            row(
                "index_select",
                dtype.0,
                vec![x.clone(), ids(&[m], m as u32)],
                |t| t[0].index_select(&t[1], 0),
                |t| t[0].index_select(&t[1], 0),
            ),
            row(
                "gather",
                dtype.0,
                vec![x.clone(), ids(&[m, n], n as u32)],
                |t| t[0].gather(&t[1], 1),
                |t| t[0].gather(&t[1], 1),
            ),
            row(
                "argsort",
                dtype.0,
                vec![x],
                |t| t[0].arg_sort_last_dim(true),
                |t| t[0].arg_sort_last_dim(true),
            ),
        ]);
    }
    rows
}

fn products(dtype: DTypes) -> Vec<Row> {
    let product = |a: &[usize], b: &[usize]| vec![floats(a, 9, dtype), floats(b, 10, dtype)];
    let matmul =
        |name, operands| row(name, dtype.0, operands, |t| t[0].matmul(&t[1]), |t| t[0].matmul(&t[1]));
    vec![
        matmul("matmul", product(&[1024, 1024], &[1024, 1024])),
        row(
            "matmul_t",
            dtype.0,
            product(&[256, 512], &[1024, 512]),
            |t| t[0].matmul(&t[1].t()?),
            |t| t[0].matmul(&t[1].t()?),
        ),
        matmul("matmul_batched", product(&[16, 256, 128], &[16, 128, 256])),
        row(
            "conv2d",
            dtype.0,
            product(&[4, 32, 56, 56], &[64, 32, 3, 3]),
            |t| t[0].conv2d(&t[1], 1, 1, 1, 1),
            |t| t[0].conv2d(&t[1], 1, 1, 1, 1),
        ),
        row(
            "max_pool2d",
            dtype.0,
            vec![floats(&[4, 64, 56, 56], 11, dtype)],
            |t| t[0].max_pool2d(2),
            |t| t[0].max_pool2d(2),
        ),
    ]
}
