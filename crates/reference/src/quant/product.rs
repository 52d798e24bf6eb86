//! Products of activations with quantized numbers, and how far a device's may be off.
//!
//! A device multiplies activations as integers. Of those that share a step, whose largest magnitude is m, it takes the
//! multiples of the step s = m / 127 that are nearest. At most as many share a step as are in a block: 32 or 256. Integers are
//! summed exactly, and the sums of groups are scaled and added in `f32`. In units u = 2^-24 of relative rounding errors:
//! - An activation becomes s · q. Rounding s, its inverse and the quotient (3 u of at most 127 steps) moves q by less than
//!   0.0001. So s · q differs from the activation by 0.5001 · s at most, which is multiplied by the weight.
//! - A term passes through at most 17 + k / 8 roundings: 4 of a group's product, one where its weight is rounded to `f32`,
//!   up to four additions for each group of 32 if one lane adds them all, and 12 where 32 lanes and 8 teams of lanes are
//!   joined. They are relative to the weight's magnitude times |s · q|. The magnitude is |scale · integer| + |base|, because a
//!   device multiplies the two separately. In formats whose integers are stored with a zero point z it is
//!   |scale| · (|integer + z| + z), because a device may multiply the stored integer and subtract z · Σq afterwards.
//! - A device may round the step of 32 activations, and s · Σq of them for the bases, to `f16`, as ggml does: by a relative
//!   error of 2^-11, or by 2^-25 below the normal numbers of `f16`. The first is relative to the same magnitudes, the second
//!   is multiplied by at most 127 times that magnitude.
//! - Without that, s is 0 where 127 / m is beyond the largest `f32`: activations of at most 127 · 2^-128 are lost.
//! - A product below the normal numbers of `f32` has an absolute error of at most half the smallest subnormal.
//!
//! A device may multiply more than eight rows by the numbers themselves instead. It may round these to the dtype of the
//! activations first: a relative error of half an ulp of 1, or half the smallest subnormal. Then it is a matrix product as any
//! other. The larger bound holds.

use crate::ops::sums;
use crate::round::{self, ulp};
use crate::{DType, Expected, Judge, bounds};

use super::number::Number;

/// How a device multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// By activations that are rounded to 8 bits.
    Rounded,
    /// By these, or by weights that may be rounded to the activations' dtype.
    Either,
}

/// Rows of weights, or of activations.
pub(super) struct Rows {
    /// Numbers in a row.
    width: usize,
    values: Vec<f64>,
    /// For weights [`Number::magnitude`]. For activations the largest magnitude among those that may share
    /// a step with each.
    beside: Vec<f64>,
}

impl Rows {
    pub(super) fn of_weights(numbers: &[Number], width: usize) -> Rows {
        let values = numbers.iter().map(|number| number.value()).collect();
        let beside = numbers.iter().map(|number| number.magnitude()).collect();
        Rows { width, values, beside }
    }

    /// `width` is a multiple of `shared`, the most activations that share a step.
    pub(super) fn of_activations(values: &[f64], width: usize, shared: usize) -> Rows {
        let largest = |group: &[f64]| group.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let beside = values.chunks(shared).flat_map(|group| vec![largest(group); group.len()]).collect();
        Rows { width, values: values.to_vec(), beside }
    }

    /// Values of a row, and what is beside them.
    fn row(&self, row: usize) -> (&[f64], &[f64]) {
        let all = row * self.width..(row + 1) * self.width;
        (&self.values[all.clone()], &self.beside[all])
    }
}

/// The rule for products: [`Expected::scale`] is how far they may be off.
pub(super) const JUDGE: Judge = Judge::Within { ulps: 1.0, t: 1.0 };

/// The product in `dtype` of a row of activations with a row of weights in blocks of `length` numbers.
pub(super) fn expected(
    manner: Manner,
    dtype: DType,
    length: usize,
    activations: (&Rows, usize),
    weights: (&Rows, usize),
) -> Expected {
    let ((x, most), (w, size)) = (activations.0.row(activations.1), weights.0.row(weights.1));
    let mut expected = sums::expected(dtype, 1.0, 2, |factor, sum| sum.add_products_of_singles(x, w, factor));
    // Σ |w · x|, which the bound of the sum is relative to.
    let terms = expected.scale;
    expected.scale = rounded(length, (x, most), (w, size));
    if manner == Manner::Either {
        // A weight beyond the dtype's largest number becomes infinite.
        expected.overflow |= w.iter().any(|w| w.abs() > round::max_value(dtype));
        let relative = rounding(dtype) + bounds::sum_tolerance(dtype, x.len());
        let lost = 0.5 * ulp(dtype, 0.0) * x.iter().map(|x| x.abs()).sum::<f64>();
        expected.scale = expected.scale.max(relative * terms + lost);
    }
    expected.scale += x.len() as f64 * ulp(DType::F32, 0.0);
    expected
}

/// How far a product of rounded activations may be off, without that of its subnormal terms.
fn rounded(length: usize, (x, most): (&[f64], &[f64]), (w, size): (&[f64], &[f64])) -> f64 {
    let single = 0.5 * ulp(DType::F32, 1.0);
    let (half, smallest) = match length {
        32 => (0.5 * ulp(DType::F16, 1.0), 0.5 * ulp(DType::F16, 0.0)),
        _ => (0.0, round::power_of_two(-128)),
    };
    let moved: f64 = most.iter().zip(w).map(|(most, w)| 0.5001 / 127.0 * most * w.abs()).sum();
    let terms: f64 =
        x.iter().zip(most).zip(size).map(|((x, most), size)| (x.abs() + most / 253.9) * size).sum();
    let relative = half + (17.0 + x.len() as f64 / 8.0) * single;
    moved + relative * terms + 127.0 * smallest * size.iter().sum::<f64>()
}

/// The relative error of a weight that is rounded from `f32` to `dtype`.
fn rounding(dtype: DType) -> f64 {
    if dtype == DType::F32 { 0.0 } else { 0.5 * ulp(dtype, 1.0) }
}
