//! The Open Compute Project's 8-bit float with 4 exponent bits and 3 mantissa bits.

use std::cmp::Ordering;
use std::fmt;

use bytemuck::{Pod, Zeroable};

use crate::rounding;

/// OCP `E4M3`: bias 7, no infinities, NaN is `0x7f` and `0xff`, largest value 448, smallest 2⁻⁹.
///
/// A storage type: arithmetic happens in `f32`. Conversions to it round to nearest even and saturate: 1000 becomes 448,
/// −∞ becomes −448, and NaN stays NaN with its sign.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct F8E4M3(u8);

impl F8E4M3 {
    /// 448.
    pub const MAX: F8E4M3 = F8E4M3(0x7e);
    /// −448.
    pub const MIN: F8E4M3 = F8E4M3(0xfe);
    /// The smallest positive value, 2⁻⁹.
    pub const MIN_SUBNORMAL: F8E4M3 = F8E4M3(0x01);
    /// Not a number.
    pub const NAN: F8E4M3 = F8E4M3(0x7f);

    /// The value with this bit pattern: sign, 4 exponent bits, 3 mantissa bits.
    pub const fn from_bits(bits: u8) -> F8E4M3 {
        F8E4M3(bits)
    }

    /// The bit pattern.
    pub const fn to_bits(self) -> u8 {
        self.0
    }

    /// The nearest value, ties to even, saturating at ±448. NaN stays NaN.
    pub const fn from_f32(x: f32) -> F8E4M3 {
        let sign = (x.to_bits() >> 24) as u8 & 0x80;
        let magnitude = x.to_bits() & 0x7fff_ffff;
        let rounded = if magnitude > f32::INFINITY.to_bits() {
            0x7f
        } else if magnitude >= 448f32.to_bits() {
            0x7e
        } else if magnitude < SMALLEST_NORMAL.to_bits() {
            // The last place of 2^14 is 2^-9, so adding it rounds to a multiple of the subnormals' step.
            let sum = f32::from_bits(magnitude) + SUBNORMAL_ROUNDER;
            sum.to_bits() - SUBNORMAL_ROUNDER.to_bits()
        } else {
            // Rounds away 20 of the 23 mantissa bits. A carry correctly runs into the exponent.
            let even = (magnitude >> 20) & 1;
            ((magnitude + 0x7_ffff + even) >> 20) - ((127 - 7) << 3)
        };
        F8E4M3(sign | rounded as u8)
    }

    /// The nearest value to an `f64`, rounded once.
    pub fn from_f64(x: f64) -> F8E4M3 {
        F8E4M3::from_f32(rounding::f64_to_odd_f32(x))
    }

    /// The exact value.
    pub const fn to_f32(self) -> f32 {
        VALUES[self.0 as usize]
    }

    /// The exact value.
    pub const fn to_f64(self) -> f64 {
        self.to_f32() as f64
    }

    /// Whether this is one of the two NaN patterns.
    pub const fn is_nan(self) -> bool {
        self.0 & 0x7f == 0x7f
    }
}

/// 2⁻⁶.
const SMALLEST_NORMAL: f32 = 0.015625;
/// 2¹⁴.
const SUBNORMAL_ROUNDER: f32 = 16384.0;
/// The value of each bit pattern.
const VALUES: [f32; 256] = values();

const fn values() -> [f32; 256] {
    let mut values = [0f32; 256];
    let mut bits = 0;
    while bits < 256 {
        let exponent = (bits >> 3) & 15;
        let mantissa = (bits & 7) as f32;
        let magnitude = if bits & 0x7f == 0x7f {
            f32::NAN
        } else if exponent == 0 {
            mantissa / 512.0
        } else {
            (1.0 + mantissa / 8.0) * f32::from_bits(((exponent + 127 - 7) as u32) << 23)
        };
        values[bits] = if bits & 0x80 != 0 { -magnitude } else { magnitude };
        bits += 1;
    }
    values
}

impl PartialEq for F8E4M3 {
    /// Compares as floats do: −0 equals +0, and NaN equals nothing.
    fn eq(&self, other: &F8E4M3) -> bool {
        self.to_f32() == other.to_f32()
    }
}

impl PartialOrd for F8E4M3 {
    fn partial_cmp(&self, other: &F8E4M3) -> Option<Ordering> {
        self.to_f32().partial_cmp(&other.to_f32())
    }
}

impl fmt::Debug for F8E4M3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_f32(), f)
    }
}

impl fmt::Display for F8E4M3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.to_f32(), f)
    }
}

impl From<F8E4M3> for f32 {
    fn from(x: F8E4M3) -> f32 {
        x.to_f32()
    }
}

impl From<F8E4M3> for f64 {
    fn from(x: F8E4M3) -> f64 {
        x.to_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_has_the_value_of_the_float8_crate() {
        for bits in 0..=u8::MAX {
            let (ours, theirs) = (F8E4M3::from_bits(bits).to_f32(), float8::F8E4M3::from_bits(bits).to_f32());
            assert!(
                ours == theirs && ours.is_sign_negative() == theirs.is_sign_negative()
                    || ours.is_nan() && theirs.is_nan()
            );
            assert_eq!(F8E4M3::from_bits(bits).is_nan(), theirs.is_nan());
        }
    }

    #[test]
    fn every_value_comes_back_as_its_own_pattern() {
        for bits in 0..=u8::MAX {
            assert_eq!(F8E4M3::from_f32(F8E4M3::from_bits(bits).to_f32()).to_bits() & 0x7f, bits & 0x7f);
            assert_eq!(F8E4M3::from_f64(F8E4M3::from_bits(bits).to_f64()).to_bits() & 0x7f, bits & 0x7f);
        }
    }

    #[test]
    fn ties_go_to_even_and_neighbours_of_ties_do_not() {
        for low in 0..0x7eu8 {
            let (a, b) = (F8E4M3::from_bits(low).to_f64(), F8E4M3::from_bits(low + 1).to_f64());
            let tie = (a + b) / 2.0;
            let even = if low % 2 == 0 { low } else { low + 1 };
            for sign in [1.0, -1.0] {
                let bits = |x: f64| F8E4M3::from_f64(sign * x).to_bits() & 0x7f;
                assert_eq!(bits(tie), even, "{tie}");
                assert_eq!(bits(tie.next_up()), low + 1, "just above {tie}");
                assert_eq!(bits(tie.next_down()), low, "just below {tie}");
                assert_eq!(F8E4M3::from_f32((sign * tie) as f32).to_bits() & 0x7f, even);
            }
        }
    }

    #[test]
    fn large_values_saturate_and_nan_stays() {
        for x in [448.0, 463.9, 464.0, 465.0, 1e9, f32::MAX, f32::INFINITY] {
            assert_eq!(F8E4M3::from_f32(x).to_f32(), 448.0);
            assert_eq!(F8E4M3::from_f32(-x).to_f32(), -448.0);
            assert_eq!(F8E4M3::from_f64(f64::from(x)).to_f32(), 448.0);
        }
        assert!(F8E4M3::from_f32(f32::NAN).is_nan() && F8E4M3::from_f64(-f64::NAN).is_nan());
    }

    #[test]
    fn all_f32_exponents_agree_with_the_float8_crate() {
        // Every 2^13-th pattern covers every exponent and all ties at the top of the mantissa.
        for pattern in (0..=u32::MAX).step_by(1 << 13) {
            let x = f32::from_bits(pattern);
            let (ours, theirs) = (F8E4M3::from_f32(x), float8::F8E4M3::from_f32(x));
            assert_eq!(ours.is_nan(), theirs.to_f32().is_nan(), "{x:e}");
            assert!(ours.is_nan() || ours.to_bits() == theirs.to_bits(), "{x:e}: {ours:?} {theirs:?}");
        }
    }
}
