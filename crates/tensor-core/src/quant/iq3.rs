//! Blocks of 256 numbers as points of a grid in 4 dimensions, with signs: `iq3_xxs`, `iq3_s`.

use super::block::{Block, Unpacked, double_word, half};
use super::grids::{self, IQ3_S_MAGNITUDES, IQ3_XXS_MAGNITUDES};
use super::iq2::signs_of;

/// `f16` scale, 64 points, and for each 32 numbers a word with four sets of signs and a scale of 4 bits.
pub(crate) struct IQ3XXS;
/// `f16` scale, the lower 8 bits of 64 points, the highest bits, 32 · 8 signs, 8 · 4 bits of scale.
pub(crate) struct IQ3S;

impl Block for IQ3XXS {
    const LENGTH: usize = 256;
    const BYTES: usize = 98;
    const GROUP: usize = 32;
    const UNIT: usize = 256;
    const ZERO: i16 = 62;
    const TOP: i16 = 124;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        let points = &block[2..66];
        to.units[0] = half(block) * 0.25;
        for (group, bytes) in block[66..98].chunks_exact(4).enumerate() {
            let signs = double_word(bytes);
            to.scales[group] = 2 * (signs >> 28) as i8 + 1;
            for (index, numbers) in to.numbers[32 * group..][..32].chunks_exact_mut(8).enumerate() {
                let points = &points[8 * group + 2 * index..][..2];
                let points = [points[0], points[1]].map(|point| grids::IQ3_XXS[usize::from(point)]);
                let signs = signs_of((signs >> (7 * index)) as u8 & 127);
                set_points(points, &IQ3_XXS_MAGNITUDES, signs, numbers);
            }
        }
    }
}

impl Block for IQ3S {
    const LENGTH: usize = 256;
    const BYTES: usize = 110;
    const GROUP: usize = 32;
    const UNIT: usize = 256;
    const ZERO: i16 = 15;
    const TOP: i16 = 30;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half(block);
        let (low, high, signs, scales) = (&block[2..66], &block[66..74], &block[74..106], &block[106..110]);
        for group in 0..8 {
            let bits = scales[group / 2] >> (4 * (group % 2)) & 15;
            to.scales[group] = 1 + 2 * bits as i8;
        }
        for (index, numbers) in to.numbers.chunks_exact_mut(8).enumerate() {
            let points = [2 * index, 2 * index + 1].map(|index| {
                let high = usize::from(high[index / 8] >> (index % 8) & 1);
                grids::IQ3_S[usize::from(low[index]) | high << 8]
            });
            set_points(points, &IQ3_S_MAGNITUDES, signs[index], numbers);
        }
    }
}

/// Writes the coordinates of two points of a grid, with their signs.
#[inline(always)]
fn set_points(points: [u16; 2], magnitudes: &[i8; 8], signs: u8, numbers: &mut [i8]) {
    for (index, number) in numbers.iter_mut().enumerate() {
        let magnitude = magnitudes[usize::from(points[index / 4] >> (4 * (index % 4)) & 7)];
        *number = if signs >> index & 1 == 1 { -magnitude } else { magnitude };
    }
}
