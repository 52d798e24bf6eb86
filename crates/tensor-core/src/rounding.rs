//! Conversions with a single rounding.
//!
//! A number converted to a 16-bit or 8-bit type through `f32` would be rounded twice. Rounding the first step *to odd*
//! avoids this: an inexact result gets its last bit set. It is then neither a tie nor exact for the second step, which
//! has at least two bits less.

use half::{bf16, f16};

/// Converts `x` to `f32`, rounding to odd: an inexact result has its last mantissa bit set. Never overflows.
pub(crate) fn f64_to_odd_f32(x: f64) -> f32 {
    let nearest = x as f32;
    if f64::from(nearest) == x || x.is_nan() {
        return nearest;
    }
    let bits = nearest.to_bits();
    let toward_zero = if f64::from(nearest).abs() > x.abs() { bits - 1 } else { bits };
    f32::from_bits(toward_zero | 1)
}

/// Converts `x` to `f32`, rounding to odd.
pub(crate) fn i64_to_odd_f32(x: i64) -> f32 {
    let magnitude = x.unsigned_abs();
    let excess = (64 - magnitude.leading_zeros()).saturating_sub(24);
    let kept = magnitude >> excess;
    let inexact = kept << excess != magnitude;
    // 24 bits, times a power of two below 2^64: both conversions are exact.
    let value = (kept | u64::from(inexact)) as f32 * (1u64 << excess) as f32;
    if x < 0 { -value } else { value }
}

/// The nearest `f16`, ties to even. The `half` crate converts through `f32` on some machines.
pub(crate) fn f64_to_f16(x: f64) -> f16 {
    f16::from_f32(f64_to_odd_f32(x))
}

/// The nearest `bf16`, ties to even. The `half` crate ignores the lower bits of `x`.
pub(crate) fn f64_to_bf16(x: f64) -> bf16 {
    bf16::from_f32(f64_to_odd_f32(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks `round` at every value of a 16-bit format, at every tie, and next to every tie.
    fn check_ties(decode: fn(u16) -> f64, round: fn(f64) -> u16, largest: u16) {
        for low in 0..largest {
            let (a, b) = (decode(low), decode(low + 1));
            let tie = (a + b) / 2.0;
            let even = if low % 2 == 0 { low } else { low + 1 };
            assert_eq!(round(a), low);
            assert_eq!(round(tie), even, "{tie:e}");
            assert_eq!(round(tie.next_up()), low + 1, "just above {tie:e}");
            assert_eq!(round(tie.next_down()), low, "just below {tie:e}");
            assert_eq!(round(-tie), even | 0x8000, "{:e}", -tie);
        }
    }

    #[test]
    fn f64_is_rounded_once_to_f16() {
        check_ties(|bits| f64::from(f16::from_bits(bits)), |x| f64_to_f16(x).to_bits(), f16::MAX.to_bits());
        assert_eq!(f64_to_f16(65519.999999999), f16::MAX);
        assert_eq!(f64_to_f16(65520.0), f16::INFINITY);
        assert!(f64_to_f16(f64::NAN).is_nan());
    }

    #[test]
    fn f64_is_rounded_once_to_bf16() {
        check_ties(
            |bits| f64::from(bf16::from_bits(bits)),
            |x| f64_to_bf16(x).to_bits(),
            bf16::MAX.to_bits(),
        );
        assert_eq!(f64_to_bf16(1e300), bf16::INFINITY);
        assert_eq!(f64_to_bf16(-1e-300).to_bits(), 0x8000);
    }

    #[test]
    fn integers_are_rounded_once_to_bf16() {
        // 2^40 + 2^32 is a tie of bf16 (8 bits). One more is not, but rounding to the nearest f32 would make it one.
        let tie = (1i64 << 40) + (1 << 32);
        assert_eq!(bf16::from_f32(i64_to_odd_f32(tie)).to_f64(), (1i64 << 40) as f64);
        assert_eq!(bf16::from_f32(i64_to_odd_f32(tie + 1)).to_f64(), ((1i64 << 40) + (1 << 33)) as f64);
        assert_eq!(bf16::from_f32(i64_to_odd_f32(-tie - 1)).to_f64(), -((1i64 << 40) + (1 << 33)) as f64);
        assert_eq!(i64_to_odd_f32(i64::MIN), -(2f32.powi(63)));
        assert_eq!(i64_to_odd_f32(16_777_217), 16_777_218.0);
        assert_eq!(i64_to_odd_f32(-16_777_215), -16_777_215.0);
    }
}
