//! Blocks of 256 numbers as points of a grid in 8 dimensions, with signs: `iq2_xxs`, `iq2_xs`, `iq2_s`.

use super::block::{Block, Unpacked, double_word, half, word};
use super::grids::{self, IQ2_MAGNITUDES};

/// `f16` scale, and for each 32 numbers four points and a word with four sets of signs and a scale of 4 bits.
pub(crate) struct IQ2XXS;
/// `f16` scale, 32 words with a point and a set of signs, 16 · 4 bits of scale.
pub(crate) struct IQ2XS;
/// `f16` scale, the lower bits of 32 points, 32 · 8 signs, the upper bits of the points, 16 · 4 bits of scale.
pub(crate) struct IQ2S;

impl Block for IQ2XXS {
    const LENGTH: usize = 256;
    const BYTES: usize = 66;
    const GROUP: usize = 32;
    const UNIT: usize = 256;
    const ZERO: i16 = 43;
    const TOP: i16 = 86;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half(block) * 0.125;
        for (group, bytes) in block[2..66].chunks_exact(8).enumerate() {
            let signs = double_word(&bytes[4..]);
            to.scales[group] = 2 * (signs >> 28) as i8 + 1;
            for (index, numbers) in to.numbers[32 * group..][..32].chunks_exact_mut(8).enumerate() {
                let signs = signs_of((signs >> (7 * index)) as u8 & 127);
                set_point(grids::IQ2_XXS[usize::from(bytes[index])], signs, numbers);
            }
        }
    }
}

impl Block for IQ2XS {
    const LENGTH: usize = 256;
    const BYTES: usize = 74;
    const GROUP: usize = 16;
    const UNIT: usize = 256;
    const ZERO: i16 = 43;
    const TOP: i16 = 86;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half(block) * 0.125;
        set_scales(&block[66..74], to.scales);
        for (bytes, numbers) in block[2..66].chunks_exact(2).zip(to.numbers.chunks_exact_mut(8)) {
            let word = word(bytes);
            set_point(grids::IQ2_XS[usize::from(word & 511)], signs_of((word >> 9) as u8), numbers);
        }
    }
}

impl Block for IQ2S {
    const LENGTH: usize = 256;
    const BYTES: usize = 82;
    const GROUP: usize = 16;
    const UNIT: usize = 256;
    const ZERO: i16 = 43;
    const TOP: i16 = 86;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half(block) * 0.125;
        set_scales(&block[74..82], to.scales);
        let (low, signs, high) = (&block[2..34], &block[34..66], &block[66..74]);
        for (index, numbers) in to.numbers.chunks_exact_mut(8).enumerate() {
            let high = usize::from(high[index / 4] >> (2 * (index % 4)) & 3);
            set_point(grids::IQ2_S[usize::from(low[index]) | high << 8], signs[index], numbers);
        }
    }
}

/// The sixteen scales of `iq2_xs` and `iq2_s`: 4 bits each, plus a half, in units of a half.
#[inline(always)]
fn set_scales(packed: &[u8], scales: &mut [i8]) {
    for (group, scale) in scales.iter_mut().enumerate() {
        let bits = packed[group / 2] >> (4 * (group % 2)) & 15;
        *scale = 2 * bits as i8 + 1;
    }
}

/// Eight signs from seven: the number of minus signs is even.
#[inline(always)]
pub(super) fn signs_of(seven: u8) -> u8 {
    seven | (seven.count_ones() as u8 & 1) << 7
}

/// Writes the eight coordinates of a point of the grid, with their signs.
#[inline(always)]
fn set_point(point: u16, signs: u8, numbers: &mut [i8]) {
    for (index, number) in numbers.iter_mut().enumerate() {
        let magnitude = IQ2_MAGNITUDES[usize::from(point >> (2 * index) & 3)];
        *number = if signs >> index & 1 == 1 { -magnitude } else { magnitude };
    }
}
