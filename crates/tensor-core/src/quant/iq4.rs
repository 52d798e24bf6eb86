//! Blocks of 4-bit positions in a list of 16 values: `iq4_nl`, `iq4_xs`.

use super::arrays::{array, map};
use super::block::{Block, Unpacked, half, nibbles, part, word};
use super::pack::{Pack, best_scale, extreme, inverse, put_half, put_nibbles};

/// The values, ggml's `kvalues_iq4nl`.
pub(super) const VALUES: [i8; 16] =
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/// `f16` scale, 32 · 4 bits.
pub(crate) struct IQ4NL;
/// `f16` unit of the scales, the upper 2 bits of 8 scales, the lower 4 bits, 256 · 4 bits.
pub(crate) struct IQ4XS;

impl Block for IQ4NL {
    const LENGTH: usize = 32;
    const BYTES: usize = 18;
    const GROUP: usize = 32;
    const ZERO: i16 = 128;
    const TOP: i16 = 255;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half(block);
        nibbles::<16>(part(block, 2), to.numbers, values());
    }
}

impl Block for IQ4XS {
    const LENGTH: usize = 256;
    const BYTES: usize = 136;
    const GROUP: usize = 32;
    const UNIT: usize = 256;
    const ZERO: i16 = 128;
    const TOP: i16 = 255;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half(block);
        let high = word(&block[2..]);
        for group in 0..8 {
            let low = block[4 + group / 2] >> (4 * (group % 2)) & 15;
            let bits = low | ((high >> (2 * group) & 3) << 4) as u8;
            to.scales[group] = bits as i8 - 32;
        }
        for (bytes, numbers) in block[8..136].chunks_exact(16).zip(to.numbers.chunks_exact_mut(32)) {
            nibbles::<16>(part(bytes, 0), numbers, values());
        }
    }
}

/// The values at positions in the list, as a broken line: a first step per position, and from each position on what
/// the next step is more. The compiler vectorises this, and not accesses by index.
#[inline(always)]
fn values<const N: usize>() -> impl Fn([u8; N]) -> [i8; N] {
    #[inline(always)]
    |positions| {
        let first = VALUES[1] - VALUES[0];
        let mut values =
            map(positions, |position| VALUES[0].wrapping_add(first.wrapping_mul(position as i8)));
        for (corner, steps) in (1..).zip(VALUES.windows(3)) {
            let bend = (steps[2] - steps[1]) - (steps[1] - steps[0]);
            for (value, position) in values.iter_mut().zip(positions) {
                // Sums that are too large for the moment wrap, and wrap back.
                *value = value.wrapping_add(bend.wrapping_mul(position.saturating_sub(corner) as i8));
            }
        }
        values
    }
}

impl Pack for IQ4NL {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let scale = put_half(best(values), block);
        put_nibbles(&positions(values, scale), &mut block[2..]);
    }
}

impl Pack for IQ4XS {
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let group = |group: usize| &values[32 * group..][..32];
        let scales: [f32; 8] = array(|g| best(group(g)));
        let largest = extreme(&scales);
        let unit = put_half(largest / -32.0, block);
        let to_integers = -32.0 * inverse(largest);
        let mut high = 0;
        for (g, scale) in scales.into_iter().enumerate() {
            let integer = (scale * to_integers).round_ties_even().clamp(-32.0, 31.0);
            let bits = (integer as i8 + 32) as u8;
            block[4 + g / 2] |= (bits & 15) << (4 * (g % 2));
            high |= u16::from(bits >> 4) << (2 * g);
            put_nibbles(&positions(group(g), unit * integer), &mut block[8 + 16 * g..][..16]);
        }
        block[2..4].copy_from_slice(&high.to_le_bytes());
    }
}

/// The scale with the least square error of those tried: the extreme value is mapped to about either end of the list.
#[inline(always)]
fn best(values: &[f32]) -> f32 {
    let around = |target: i8| (-7..=7).map(move |step| f32::from(target) + 2.0 * step as f32);
    let targets = around(VALUES[0]).chain(around(VALUES[15]));
    best_scale(values, targets, nearest)
}

/// The value of the list that is nearest to `x`, as the sum of the steps up to it.
#[inline(always)]
fn nearest(x: f32) -> f32 {
    let steps = VALUES.windows(2).map(|pair| {
        let [low, high] = [f32::from(pair[0]), f32::from(pair[1])];
        if x > 0.5 * (low + high) { high - low } else { 0.0 }
    });
    steps.fold(f32::from(VALUES[0]), |sum, step| sum + step)
}

/// The positions in the list of the values divided by `scale`.
#[inline(always)]
fn positions(values: &[f32], scale: f32) -> [u8; 32] {
    let inverse = inverse(scale);
    array(|i| position(values[i] * inverse))
}

/// The position in the list of the value that is nearest to `x`: the number of midpoints below it.
#[inline(always)]
fn position(x: f32) -> u8 {
    (0..15).map(|i| u8::from(x > 0.5 * (f32::from(VALUES[i]) + f32::from(VALUES[i + 1])))).sum()
}
