//! The number at an index of a block.
//!
//! The scale of a number is the block's `f16` scale times that of the number's group, an integer of at most 8 bits. So
//! scale, scale · integer and base are exact in `f32`, and only the sum of the two is rounded.

use super::QuantFormat;
use crate::DType;
use crate::round::{decode_float, power_of_two, round_f64};

/// A number: `scale · integer + base`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    scale: f64,
    integer: i32,
    /// The integer is stored with this zero point added, which makes it unsigned; 0 where it is stored as it is.
    zero_point: i32,
    /// `None` in formats without bases: there a product of −0 stays −0.
    base: Option<f64>,
}

impl Number {
    /// The value, rounded to `f32`.
    pub(super) fn value(self) -> f64 {
        let product = self.scale * f64::from(self.integer);
        let exact = self.base.map_or(product, |base| product + base);
        decode_float(DType::F32, round_f64(DType::F32, exact))
    }

    /// |scale| · (|integer + zero point| + zero point) + |base|: a device may multiply the stored integer, and subtract the zero point's
    /// share afterwards.
    pub(super) fn magnitude(self) -> f64 {
        let stored = (self.integer + self.zero_point).abs() + self.zero_point;
        self.scale.abs() * f64::from(stored) + self.base.map_or(0.0, f64::abs)
    }
}

/// Number `i` of `block`, which has the format's length in bytes. `i` is below the format's length in numbers.
pub(super) fn number(format: QuantFormat, block: &[u8], i: usize) -> Number {
    let scale = |which: usize| f16(block, format.scales()[which]);
    let plain = |integer| Number { scale: scale(0), integer, zero_point: 0, base: None };
    let unsigned = |scale, stored: i32, zero_point| Number {
        scale,
        integer: stored - zero_point,
        zero_point,
        base: None,
    };
    match format {
        QuantFormat::Q4_0 => unsigned(scale(0), nibble(&block[2..], i), 8),
        QuantFormat::Q4_1 => based(scale(0), nibble(&block[4..], i), scale(1)),
        QuantFormat::Q5_0 => unsigned(scale(0), nibble(&block[6..], i) | bit(&block[2..], i) << 4, 16),
        QuantFormat::Q5_1 => based(scale(0), nibble(&block[8..], i) | bit(&block[4..], i) << 4, scale(1)),
        QuantFormat::Q8_0 => plain(signed(block[2 + i])),
        QuantFormat::IQ4NL => plain(uneven(nibble(&block[2..], i))),
        QuantFormat::MXFP4 => Number {
            // The table has twice the values of e2m1, so that they are integers.
            scale: power_of_two(i32::from(block[0]) - 128),
            integer: twice_e2m1(nibble(&block[1..], i)),
            zero_point: 0,
            base: None,
        },
        QuantFormat::Q2K => {
            let group = i32::from(block[i / 16]);
            let integer = quarter(&block[16..], i);
            based(scale(0) * f64::from(group & 15), integer, -(scale(1) * f64::from(group >> 4)))
        }
        QuantFormat::Q3K => {
            let stored = quarter(&block[32..], i) | eighth(block, i) << 2;
            unsigned(scale(0) * f64::from(scale_of_6_bits(&block[96..], i / 16) - 32), stored, 4)
        }
        QuantFormat::Q4K => {
            let (own, least) = pair_of_6_bits(&block[4..], i / 32);
            let integer = half(&block[16..], i);
            based(scale(0) * f64::from(own), integer, -(scale(1) * f64::from(least)))
        }
        QuantFormat::Q5K => {
            let (own, least) = pair_of_6_bits(&block[4..], i / 32);
            let integer = half(&block[48..], i) | eighth(&block[16..], i) << 4;
            based(scale(0) * f64::from(own), integer, -(scale(1) * f64::from(least)))
        }
        QuantFormat::Q6K => {
            // Of each 128 numbers, 64 bytes have the low halves: those of the first 64, and above them of the others.
            let low = bits(block[64 * (i / 128) + i % 64], 4 * (i % 128 / 64), 4);
            let stored = low | quarter(&block[128..], i) << 4;
            unsigned(scale(0) * f64::from(signed(block[192 + i / 16])), stored, 32)
        }
        QuantFormat::IQ4XS => {
            let group = i / 32;
            let low = bits(block[4 + group / 2], 4 * (group % 2), 4);
            let high = bits(block[2 + group / 4], 2 * (group % 4), 2);
            let integer = uneven(nibble(&block[8 + 16 * group..], i % 32));
            Number { scale: scale(0) * f64::from((low | high << 4) - 32), integer, zero_point: 0, base: None }
        }
    }
}

fn based(scale: f64, integer: i32, base: f64) -> Number {
    Number { scale, integer, zero_point: 0, base: Some(base) }
}

fn f16(block: &[u8], at: usize) -> f64 {
    decode_float(DType::F16, u64::from(u16::from_le_bytes([block[at], block[at + 1]])))
}

/// `count` bits of a byte, from `first` on.
fn bits(byte: u8, first: usize, count: u32) -> i32 {
    i32::from(byte) >> first & ((1 << count) - 1)
}

fn signed(byte: u8) -> i32 {
    i32::from(i8::from_le_bytes([byte]))
}

/// 4 bits of 32 numbers in 16 bytes: the low halves are those of the first 16 numbers.
fn nibble(bytes: &[u8], i: usize) -> i32 {
    bits(bytes[i % 16], 4 * (i / 16), 4)
}

/// A bit of a number, eight numbers in a byte.
fn bit(bytes: &[u8], i: usize) -> i32 {
    bits(bytes[i / 8], i % 8, 1)
}

/// 4 bits of 256 numbers, 64 numbers in 32 bytes: the low halves are those of the first 32.
fn half(bytes: &[u8], i: usize) -> i32 {
    bits(bytes[32 * (i / 64) + i % 32], 4 * (i / 32 % 2), 4)
}

/// 2 bits of 256 numbers, 128 numbers in 32 bytes, 32 after another from the lowest bits on.
fn quarter(bytes: &[u8], i: usize) -> i32 {
    bits(bytes[32 * (i / 128) + i % 32], 2 * (i / 32 % 4), 2)
}

/// A bit of 256 numbers in 32 bytes, 32 after another from the lowest bit on.
fn eighth(bytes: &[u8], i: usize) -> i32 {
    bits(bytes[i % 32], i / 32, 1)
}

/// The scale of a group of 16 of q3_k: 16 scales of 6 bits. The first 8 bytes have the low four bits of two scales each,
/// the last 4 bytes the high two bits of four.
fn scale_of_6_bits(bytes: &[u8], group: usize) -> i32 {
    bits(bytes[group % 8], 4 * (group / 8), 4) | bits(bytes[8 + group % 4], 2 * (group / 4), 2) << 4
}

/// The scale and the base of a group of 32 of q4_k and q5_k: 8 pairs of 6 bits. The first 4 scales and the first 4 bases are
/// the low bits of the first 8 bytes. Of the other 4 pairs the low four bits are in the last 4 bytes, and the high two
/// above those of the first.
fn pair_of_6_bits(bytes: &[u8], group: usize) -> (i32, i32) {
    let own = group % 4;
    match group / 4 {
        0 => (bits(bytes[own], 0, 6), bits(bytes[4 + own], 0, 6)),
        _ => (
            bits(bytes[8 + own], 0, 4) | bits(bytes[own], 6, 2) << 4,
            bits(bytes[8 + own], 4, 4) | bits(bytes[4 + own], 6, 2) << 4,
        ),
    }
}

/// The integers of iq4_nl and iq4_xs.
#[doc(alias = "kvalues_iq4nl")]
fn uneven(index: i32) -> i32 {
    const INTEGERS: [i32; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];
    INTEGERS[index as usize]
}

/// Twice the value of a float with a sign, two bits of exponent and one of fraction: ±0, ½, 1, 1½, 2, 3, 4 or 6. Both zeros
/// are 0.
fn twice_e2m1(pattern: i32) -> i32 {
    let magnitude = match (pattern >> 1 & 3, pattern & 1) {
        (0, fraction) => fraction,
        (exponent, fraction) => (2 + fraction) << (exponent - 1),
    };
    if pattern & 8 == 0 { magnitude } else { -magnitude }
}
