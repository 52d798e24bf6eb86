//! A block of each format, unpacked: small integers, and what they are multiples of.
//!
//! Every format has this form, so that one loop over it dequantizes, and one multiplies.

use super::arrays::map;

/// Memory for the content of a block. The value of a number is (unit · scale) · number − (min unit · min), of the unit that
/// its block or its part of a block has, and of the scale and the minimum of its group.
///
/// Both products in brackets are exact in `f32`. With the two other operations rounded to `f32` the values have the bits
/// that ggml's have.
pub(crate) struct Unpacked<'a> {
    /// As many as there are in a block.
    pub numbers: &'a mut [i8],
    /// One for each [`Block::UNIT`] numbers.
    pub units: &'a mut [f32],
    /// As `units`; not written in formats without minima.
    pub min_units: &'a mut [f32],
    /// One for each group; not written in formats where a group has its own unit: there they are 1.
    pub scales: &'a mut [i8],
    /// As `scales`; not written in formats without minima either.
    pub mins: &'a mut [i8],
}

/// A format, as a type.
pub(crate) trait Block {
    /// Numbers in a block.
    const LENGTH: usize;
    /// Bytes of a block.
    const BYTES: usize;
    /// Numbers in a group: 16 or 32.
    const GROUP: usize;
    /// Numbers with a common unit.
    const UNIT: usize = Self::GROUP;
    /// Each number plus `ZERO` is from 0 to [`Self::TOP`].
    const ZERO: i16 = 0;
    const TOP: i16;
    /// Whether groups have minima.
    const MINS: bool = false;

    /// Unpacks a block of [`Self::BYTES`] bytes.
    fn unpack(block: &[u8], to: Unpacked<'_>);
}

/// Evaluates the body with `$B` bound to the [`Block`] of a [`crate::QuantFormat`].
macro_rules! dispatch_format {
    ($format:expr, $B:ident => $body:expr) => {
        $crate::quant::block::dispatch_format!(@arms $format, $B, $body;
            (Q4_0, legacy) (Q4_1, legacy) (Q5_0, legacy) (Q5_1, legacy) (Q8_0, legacy) (Q8_1, legacy)
            (Q2K, k) (Q3K, k) (Q4K, k) (Q5K, k) (Q6K, k) (Q8K, k)
            (IQ2XXS, iq2) (IQ2XS, iq2) (IQ2S, iq2) (IQ3XXS, iq3) (IQ3S, iq3) (IQ1S, iq1) (IQ1M, iq1)
            (IQ4NL, iq4) (IQ4XS, iq4) (TQ1_0, tq) (TQ2_0, tq) (MXFP4, fp4) (NVFP4, fp4))
    };
    (@arms $format:expr, $B:ident, $body:expr; $(($name:ident, $family:ident))+) => {
        match $format {
            $($crate::quant::QuantFormat::$name => {
                type $B = $crate::quant::$family::$name;
                $body
            })+
        }
    };
}

pub(crate) use dispatch_format;

/// The `f16` at the start of `bytes`.
#[inline(always)]
pub(super) fn half(bytes: &[u8]) -> f32 {
    half_from_bits(word(bytes))
}

/// The value of an `f16`. The conversion of the crate `half` asks each time what the machine has, and is not inlined.
#[inline(always)]
pub(crate) fn half_from_bits(bits: u16) -> f32 {
    // The exponent and the mantissa, at their positions in f32: the value times 2^−112, exactly.
    let magnitude = u32::from(bits & 0x7fff) << 13;
    let value = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
    // Infinities and NaN.
    let special = if magnitude >= 0x0f80_0000 { 0x7f80_0000 } else { 0 };
    f32::from_bits(value.to_bits() | special | u32::from(bits >> 15) << 31)
}

/// The `u16` at the start of `bytes`.
#[inline(always)]
pub(crate) fn word(bytes: &[u8]) -> u16 {
    u16::from_le_bytes(part(bytes, 0))
}

/// The `u32` at the start of `bytes`.
#[inline(always)]
pub(crate) fn double_word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(part(bytes, 0))
}

/// A copy of the `N` bytes from `start` on. Loops over a copy are vectorised, because writing does not change it.
#[inline(always)]
pub(crate) fn part<const N: usize>(block: &[u8], start: usize) -> [u8; N] {
    *block[start..].first_chunk().expect("the block is as long as its format says")
}

/// Unpacks `N` bytes of two numbers each: those in the lower halves come first. `values` gives what the bits mean.
#[inline(always)]
pub(super) fn nibbles<const N: usize>(
    bytes: [u8; N],
    numbers: &mut [i8],
    values: impl Fn([u8; N]) -> [i8; N],
) {
    let (low, high) = numbers.split_at_mut(N);
    low.copy_from_slice(&values(map(bytes, |byte| byte & 15)));
    high.copy_from_slice(&values(map(bytes, |byte| byte >> 4)));
}

/// Numbers less `zero`.
#[inline(always)]
pub(super) fn less<const N: usize>(zero: i8) -> impl Fn([u8; N]) -> [i8; N] {
    #[inline(always)]
    move |bits| map(bits, |bits| bits as i8 - zero)
}

/// Unpacks pairs of bits: of every 32 bytes, the lowest pairs come first.
#[inline(always)]
pub(super) fn pairs(bytes: &[u8], numbers: &mut [i8], values: impl Fn([u8; 32]) -> [i8; 32]) {
    for (bytes, numbers) in bytes.chunks_exact(32).zip(numbers.chunks_exact_mut(128)) {
        let bytes: [u8; 32] = part(bytes, 0);
        for (shift, numbers) in numbers.chunks_exact_mut(32).enumerate() {
            numbers.copy_from_slice(&values(map(bytes, |byte| byte >> (2 * shift) & 3)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quant::QuantFormat;
    use crate::quant::Row;

    /// The file of random blocks and their values by the package gguf, which `tests/vectors/quant.py` wrote.
    fn by_gguf(format: QuantFormat) -> &'static [u8] {
        macro_rules! files {
            ($($name:literal)+) => {
                match format.name() {
                    $($name => &include_bytes!(concat!("../../tests/vectors/quant/", $name, ".dequantized"))[..],)+
                    other => panic!("{other} has no file"),
                }
            };
        }
        files!("q4_0" "q4_1" "q5_0" "q5_1" "q8_0" "q8_1" "q2_k" "q3_k" "q4_k" "q5_k" "q6_k" "q8_k" "iq2_xxs"
            "iq2_xs" "iq2_s" "iq3_xxs" "iq3_s" "iq1_s" "iq1_m" "iq4_nl" "iq4_xs" "tq1_0" "tq2_0" "mxfp4" "nvfp4")
    }

    #[test]
    fn quant_halves_are_those_of_half() {
        for bits in 0..=u16::MAX {
            let (ours, theirs) = (half_from_bits(bits), half::f16::from_bits(bits).to_f32());
            assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(), "{bits:x}");
        }
    }

    #[test]
    fn quant_values_have_the_bits_of_gguf() {
        for format in QuantFormat::ALL {
            let (file, length, bytes) = (by_gguf(format), format.block_size(), format.type_size());
            let count = file.len() / (bytes + 4 * length);
            let (blocks, values) = file.split_at(count * bytes);
            assert!(count >= 3 && values.len() == 4 * count * length, "{format}");
            let mut got = vec![0f32; length];
            for (number, (block, values)) in
                blocks.chunks_exact(bytes).zip(values.chunks_exact(4 * length)).enumerate()
            {
                let mut row = Row::default();
                dispatch_format!(format, B => {
                    assert_eq!((B::LENGTH, B::BYTES), (length, bytes), "{format}");
                    row.unpack::<B>(block);
                });
                row.dequantize(&mut got);
                for (index, (got, value)) in got.iter().zip(values.chunks_exact(4)).enumerate() {
                    let value = f32::from_bits(double_word(value));
                    assert_eq!(got.to_bits(), value.to_bits(), "{format}, {number}, {index}: {got} {value}");
                }
            }
        }
    }
}
