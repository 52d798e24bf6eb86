//! From numbers to blocks: what the quantizers of all families share.
//!
//! A quantizer minimises the mean square error of each block, every number counting the same. It is deterministic: a
//! block depends on its numbers alone. NaN and infinities give a block of unspecified values.

use super::arrays::array;
use super::block::Block;

/// A format that numbers can be quantized to.
pub(crate) trait Pack: Block {
    /// Writes a block of [`Block::BYTES`] bytes, which are zero, from its [`Block::LENGTH`] values.
    fn pack(values: &[f32], block: &mut [u8]);
}

/// As [`super::block::dispatch_format`], for the formats that can be quantized to. Others evaluate the second body.
macro_rules! dispatch_packed {
    ($format:expr, $B:ident => $body:expr, else $other:expr) => {
        $crate::quant::pack::dispatch_packed!(@arms $format, $B, $body, $other;
            (Q4_0, legacy) (Q4_1, legacy) (Q5_0, legacy) (Q5_1, legacy) (Q8_0, legacy) (Q8_1, legacy)
            (Q2K, k) (Q3K, k) (Q4K, k) (Q5K, k) (Q6K, k) (Q8K, k) (IQ4NL, iq4) (IQ4XS, iq4) (MXFP4, fp4))
    };
    (@arms $format:expr, $B:ident, $body:expr, $other:expr; $(($name:ident, $family:ident))+) => {
        match $format {
            $($crate::quant::QuantFormat::$name => {
                type $B = $crate::quant::$family::$name;
                $body
            })+
            _ => $other,
        }
    };
}

pub(crate) use dispatch_packed;

/// Writes `value` as `f16` to the first bytes, and returns what they hold.
#[inline(always)]
pub(super) fn put_half(value: f32, bytes: &mut [u8]) -> f32 {
    let value = half::f16::from_f32(value);
    bytes[..2].copy_from_slice(&value.to_le_bytes());
    value.to_f32()
}

/// Packs integers of 4 bits: the first half into the lower halves of `bytes`.
#[inline(always)]
pub(super) fn put_nibbles(numbers: &[u8], bytes: &mut [u8]) {
    let (low, high) = numbers.split_at(bytes.len());
    for ((low, high), byte) in low.iter().zip(high).zip(bytes) {
        *byte = low & 15 | (high & 15) << 4;
    }
}

/// Packs integers of 2 bits: of every 128, the first 32 into the lowest bits of 32 bytes.
#[inline(always)]
pub(super) fn put_pairs(numbers: &[u8], bytes: &mut [u8]) {
    for (numbers, bytes) in numbers.chunks_exact(128).zip(bytes.chunks_exact_mut(32)) {
        for (shift, numbers) in numbers.chunks_exact(32).enumerate() {
            for (number, byte) in numbers.iter().zip(&mut *bytes) {
                *byte |= (number & 3) << (2 * shift);
            }
        }
    }
}

/// The value of the largest magnitude, with its sign; the first of equals.
#[inline(always)]
pub(super) fn extreme(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |most: f32, x| if x.abs() > most.abs() { *x } else { most })
}

/// 1 / `x`, or 0 for 0.
#[inline(always)]
pub(super) fn inverse(x: f32) -> f32 {
    if x == 0.0 { 0.0 } else { 1.0 / x }
}

/// Groups with smaller magnitudes become zeros, as in ggml.
pub(super) const TINY: f32 = 1e-15;

/// The scale for which `scale · nearest(x / scale)` has the least square error, of those found by mapping the extreme
/// value to each of `targets`. `nearest` gives the nearest representable integer.
///
/// With the integers q fixed, the error Σ(x − s·q)² is least for s = Σxq / Σq², and is then Σx² − (Σxq)² / Σq².
#[inline(always)]
pub(super) fn best_scale(
    values: &[f32],
    targets: impl Iterator<Item = f32>,
    nearest: impl Fn(f32) -> f32,
) -> f32 {
    let extreme = extreme(values);
    if extreme.abs() < TINY {
        return 0.0;
    }
    let (mut best, mut most) = (0.0, 0.0);
    for target in targets {
        let inverse = target / extreme;
        let [products, squares] = sums(values, |x| {
            let q = nearest(x * inverse);
            [x * q, q * q]
        });
        // If all q are zero this is NaN, and not more.
        let gain = products * products / squares;
        if gain > most {
            (best, most) = (products / squares, gain);
        }
    }
    best
}

/// The scale and the minimum, neither negative, for which `scale · q − min` with q in 0..=`top` has the least square
/// error, of those found by mapping the range of the values to `steps` tenths more or less than `top`.
///
/// With the integers q fixed, both follow from a linear regression of the values on q.
#[inline(always)]
pub(super) fn best_scale_and_min(
    values: &[f32],
    top: f32,
    steps: std::ops::RangeInclusive<i32>,
) -> (f32, f32) {
    let least = values.iter().fold(0f32, |least, x| least.min(*x));
    let most = values.iter().fold(f32::MIN, |most, x| most.max(*x));
    let range = most - least;
    if range.is_nan() || range <= TINY {
        return (0.0, -least);
    }
    let count = values.len() as f32;
    let [sum] = sums(values, |x| [x]);
    let (mut best, mut fewest) = ((range / top, -least), f32::INFINITY);
    for step in steps {
        let inverse = (top + 0.1 * step as f32) / range;
        let number = |x: f32| ((x - least) * inverse).round_ties_even().clamp(0.0, top);
        let [numbers, squares, products] = sums(values, |x| {
            let q = number(x);
            [q, q * q, q * x]
        });
        let determinant = count * squares - numbers * numbers;
        if determinant <= 0.0 {
            continue;
        }
        let mut scale = (count * products - sum * numbers) / determinant;
        let mut min = (numbers * products - squares * sum) / determinant;
        if min < 0.0 {
            (scale, min) = (products / squares, 0.0);
        }
        let [error] = sums(values, |x| {
            let difference = scale * number(x) - min - x;
            [difference * difference]
        });
        if error < fewest {
            (best, fewest) = ((scale, min), error);
        }
    }
    best
}

/// The sums over all values, whose number is a multiple of 8, of the terms that `terms` gives. In eight lanes, which the
/// compiler vectorises.
#[inline(always)]
fn sums<const N: usize>(values: &[f32], terms: impl Fn(f32) -> [f32; N]) -> [f32; N] {
    let mut lanes = [[0f32; 8]; N];
    for values in values.as_chunks::<8>().0 {
        for (lane, x) in values.iter().enumerate() {
            let terms = terms(*x);
            for i in 0..N {
                lanes[i][lane] += terms[i];
            }
        }
    }
    array(|i| lanes[i].iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quant::block::dispatch_format;
    use crate::quant::{QuantFormat, Row};

    /// The finaliser of SplitMix64 over a counter.
    fn word(number: u64) -> u64 {
        let x = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// The numbers that `tests/vectors/quant.py` quantizes.
    fn sample(kind: &str) -> Vec<f32> {
        let number = |index: u64| {
            let fields = (0..3).flat_map(|i| (0..4).map(move |j| word(4 * index + i) >> (16 * j) & 0xffff));
            let total: u64 = fields.sum();
            let x = (2 * total as i64 - 12 * 65535) as f32 * 2f32.powi(-22);
            match kind {
                "outliers" if word(4 * index + 3).is_multiple_of(64) => x * 16.0,
                "heavy" => x * x.abs() * 32.0,
                "shifted" => x + 2f32.powi(-5),
                _ => x,
            }
        };
        (0..4096).map(number).collect()
    }

    fn quantized(format: QuantFormat, values: &[f32]) -> Vec<u8> {
        let mut blocks = vec![0; values.len() / format.block_size() * format.type_size()];
        let pairs = values.chunks_exact(format.block_size()).zip(blocks.chunks_exact_mut(format.type_size()));
        dispatch_packed!(format, B => pairs.for_each(|(values, block)| B::pack(values, block)),
            else panic!("{format} has no quantizer"));
        blocks
    }

    fn dequantized(format: QuantFormat, blocks: &[u8]) -> Vec<f32> {
        let mut values = vec![0.0; blocks.len() / format.type_size() * format.block_size()];
        let mut row = Row::default();
        dispatch_format!(format, B => row.unpack::<B>(blocks));
        row.dequantize(&mut values);
        values
    }

    #[test]
    fn quant_errors_are_at_most_those_of_llama() {
        let table = include_str!("../../tests/vectors/quant/errors.tsv");
        let mut rows = 0;
        for row in table.lines().skip(1) {
            let [name, kind, error] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
            let format = QuantFormat::ALL.into_iter().find(|format| format.name() == name).unwrap();
            assert!(format.can_quantize());
            let (values, theirs) = (sample(kind), error.parse::<f64>().unwrap());
            let got = dequantized(format, &quantized(format, &values));
            let squares = values.iter().zip(&got).map(|(x, y)| (f64::from(*x) - f64::from(*y)).powi(2));
            let ours = squares.sum::<f64>() / values.len() as f64;
            println!("{name:8} {kind:9} {:.4}", ours / theirs);
            assert!(ours <= 1.02 * theirs, "{name}, {kind}: {ours:e} {theirs:e}");
            rows += 1;
        }
        assert_eq!(rows, 4 * QuantFormat::ALL.into_iter().filter(|format| format.can_quantize()).count());
    }

    #[test]
    fn quant_blocks_without_a_search_have_the_bits_of_llama() {
        macro_rules! check {
            ($($format:ident $name:literal;)+) => {$(
                let theirs = &include_bytes!(concat!("../../tests/vectors/quant/", $name, ".quantized"))[..];
                let ours = quantized(QuantFormat::$format, &sample("normal")[..512]);
                assert!(ours == theirs, $name);
            )+};
        }
        check!(Q4_0 "q4_0"; Q4_1 "q4_1"; Q5_0 "q5_0"; Q5_1 "q5_1"; Q8_0 "q8_0"; Q8_1 "q8_1"; Q8K "q8_k"; MXFP4 "mxfp4";);
    }

    #[test]
    fn quant_zeros_stay_and_no_number_panics() {
        let special = [0.0, -0.0, f32::MIN_POSITIVE, 1e-40, f32::MAX, f32::MIN, f32::INFINITY, f32::NAN, 1.0];
        for format in QuantFormat::ALL.into_iter().filter(|format| format.can_quantize()) {
            let zeros = dequantized(format, &quantized(format, &[0.0; 256]));
            assert!(zeros.iter().all(|x| *x == 0.0), "{format}");
            for (index, x) in special.into_iter().enumerate() {
                let mut values = [x; 256];
                quantized(format, &values);
                values.iter_mut().step_by(index + 2).for_each(|y| *y = 0.5);
                quantized(format, &values);
            }
        }
    }
}
