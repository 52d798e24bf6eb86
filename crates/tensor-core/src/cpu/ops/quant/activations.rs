//! Activations as integers of 8 bits, rounded as ggml rounds them, so that models choose the tokens that its users get.

use half::f16;

use crate::cpu::chunks::fill_chunks;
use crate::cpu::vector::vectorised;
use crate::quant::block::Block;

/// Activations that share a scale: x ≈ scale · q, with integers q from −127 to 127.
pub(super) trait Part: Clone + Copy + Default + Send + Sync {
    /// How many they are.
    const LENGTH: usize;

    /// Rounds as many values, for weights of format `B`.
    fn new<B: Block>(values: &[f32]) -> Self;
}

/// As ggml's `q8_0` and `q8_1`.
#[derive(Clone, Copy, Default)]
pub(super) struct Part32 {
    /// Four integers of 8 bits in each, in the order of memory.
    pub(super) numbers: [i32; 8],
    /// An `f16`, unless that would be infinite, and so is `sum`.
    pub(super) scale: f32,
    /// scale · Σq, of the scale before its rounding.
    pub(super) sum: f32,
    /// Σq of each group of the weights, times the format's zero.
    pub(super) zeros: [i32; 2],
}

/// As ggml's `q8_K`. Its numbers begin with a line of the cache.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Part256 {
    /// As in [`Part32`].
    pub(super) numbers: [i32; 64],
    pub(super) scale: f32,
    /// Σq of each group of the weights, as pairs of 16 bits in the order of memory.
    pub(super) sums: [i32; 8],
}

impl Default for Part256 {
    fn default() -> Part256 {
        Part256 { numbers: [0; 64], scale: 0.0, sums: [0; 8] }
    }
}

impl Part for Part32 {
    const LENGTH: usize = 32;

    #[inline(always)]
    fn new<B: Block>(values: &[f32]) -> Part32 {
        let mut part = Part32::default();
        let numbers: &mut [i8] = bytemuck::cast_slice_mut(&mut part.numbers);
        let most = greatest(values);
        round(values, 127.0 / most, numbers);
        let mut sum = 0;
        for (zeros, numbers) in part.zeros.iter_mut().zip(numbers.chunks_exact(B::GROUP)) {
            let own = sum_of(numbers);
            (*zeros, sum) = (i32::from(B::ZERO) * own, sum + own);
        }
        let scale = most / 127.0;
        part.scale = to_half(scale);
        part.sum = to_half(scale * sum as f32);
        part
    }
}

impl Part for Part256 {
    const LENGTH: usize = 256;

    #[inline(always)]
    fn new<B: Block>(values: &[f32]) -> Part256 {
        let mut part = Part256::default();
        let numbers: &mut [i8] = bytemuck::cast_slice_mut(&mut part.numbers);
        let most = greatest(values);
        // ggml gives both the sign of the greatest value, which cancels.
        let inverse = 127.0 / most;
        round(values, inverse, numbers);
        let sums: &mut [i16] = bytemuck::cast_slice_mut(&mut part.sums);
        for (sum, numbers) in sums.iter_mut().zip(numbers.chunks_exact(B::GROUP)) {
            *sum = sum_of(numbers) as i16;
        }
        part.scale = if most == 0.0 { 0.0 } else { 1.0 / inverse };
        part
    }
}

/// The parts of `values`, whose rows have `width` numbers: first those of all rows, then the next ones of all rows.
pub(super) fn parts<B: Block, P: Part>(values: &[f32], width: usize) -> Vec<P> {
    let rows = values.len() / width;
    let mut parts = vec![P::default(); values.len() / P::LENGTH];
    fill_chunks(&mut parts, rows, 4 * P::LENGTH, &|start, parts: &mut [P], (): &mut ()| {
        let index = start / rows * P::LENGTH;
        vectorised(
            #[inline(always)]
            || {
                for (part, values) in parts.iter_mut().zip(values.chunks_exact(width)) {
                    *part = P::new::<B>(&values[index..][..P::LENGTH]);
                }
            },
        );
    });
    parts
}

/// The greatest magnitude; NaN if one value is, else infinite if one is.
#[inline(always)]
fn greatest(values: &[f32]) -> f32 {
    // Of the bits without the sign, those of NaN are the largest, then those of infinity.
    f32::from_bits(values.iter().map(|x| x.to_bits() & 0x7fff_ffff).max().unwrap_or(0))
}

/// Writes the nearest integers of x · `inverse`; 0 for NaN, which are all products of zeros with an infinite inverse.
#[inline(always)]
fn round(values: &[f32], inverse: f32, numbers: &mut [i8]) {
    for (number, x) in numbers.iter_mut().zip(values) {
        *number = (x * inverse).round_ties_even().clamp(-127.0, 127.0) as i8;
    }
}

#[inline(always)]
fn sum_of(numbers: &[i8]) -> i32 {
    numbers.iter().map(|q| i32::from(*q)).sum()
}

/// The nearest `f16` if it is finite, else `x`.
#[inline(always)]
fn to_half(x: f32) -> f32 {
    let half = f16::from_f32(x).to_f32();
    if half.is_finite() { half } else { x }
}
