//! Products of activations with quantized numbers, and how far a device's may be off.
//!
//! A device multiplies few rows of activations as integers. Of every 32 activations, whose largest magnitude is m, it takes
//! the multiples of a step s = m / 127 that are nearest. Integers are summed exactly, and the sums of groups are scaled and
//! added in `f32`. In units u = 2^-24 of relative rounding errors:
//! - An activation becomes s · q. Rounding s, its inverse and the quotient (3 u of at most 127 steps) moves q by less than
//!   0.0001. So s · q differs from the activation by 0.5001 · s at most, which is multiplied by the weight.
//! - A term passes through at most 17 + k / 32 roundings: 4 of a group's product, one where its weight is rounded to `f32`,
//!   one addition for each group of 32 if one lane adds them all, and 12 where 32 lanes and 8 teams of lanes are joined.
//!   They are relative to (|scale · integer| + |base|) · |s · q|, because a device multiplies scale · integer and the base
//!   separately.
//! - A product below the normal numbers of `f32` has an absolute error of at most half the smallest subnormal.
//!
//! More rows are multiplied by the numbers themselves. A device may round these to the dtype of the activations first: a
//! relative error of half an ulp of 1, or half the smallest subnormal. Then it is a matrix product as any other.

use crate::ops::sums;
use crate::round::{self, ulp};
use crate::{DType, Expected, Judge, bounds};

use super::number::Number;

/// Activations that share a step.
const SHARED: usize = 32;

/// How a device multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// By activations that are rounded to 8 bits.
    Rounded,
    /// By weights that may be rounded to the activations' dtype.
    Plain,
}

/// Rows of weights, or of activations.
pub(super) struct Rows {
    /// Numbers in a row.
    width: usize,
    values: Vec<f64>,
    /// For weights |scale · integer| + |base|. For activations the largest magnitude among the 32 of each.
    beside: Vec<f64>,
}

impl Rows {
    pub(super) fn of_weights(numbers: &[Number], width: usize) -> Rows {
        let values = numbers.iter().map(|number| number.value()).collect();
        let beside = numbers.iter().map(|number| number.magnitude()).collect();
        Rows { width, values, beside }
    }

    /// `width` is a multiple of 32.
    pub(super) fn of_activations(values: &[f64], width: usize) -> Rows {
        let largest = |group: &[f64]| group.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let beside = values.chunks(SHARED).flat_map(|group| vec![largest(group); group.len()]).collect();
        Rows { width, values: values.to_vec(), beside }
    }

    /// Values of a row, and what is beside them.
    fn row(&self, row: usize) -> (&[f64], &[f64]) {
        let all = row * self.width..(row + 1) * self.width;
        (&self.values[all.clone()], &self.beside[all])
    }
}

/// The rule for products in `dtype` of `width` terms.
pub(super) fn judge(manner: Manner, dtype: DType, width: usize) -> Judge {
    Judge::Within { ulps: 1.0, t: factor(manner, dtype, width) }
}

/// The factor of [`Expected::scale`].
fn factor(manner: Manner, dtype: DType, width: usize) -> f64 {
    match manner {
        Manner::Rounded => 0.5001 / 127.0,
        Manner::Plain => rounding(dtype) + bounds::sum_tolerance(dtype, width),
    }
}

/// The relative error of a weight that is rounded from `f32` to `dtype`.
fn rounding(dtype: DType) -> f64 {
    if dtype == DType::F32 { 0.0 } else { 0.5 * ulp(dtype, 1.0) }
}

/// The product of a row of activations with a row of weights.
pub(super) fn expected(
    manner: Manner,
    dtype: DType,
    activations: (&Rows, usize),
    weights: (&Rows, usize),
) -> Expected {
    let ((x, most), (w, size)) = (activations.0.row(activations.1), weights.0.row(weights.1));
    let mut expected = sums::expected(dtype, 1.0, 2, |factor, sum| sum.add_products_of_singles(x, w, factor));
    let width = x.len();
    let t = factor(manner, dtype, width);
    let lost = match manner {
        Manner::Rounded => {
            let single = 0.5 * ulp(DType::F32, 1.0);
            let moved: f64 = most.iter().zip(w).map(|(most, w)| most * w.abs()).sum();
            let parts = x.iter().zip(most).zip(size).map(|((x, most), size)| (x.abs() + most / 254.0) * size);
            expected.scale = moved + (17.0 + width as f64 / 32.0) * single / t * parts.sum::<f64>();
            0.0
        }
        Manner::Plain => {
            // A weight beyond the dtype's largest number becomes infinite.
            expected.overflow |= w.iter().any(|w| w.abs() > round::max_value(dtype));
            0.5 * ulp(dtype, 0.0) * x.iter().map(|x| x.abs()).sum::<f64>()
        }
    };
    expected.scale += (lost + width as f64 * ulp(DType::F32, 0.0)) / t;
    expected
}
