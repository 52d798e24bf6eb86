//! How far both sides are from the exact product or convolution, beside what sums of `f32`, inputs of tf32 and sums of `f16` give.

use candle_core::{DType, Device, Result, Tensor};
use half::{bf16, f16};

use crate::rows::{Call, Row};

/// Elements of a result that are computed exactly.
const LOOKED_AT: usize = 2048;

/// The largest differences of a row, divided by the largest exact number.
pub struct Accuracy {
    pub ours: f64,
    pub cuda: f64,
    /// No sum of `f32`, in any order and rounded to the dtype, is farther off.
    pub bound: f64,
    /// Sums of `f32`, one term after the other, rounded to the dtype.
    pub single: f64,
    /// Exact sums of products of numbers rounded to tf32: of `f32` alone, the other types have no more digits.
    pub tf32: Option<f64>,
    /// Sums of `f16`, one term after the other: of `f16` alone.
    pub half: Option<f64>,
}

/// Looks at some elements of a row's result on both devices.
pub fn of(row: &Row, hip: &Device, cuda: &Device) -> Result<Accuracy> {
    let host = row.operands()?;
    let on = |device: &Device| -> Result<Vec<f64>> {
        let operands = host.iter().map(|x| x.to_device(device)).collect::<Result<Vec<_>>>()?;
        row.call(&operands)?.flatten_all()?.to_device(&Device::Cpu)?.to_dtype(DType::F64)?.to_vec1()
    };
    let (ours, cuda) = (on(hip)?, on(cuda)?);
    let terms = Terms::new(row, &host)?;
    let mut worst = Accuracy {
        ours: 0.0,
        cuda: 0.0,
        bound: 0.0,
        single: 0.0,
        tf32: (row.dtype == DType::F32).then_some(0.0),
        half: (row.dtype == DType::F16).then_some(0.0),
    };
    let mut largest = 0f64;
    for index in looked_at(ours.len()) {
        let pairs = terms.of(index);
        // Products of f32 are exact in f64, and sums of f64 are off by less than 1e-12 of the terms.
        let exact: f64 = pairs.iter().map(|(a, b)| a * b).sum();
        let away = |worst: &mut f64, got: f64| *worst = worst.max(distance(got, exact));
        largest = largest.max(exact.abs());
        away(&mut worst.ours, ours[index]);
        away(&mut worst.cuda, cuda[index]);
        let single = pairs.iter().fold(0f32, |sum, (a, b)| (*a as f32).mul_add(*b as f32, sum));
        away(&mut worst.single, rounded(f64::from(single), row.dtype));
        worst.bound = worst.bound.max(bound(&pairs, row.dtype));
        if let Some(worst) = &mut worst.tf32 {
            away(worst, pairs.iter().map(|(a, b)| tf32(*a) * tf32(*b)).sum());
        }
        if let Some(worst) = &mut worst.half {
            let sum = pairs.iter().fold(f16::ZERO, |sum, (a, b)| f16::from_f64(a * b + sum.to_f64()));
            away(worst, sum.to_f64());
        }
    }
    for one in [&mut worst.ours, &mut worst.cuda, &mut worst.bound, &mut worst.single] {
        *one /= largest;
    }
    for one in [&mut worst.tf32, &mut worst.half].into_iter().flatten() {
        *one /= largest;
    }
    Ok(worst)
}

/// Indices spread over a result, at most [`LOOKED_AT`].
fn looked_at(length: usize) -> impl Iterator<Item = usize> {
    // No length is a multiple of this prime, so no index comes twice.
    const STEP: usize = 2_654_435_761;
    (0..length.min(LOOKED_AT)).map(move |i| i * STEP % length)
}

/// NaN is farther off than every number.
fn distance(got: f64, exact: f64) -> f64 {
    if got.is_nan() { f64::INFINITY } else { (got - exact).abs() }
}

/// How far a sum of `f32` of these products is off at most, whatever the order: each product takes part in at most as many roundings as
/// there are terms, and each rounding is off by at most u = 2^-24 of what it rounds. The result is rounded once more to the dtype.
fn bound(pairs: &[(f64, f64)], dtype: DType) -> f64 {
    let magnitude: f64 = pairs.iter().map(|(a, b)| (a * b).abs()).sum();
    let roundings = pairs.len() as f64 * 2f64.powi(-24);
    let sum = roundings / (1.0 - roundings) * magnitude;
    let last = match dtype {
        DType::F16 => 2f64.powi(-11),
        DType::BF16 => 2f64.powi(-8),
        _ => 0.0,
    };
    let exact = pairs.iter().map(|(a, b)| a * b).sum::<f64>().abs();
    sum + (exact + sum) * last
}

/// The nearest number of the dtype.
fn rounded(x: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f16::from_f64(x).to_f64(),
        DType::BF16 => bf16::from_f64(x).to_f64(),
        DType::F32 => f64::from(x as f32),
        _ => x,
    }
}

/// The nearest number with tf32's 11 significant bits; ties go to the even one.
fn tf32(x: f64) -> f64 {
    let bits = (x as f32).to_bits();
    let odd = bits >> 13 & 1;
    f64::from(f32::from_bits((bits + 0xfff + odd) & !0x1fff))
}

/// The products that an element of a result is the sum of.
struct Terms {
    call: Call,
    operands: [Numbers; 2],
}

struct Numbers {
    dims: Vec<usize>,
    elements: Vec<f64>,
}

impl Terms {
    fn new(row: &Row, operands: &[Tensor]) -> Result<Terms> {
        let numbers = |x: &Tensor| -> Result<Numbers> {
            Ok(Numbers {
                dims: x.dims().to_vec(),
                elements: x.flatten_all()?.to_dtype(DType::F64)?.to_vec1()?,
            })
        };
        Ok(Terms { call: row.call, operands: [numbers(&operands[0])?, numbers(&operands[1])?] })
    }

    /// The factors of the products for the element at `index`, row-major.
    fn of(&self, index: usize) -> Vec<(f64, f64)> {
        match self.call {
            Call::Conv2d { padding, stride } => self.convolved(index, padding, stride),
            _ => self.multiplied(index),
        }
    }

    fn multiplied(&self, index: usize) -> Vec<(f64, f64)> {
        let [a, b] = &self.operands;
        let rank = a.dims.len();
        let (m, k, n) = (a.dims[rank - 2], a.dims[rank - 1], b.dims[rank - 1]);
        let (batch, row, column) = (index / (m * n), index / n % m, index % n);
        let factor = |i| (a.elements[(batch * m + row) * k + i], b.elements[(batch * k + i) * n + column]);
        (0..k).map(factor).collect()
    }

    fn convolved(&self, index: usize, padding: usize, stride: usize) -> Vec<(f64, f64)> {
        let [x, kernel] = &self.operands;
        let [_, channels, height, width] = x.dims[..] else { panic!("images have four axes") };
        let [outputs, _, kernel_height, kernel_width] = kernel.dims[..] else {
            panic!("kernels have four axes")
        };
        let out = |length: usize, kernel: usize| (length + 2 * padding - kernel) / stride + 1;
        let (rows, columns) = (out(height, kernel_height), out(width, kernel_width));
        let (image, output) = (index / (outputs * rows * columns), index / (rows * columns) % outputs);
        let (row, column) = (index / columns % rows, index % columns);
        let mut pairs = Vec::with_capacity(channels * kernel_height * kernel_width);
        for channel in 0..channels {
            for i in 0..kernel_height {
                for j in 0..kernel_width {
                    let (y, z) = (row * stride + i, column * stride + j);
                    let inside = |at: usize, length: usize| (padding..padding + length).contains(&at);
                    if inside(y, height) && inside(z, width) {
                        let at = ((image * channels + channel) * height + y - padding) * width + z - padding;
                        let of_kernel =
                            ((output * channels + channel) * kernel_height + i) * kernel_width + j;
                        pairs.push((x.elements[at], kernel.elements[of_kernel]));
                    }
                }
            }
        }
        pairs
    }
}
