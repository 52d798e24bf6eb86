//! Blocks of 4-bit floats (`e2m1`): `mxfp4`, `nvfp4`.
//!
//! The integers are twice the floats, and the scales are halved: both are exact.

use super::block::{Block, Unpacked, nibbles};
use super::pack::{Pack, extreme, put_nibbles};

/// Twice the values of `e2m1`, ggml's `kvalues_mxfp4`.
pub(super) const DOUBLED: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// A byte of exponent (`e8m0`), 32 · 4 bits.
pub(crate) struct MXFP4;
/// Four scales of 8 bits (`e4m3` without sign), 64 · 4 bits.
pub(crate) struct NVFP4;

impl Block for MXFP4 {
    const LENGTH: usize = 32;
    const BYTES: usize = 17;
    const GROUP: usize = 32;

    #[inline(always)]
    fn unpack(block: &[u8], to: &mut Unpacked) {
        to.scales[0] = half_power(block[0]);
        nibbles(&block[1..17], &mut to.numbers[..32], |bits| DOUBLED[usize::from(bits)]);
    }
}

impl Block for NVFP4 {
    const LENGTH: usize = 64;
    const BYTES: usize = 36;
    const GROUP: usize = 16;

    #[inline(always)]
    fn unpack(block: &[u8], to: &mut Unpacked) {
        for group in 0..4 {
            to.scales[group] = half_small_float(block[group]);
        }
        for (bytes, numbers) in block[4..36].chunks_exact(8).zip(to.numbers.chunks_exact_mut(16)) {
            nibbles(bytes, numbers, |bits| DOUBLED[usize::from(bits)]);
        }
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
            let error = |number: &i8| (f32::from(*number) * half - x).abs();
            let better =
                |best: usize, i: usize| if error(&DOUBLED[i]) < error(&DOUBLED[best]) { i } else { best };
            (1..16).fold(0, better) as u8
        };
        put_nibbles(&std::array::from_fn::<u8, 32, _>(|i| nearest(values[i])), &mut block[1..]);
    }
}
