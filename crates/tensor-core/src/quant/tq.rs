//! Blocks of 256 ternary numbers with one `f16` scale: `tq1_0`, `tq2_0`.

use super::block::{Block, Unpacked, half, less, pairs};

/// 240 numbers as base-3 fractions, five in a byte; 16 more, four in a byte; `f16` scale.
pub(crate) struct TQ1_0;
/// 256 · 2 bits, `f16` scale.
pub(crate) struct TQ2_0;

impl Block for TQ1_0 {
    const LENGTH: usize = 256;
    const BYTES: usize = 54;
    const GROUP: usize = 32;
    const UNIT: usize = 256;
    const ZERO: i16 = 1;
    const TOP: i16 = 3;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half(&block[52..]);
        to.scales.fill(1);
        let (first, rest) = to.numbers.split_at_mut(160);
        let (second, last) = rest.split_at_mut(80);
        digits(&block[..32], first);
        digits(&block[32..48], second);
        digits(&block[48..52], last);
    }
}

impl Block for TQ2_0 {
    const LENGTH: usize = 256;
    const BYTES: usize = 66;
    const GROUP: usize = 32;
    const UNIT: usize = 256;
    const ZERO: i16 = 1;
    const TOP: i16 = 3;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half(&block[64..]);
        to.scales.fill(1);
        pairs(&block[..64], to.numbers, less(1));
    }
}

/// The base-3 digits of fractions that are stored in 8 bits, minus 1: first the leading digits of all bytes.
#[inline(always)]
fn digits(bytes: &[u8], numbers: &mut [i8]) {
    let mut power = 1u8;
    for numbers in numbers.chunks_exact_mut(bytes.len()) {
        for (byte, number) in bytes.iter().zip(numbers) {
            *number = ((u16::from(byte.wrapping_mul(power)) * 3) >> 8) as i8 - 1;
        }
        power = power.wrapping_mul(3);
    }
}
