//! Blocks of 256 numbers as points of a grid in 8 dimensions, shifted by an eighth: `iq1_s`, `iq1_m`.
//!
//! The integers are eight times the values of the format, and the scales an eighth: both are exact.

use super::block::{Block, Unpacked, half, half_from_bits, word};
use super::grids;

/// `f16` scale, the lower bits of 32 points, and for each 32 numbers a word: the upper bits of four points, 3 bits of
/// scale, and the sign of the shift.
pub(crate) struct IQ1S;
/// The lower bits of 32 points, 32 · 4 bits (the upper bits of a point, and the sign of its shift), and four words with
/// 16 · 3 bits of scale and a quarter of the `f16` scale each.
pub(crate) struct IQ1M;

impl Block for IQ1S {
    const LENGTH: usize = 256;
    const BYTES: usize = 50;
    const GROUP: usize = 32;
    const UNIT: usize = 256;
    const ZERO: i16 = 9;
    const TOP: i16 = 18;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        let low = &block[2..34];
        to.units[0] = half(block) * 0.125;
        for (group, bytes) in block[34..50].chunks_exact(2).enumerate() {
            let high = word(bytes);
            to.scales[group] = 2 * (high >> 12 & 7) as i8 + 1;
            for (index, numbers) in to.numbers[32 * group..][..32].chunks_exact_mut(8).enumerate() {
                let point = usize::from(low[4 * group + index]) | usize::from(high >> (3 * index) & 7) << 8;
                set_point(point, high >> 15 == 1, numbers);
            }
        }
    }
}

impl Block for IQ1M {
    const LENGTH: usize = 256;
    const BYTES: usize = 56;
    const GROUP: usize = 16;
    const UNIT: usize = 256;
    const ZERO: i16 = 9;
    const TOP: i16 = 18;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        let (low, high) = (&block[..32], &block[32..48]);
        let words: [u16; 4] = std::array::from_fn(|index| word(&block[48 + 2 * index..]));
        let unit = (0..4).fold(0, |unit, index| unit | words[index] >> 12 << (4 * index));
        to.units[0] = half_from_bits(unit) * 0.125;
        for (group, scale) in to.scales.iter_mut().enumerate() {
            let bits = words[group / 4] >> (3 * (group % 4)) & 7;
            *scale = 2 * bits as i8 + 1;
        }
        for (index, numbers) in to.numbers.chunks_exact_mut(8).enumerate() {
            let bits = high[index / 2] >> (4 * (index % 2)) & 15;
            set_point(usize::from(low[index]) | usize::from(bits & 7) << 8, bits >> 3 == 1, numbers);
        }
    }
}

/// Writes eight times the coordinates of a point of the grid, plus 1, or minus 1 if the shift is negative.
#[inline(always)]
fn set_point(point: usize, negative: bool, numbers: &mut [i8]) {
    let (point, shift) = (grids::IQ1[point], if negative { -1 } else { 1 });
    for (index, number) in numbers.iter_mut().enumerate() {
        *number = ((point >> (2 * index) & 3) as i8 - 1) * 8 + shift;
    }
}
