//! Rows of activations as integers of 8 bits, for products with unpacked weights.

use crate::cpu::chunks::fill_chunks;
use crate::cpu::vector::vectorised;
use crate::quant::Row;
use crate::quant::arrays::array;

/// Activations that share a scale.
const SHARED: usize = 32;
/// Groups whose products are added in parallel lanes.
const LANES: usize = 8;

/// A row of activations: in each 32 of them x ≈ s · q, with s = max |x| / 127 and integers q. As ggml's `q8_1`, but with
/// scales and sums of 32 bits.
#[derive(Clone, Default)]
pub(super) struct Activations {
    numbers: Vec<i8>,
    /// One for each group of the weights, of 16 or 32.
    scales: Vec<f32>,
    /// s · Σq for each group.
    sums: Vec<f32>,
}

impl Activations {
    /// The rows of a matrix with `width` columns, for weights in groups of `group`.
    pub(super) fn of_rows(values: &[f32], width: usize, group: usize) -> Vec<Activations> {
        let mut rows = vec![Activations::default(); values.len() / width];
        fill_chunks(&mut rows, 1, 8 * width, &|start, row: &mut [Activations], (): &mut ()| {
            row[0] = Activations::new(&values[start * width..][..width], group);
        });
        rows
    }

    fn new(values: &[f32], group: usize) -> Activations {
        let groups = values.len() / group;
        let mut row = Activations {
            numbers: vec![0; values.len()],
            scales: vec![0.0; groups],
            sums: vec![0.0; groups],
        };
        let Activations { numbers, scales, sums } = &mut row;
        let parts = numbers.chunks_exact_mut(SHARED).zip(values.chunks_exact(SHARED));
        let groups = scales.chunks_exact_mut(SHARED / group).zip(sums.chunks_exact_mut(SHARED / group));
        vectorised(
            #[inline(always)]
            || {
                for ((numbers, values), (scales, sums)) in parts.zip(groups) {
                    let scale = quantize(values, numbers);
                    scales.fill(scale);
                    for (sum, numbers) in sums.iter_mut().zip(numbers.chunks_exact(group)) {
                        *sum = scale * numbers.iter().map(|q| i32::from(*q)).sum::<i32>() as f32;
                    }
                }
            },
        );
        row
    }

    /// The product with a row of weights: Σ over groups of (scale · s) · Σ(number · q) − min · (s · Σq).
    pub(super) fn dot(&self, weights: &Row) -> f32 {
        vectorised(
            #[inline(always)]
            || match weights.group() {
                16 => self.dot_groups::<16>(weights),
                _ => self.dot_groups::<32>(weights),
            },
        )
    }

    #[inline(always)]
    fn dot_groups<const GROUP: usize>(&self, weights: &Row) -> f32 {
        let mut lanes = [0f32; LANES];
        let (numbers, rest) = weights.numbers().as_chunks::<GROUP>().0.as_chunks::<LANES>();
        let (others, other_rest) = self.numbers.as_chunks::<GROUP>().0.as_chunks::<LANES>();
        let (scales, scales_rest) = weights.scales().as_chunks::<LANES>();
        let (other_scales, other_scales_rest) = self.scales.as_chunks::<LANES>();
        for (((numbers, others), scales), other_scales) in
            numbers.iter().zip(others).zip(scales).zip(other_scales)
        {
            let sums: [i32; LANES] = array(|lane| integer_dot(&numbers[lane], &others[lane]));
            for lane in 0..LANES {
                lanes[lane] += sums[lane] as f32 * (scales[lane] * other_scales[lane]);
            }
        }
        for lane in 0..rest.len() {
            let sum = integer_dot(&rest[lane], &other_rest[lane]);
            lanes[lane] += sum as f32 * (scales_rest[lane] * other_scales_rest[lane]);
        }
        lanes.iter().sum::<f32>() - dot_of_floats(weights.mins(), &self.sums)
    }
}

/// Writes the integers of some activations, and returns their scale: NaN if one of them is, infinite if one is.
#[inline(always)]
fn quantize(values: &[f32], numbers: &mut [i8]) -> f32 {
    // Of the bits without the sign, those of NaN are the largest, then those of infinity.
    let most = values.iter().map(|x| x.to_bits() & 0x7fff_ffff).max().unwrap_or(0);
    let scale = f32::from_bits(most) / 127.0;
    let inverse = if scale == 0.0 { 0.0 } else { 1.0 / scale };
    for (number, x) in numbers.iter_mut().zip(values) {
        *number = (x * inverse).round_ties_even() as i8;
    }
    scale
}

#[inline(always)]
fn integer_dot<const N: usize>(x: &[i8; N], y: &[i8; N]) -> i32 {
    let mut sum = 0;
    for i in 0..N {
        sum += i32::from(x[i]) * i32::from(y[i]);
    }
    sum
}

/// The product of as many numbers as the shorter slice has.
#[inline(always)]
fn dot_of_floats(x: &[f32], y: &[f32]) -> f32 {
    let mut lanes = [0f32; LANES];
    let (x, x_rest) = x.as_chunks::<LANES>();
    let (y, y_rest) = y.as_chunks::<LANES>();
    for (x, y) in x.iter().zip(y) {
        for lane in 0..LANES {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    lanes.iter().sum::<f32>() + rest
}
