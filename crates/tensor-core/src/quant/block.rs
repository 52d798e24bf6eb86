//! A block of each format, unpacked: small integers, and the scale and the minimum of each group of them.
//!
//! Every format has this form, so that one loop over it dequantizes, and one multiplies.

/// The largest number of numbers in a block.
pub(crate) const LONGEST: usize = 256;
/// The largest number of groups in a block.
pub(crate) const GROUPS: usize = LONGEST / 16;

/// The content of a block: the value of number `i` in group `g` is `scales[g] · numbers[i] − mins[g]`.
///
/// With both operations rounded to `f32` the values have the bits that ggml's have.
pub(crate) struct Unpacked {
    pub numbers: [i8; LONGEST],
    pub scales: [f32; GROUPS],
    /// Zeros in formats without minima.
    pub mins: [f32; GROUPS],
}

impl Default for Unpacked {
    fn default() -> Unpacked {
        Unpacked { numbers: [0; LONGEST], scales: [0.0; GROUPS], mins: [0.0; GROUPS] }
    }
}

/// A format, as a type.
pub(crate) trait Block {
    /// Numbers in a block.
    const LENGTH: usize;
    /// Bytes of a block.
    const BYTES: usize;
    /// Numbers in a group: 16, 32, or all of the block.
    const GROUP: usize;
    /// Whether groups have minima.
    const MINS: bool = false;

    /// Unpacks a block of [`Self::BYTES`] bytes into the first numbers, scales and minima of `to`.
    fn unpack(block: &[u8], to: &mut Unpacked);
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
    half::f16::from_bits(word(bytes)).to_f32()
}

/// The `u16` at the start of `bytes`.
#[inline(always)]
pub(super) fn word(bytes: &[u8]) -> u16 {
    u16::from_le_bytes([bytes[0], bytes[1]])
}

/// The `u32` at the start of `bytes`.
#[inline(always)]
pub(super) fn double_word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Unpacks half-bytes: those in the lower halves of `bytes` come first.
#[inline(always)]
pub(super) fn nibbles(bytes: &[u8], numbers: &mut [i8], value: impl Fn(u8) -> i8) {
    let (low, high) = numbers.split_at_mut(bytes.len());
    for ((byte, low), high) in bytes.iter().zip(low).zip(high) {
        *low = value(byte & 15);
        *high = value(byte >> 4);
    }
}

/// Unpacks pairs of bits: the lowest of every 32 bytes come first.
#[inline(always)]
pub(super) fn pairs(bytes: &[u8; 64], numbers: &mut [i8; LONGEST]) {
    for (bytes, numbers) in bytes.chunks_exact(32).zip(numbers.chunks_exact_mut(128)) {
        for (shift, numbers) in numbers.chunks_exact_mut(32).enumerate() {
            for (byte, number) in bytes.iter().zip(numbers) {
                *number = (byte >> (2 * shift) & 3) as i8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quant::QuantFormat;
    use crate::quant::dequantize_block;

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
                dispatch_format!(format, B => {
                    assert_eq!((B::LENGTH, B::BYTES), (length, bytes), "{format}");
                    dequantize_block::<B>(block, &mut Unpacked::default(), &mut got);
                });
                for (place, (got, value)) in got.iter().zip(values.chunks_exact(4)).enumerate() {
                    let value = f32::from_bits(double_word(value));
                    assert_eq!(got.to_bits(), value.to_bits(), "{format}, {number}, {place}: {got} {value}");
                }
            }
        }
    }
}
