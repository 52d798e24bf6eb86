//! Quantizers of `q2_K` to `q6_K` and of `q8_K`.
//!
//! Each group gets its best scale and minimum. They are rounded to multiples of the block's units, and the numbers are
//! rounded last, for the scales that the block then has.

use super::arrays::{array, map};
use super::k::{Q2K, Q3K, Q4K, Q5K, Q6K, Q8K};
use super::pack::{Pack, best_scale, best_scale_and_min, extreme, inverse, put_half, put_nibbles, put_pairs};

/// Numbers in a block.
const LENGTH: usize = 256;

impl Pack for Q2K {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let (head, units) = block.split_at_mut(80);
        let (groups, numbers) = with_mins::<16>(values, (15.0, 3.0), -5..=15, units);
        for (byte, [scale, min]) in head.iter_mut().zip(groups) {
            *byte = scale | min << 4;
        }
        put_pairs(&numbers, &mut head[16..]);
    }
}

impl Pack for Q3K {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let (scales, numbers) = around_zero(values, [-32.0, 31.0], [-4.0, 3.0], &mut block[108..]);
        for (group, scale) in scales.into_iter().enumerate() {
            let scale = (scale + 32) as u8;
            block[96 + group % 8] |= (scale & 15) << (4 * (group / 8));
            block[104 + group % 4] |= scale >> 4 << (2 * (group / 4));
        }
        let numbers = map(numbers, |number| (number + 4) as u8);
        put_high_bits(&numbers, 2, &mut block[..32]);
        put_pairs(&numbers, &mut block[32..96]);
    }
}

impl Pack for Q4K {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let (groups, numbers) = with_mins::<8>(values, (63.0, 15.0), -10..=10, block);
        put_small_scales(&groups, &mut block[4..16]);
        for (numbers, bytes) in numbers.chunks_exact(64).zip(block[16..].chunks_exact_mut(32)) {
            put_nibbles(numbers, bytes);
        }
    }
}

impl Pack for Q5K {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let (groups, numbers) = with_mins::<8>(values, (63.0, 31.0), -10..=10, block);
        put_small_scales(&groups, &mut block[4..16]);
        put_high_bits(&numbers, 4, &mut block[16..48]);
        for (numbers, bytes) in numbers.chunks_exact(64).zip(block[48..].chunks_exact_mut(32)) {
            put_nibbles(numbers, bytes);
        }
    }
}

impl Pack for Q6K {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let (scales, numbers) = around_zero(values, [-128.0, 127.0], [-32.0, 31.0], &mut block[208..]);
        block[192..208].copy_from_slice(bytemuck::cast_slice(&scales));
        let numbers = map(numbers, |number| (number + 32) as u8);
        let (low, high) = block.split_at_mut(128);
        for (half, numbers) in numbers.chunks_exact(128).enumerate() {
            put_nibbles(numbers, &mut low[64 * half..][..64]);
            put_pairs(&array::<128, u8>(|i| numbers[i] >> 4), &mut high[32 * half..][..32]);
        }
    }
}

impl Pack for Q8K {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let extreme = extreme(values);
        let to_integers = if extreme == 0.0 { 0.0 } else { -127.0 / extreme };
        let numbers: [i8; LENGTH] = array(|i| (values[i] * to_integers).round_ties_even() as i8);
        block[..4].copy_from_slice(&inverse(to_integers).to_le_bytes());
        block[4..260].copy_from_slice(bytemuck::cast_slice(&numbers));
        for (sum, numbers) in block[260..].chunks_exact_mut(2).zip(numbers.chunks_exact(16)) {
            let total: i16 = numbers.iter().map(|number| i16::from(*number)).sum();
            sum.copy_from_slice(&total.to_le_bytes());
        }
    }
}

/// Quantizes `GROUPS` groups with minima, given the largest integers of scales and of numbers. Writes the `f16` units of
/// scales and of minima to the first bytes. Returns the integers of scales and minima, and the numbers.
#[inline(always)]
fn with_mins<const GROUPS: usize>(
    values: &[f32],
    (top_scale, top): (f32, f32),
    steps: std::ops::RangeInclusive<i32>,
    units: &mut [u8],
) -> ([[u8; 2]; GROUPS], [u8; LENGTH]) {
    let group = |group: usize| &values[group * (LENGTH / GROUPS)..][..LENGTH / GROUPS];
    let best: [(f32, f32); GROUPS] = array(|g| best_scale_and_min(group(g), top, steps.clone()));
    let largest = best.iter().fold((0f32, 0f32), |(scale, min), (s, m)| (scale.max(*s), min.max(*m)));
    let unit = put_half(largest.0 / top_scale, units);
    let min_unit = put_half(largest.1 / top_scale, &mut units[2..]);
    let integer =
        |x: f32, most: f32| (x * (top_scale * inverse(most))).round_ties_even().min(top_scale) as u8;
    let groups = map(best, |(scale, min)| [integer(scale, largest.0), integer(min, largest.1)]);
    let mut numbers = [0; LENGTH];
    for (g, numbers) in numbers.chunks_exact_mut(LENGTH / GROUPS).enumerate() {
        let [scale, min] = [unit * f32::from(groups[g][0]), min_unit * f32::from(groups[g][1])];
        let to_integers = inverse(scale);
        for (number, x) in numbers.iter_mut().zip(group(g)) {
            *number = ((x + min) * to_integers).round_ties_even().clamp(0.0, top) as u8;
        }
    }
    (groups, numbers)
}

/// Quantizes 16 groups around zero, given the ranges of the integers of scales and of numbers. Writes the `f16` unit of
/// the scales to the first bytes. Returns the integers of the scales, and the numbers.
#[inline(always)]
fn around_zero(
    values: &[f32],
    [least_scale, most_scale]: [f32; 2],
    [least, most]: [f32; 2],
    unit: &mut [u8],
) -> ([i8; 16], [i8; LENGTH]) {
    let group = |group: usize| &values[16 * group..][..16];
    let targets = || {
        let around = |target: f32| (-9..=9).map(move |step| target + 0.1 * step as f32);
        around(least).chain(around(most))
    };
    let nearest = |x: f32| x.round_ties_even().clamp(least, most);
    let best: [f32; 16] = array(|g| best_scale(group(g), targets(), nearest));
    let largest = extreme(&best);
    let unit = put_half(largest / least_scale, unit);
    let to_integers = least_scale * inverse(largest);
    let scales =
        map(best, |scale| (scale * to_integers).round_ties_even().clamp(least_scale, most_scale) as i8);
    let mut numbers = [0; LENGTH];
    for (g, numbers) in numbers.chunks_exact_mut(16).enumerate() {
        let to_integers = inverse(unit * f32::from(scales[g]));
        for (number, x) in numbers.iter_mut().zip(group(g)) {
            *number = nearest(x * to_integers) as i8;
        }
    }
    (scales, numbers)
}

/// Packs the bit `index` of each number: those of the numbers `i`, `i + 32`, … into byte `i`.
#[inline(always)]
fn put_high_bits(numbers: &[u8; LENGTH], index: usize, bytes: &mut [u8]) {
    for (shift, numbers) in numbers.chunks_exact(32).enumerate() {
        for (number, byte) in numbers.iter().zip(&mut *bytes) {
            *byte |= (number >> index & 1) << shift;
        }
    }
}

/// Packs eight pairs of 6-bit integers, as `small_scales` of the unpacking reads them.
#[inline(always)]
fn put_small_scales(groups: &[[u8; 2]; 8], bytes: &mut [u8]) {
    for i in 0..4 {
        let ([scale, min], [late_scale, late_min]) = (groups[i], groups[i + 4]);
        bytes[i] = scale | late_scale >> 4 << 6;
        bytes[i + 4] = min | late_min >> 4 << 6;
        bytes[i + 8] = late_scale & 15 | (late_min & 15) << 4;
    }
}
