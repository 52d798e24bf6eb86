//! Blocks of 4-bit floats (`e2m1`): `mxfp4`, `nvfp4`.
//!
//! The integers are twice the floats, and the scales are halved: both are exact.

use super::arrays::{array, map};
use super::block::{Block, Unpacked, nibbles, part};
use super::pack::{Pack, extreme, put_nibbles};

/// A byte of exponent (`e8m0`), 32 · 4 bits.
pub(crate) struct MXFP4;
/// Four scales of 8 bits (`e4m3` without sign), 64 · 4 bits.
pub(crate) struct NVFP4;

impl Block for MXFP4 {
    const LENGTH: usize = 32;
    const BYTES: usize = 17;
    const GROUP: usize = 32;
    const ZERO: i16 = 12;
    const TOP: i16 = 24;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        to.units[0] = half_power(block[0]);
        nibbles::<16>(part(block, 1), to.numbers, doubled());
    }
}

impl Block for NVFP4 {
    const LENGTH: usize = 64;
    const BYTES: usize = 36;
    const GROUP: usize = 16;
    const UNIT: usize = 16;
    const ZERO: i16 = 12;
    const TOP: i16 = 24;

    #[inline(always)]
    fn unpack(block: &[u8], to: Unpacked<'_>) {
        for (unit, bits) in to.units.iter_mut().zip(block) {
            *unit = half_small_float(*bits);
        }
        for (bytes, numbers) in block[4..36].chunks_exact(8).zip(to.numbers.chunks_exact_mut(16)) {
            nibbles::<8>(part(bytes, 0), numbers, doubled());
        }
    }
}

/// Twice the values of `e2m1`: 0, 1, 2, 3, 4, 6, 8, 12, and the same with a sign. As ggml's `kvalues_mxfp4`, but without
/// a table, whose accesses the compiler does not vectorise.
#[inline(always)]
fn doubled<const N: usize>() -> impl Fn([u8; N]) -> [i8; N] {
    #[inline(always)]
    |bits| {
        map(bits, |bits| {
            let steps = (bits & 7) as i8;
            // Steps of 1 up to 4, then of 2, and a last one of 4.
            let magnitude = steps + (steps - 4).max(0) + 2 * (steps - 6).max(0);
            if bits & 8 == 0 { magnitude } else { -magnitude }
        })
    }
}

/// Half of the power of two whose biased exponent is given: 2^(exponent − 128).
#[inline(always)]
pub(super) fn half_power(exponent: u8) -> f32 {
    let bits = match exponent.checked_sub(1) {
        Some(less @ 1..) => u32::from(less) << 23,
        // The two powers that are subnormal as f32.
        _ => 0x0020_0000 << exponent,
    };
    f32::from_bits(bits)
}

/// Half of an `e4m3` without sign. The largest pattern is NaN in `e4m3`, and 0 here, as in ggml.
#[inline(always)]
fn half_small_float(bits: u8) -> f32 {
    let (exponent, mantissa) = (u32::from(bits >> 3 & 15), f32::from(bits & 7));
    match (bits, exponent) {
        (0x7f, _) => 0.0,
        (_, 0) => mantissa * (1.0 / 1024.0),
        // 2^(exponent − 8), half of 2^(exponent − 7).
        _ => (1.0 + mantissa * 0.125) * f32::from_bits((exponent + 119) << 23),
    }
}

impl Pack for MXFP4 {
    /// The exponent is that of the specification: of the extreme value, less 2, the exponent of the largest `e2m1`.
    #[inline(always)]
    fn pack(values: &[f32], block: &mut [u8]) {
        let extreme = extreme(values).abs();
        // A subnormal value has the exponent field 0.
        block[0] = (extreme.to_bits() >> 23).saturating_sub(2) as u8;
        let half = half_power(block[0]);
        let nearest = |x: f32| {
            let error = |bits: u8| (f32::from(doubled()([bits])[0]) * half - x).abs();
            (1..16).fold(0, |best, bits| if error(bits) < error(best) { bits } else { best })
        };
        put_nibbles(&array::<32, u8>(|i| nearest(values[i])), &mut block[1..]);
    }
}
