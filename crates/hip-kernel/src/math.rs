//! Functions of numbers that `core` has for the host alone, and 16-bit floats.
//!
//! A 16-bit float is its bits, a `u16`: stable Rust has no type for it. On the host `DeviceView::recast` makes a view of `half::f16` or
//! `half::bf16` one of `u16`.

use crate::backend;

/// e to the power of `x`, within about two units in the last place.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    backend::exp(x)
}

/// The natural logarithm, within about two units in the last place.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    backend::ln(x)
}

/// e to the power of `x`, by a GPU's instruction for powers of 2: the relative error grows with |x|, by 1.2e-7 for each unit, and results
/// below 1.2e-38 may be 0. On the host it is [`exp`].
#[doc(alias = "__expf")]
#[inline(always)]
pub fn fast_exp(x: f32) -> f32 {
    backend::fast_exp(x)
}

/// The natural logarithm, by a GPU's instruction for base 2: near 1, where the result is near 0, the error is up to 3e-7 of 1, not of the
/// result. Arguments below 1.2e-38 may count as 0. On the host it is [`ln`].
#[doc(alias = "__logf")]
#[inline(always)]
pub fn fast_ln(x: f32) -> f32 {
    backend::fast_ln(x)
}

/// [`exp`] by a function for powers of 2, which is precise for small numbers. NVIDIA's target has no library.
#[cfg(any(target_arch = "nvptx64", test))]
#[inline(always)]
pub(crate) fn exp_by(power_of_2: impl Fn(f32) -> f32, x: f32) -> f32 {
    use core::f32::consts::LOG2_E;
    /// The logarithm of e to base 2, but for what `LOG2_E` has of it.
    const LOG2_E_REST: f32 = 1.925_963e-8;
    /// A float of this size has no fraction, so adding it rounds. Its last bits are 127, the bias of a float's exponent.
    const ROUND: f32 = 12_583_039.0;
    // x · log2(e) is a whole number and a rest. Where the whole number would be no exponent of a normal float, the rest takes what is beyond.
    #[expect(clippy::manual_clamp, reason = "two instructions; clamp, which keeps NaN, takes four")]
    let shifted = fma(x, LOG2_E, ROUND).max(ROUND - 126.0).min(ROUND + 127.0);
    let whole = shifted - ROUND;
    let rest = fma(x, LOG2_E_REST, fma(x, LOG2_E, -whole));
    power_of_2(rest) * f32::from_bits(shifted.to_bits() << 23)
}

/// [`ln`] by arithmetic: `logf` of FreeBSD's msun (`e_logf.c`), which is off by less than a unit in the last place.
#[cfg(any(target_arch = "nvptx64", test))]
#[inline(always)]
pub(crate) fn ln_by_arithmetic(x: f32) -> f32 {
    const LN_2_HIGH: f32 = 0.693_138_1;
    const LN_2_LOW: f32 = 9.058_001e-6;
    /// The bits of the square root of a half: fractions lie between it and its double.
    const ROOT_HALF: u32 = 0x3f35_04f3;
    let (x, shift) = if x < f32::MIN_POSITIVE { (x * 33_554_432.0, -25) } else { (x, 0) };
    if x.is_nan() || x < 0.0 {
        return f32::NAN;
    }
    if x == 0.0 {
        return f32::NEG_INFINITY;
    }
    if x == f32::INFINITY {
        return x;
    }
    let bits = x.to_bits() + (0x3f80_0000 - ROOT_HALF);
    let exponent = ((bits >> 23) as i32 - 127 + shift) as f32;
    let f = f32::from_bits((bits & 0x007f_ffff) + ROOT_HALF) - 1.0;
    let s = f / (2.0 + f);
    let (z, w) = (s * s, s * s * (s * s));
    let odd = w * (0.400_009_72 + w * 0.242_790_79);
    let even = z * (0.666_666_6 + w * 0.284_987_87);
    let half_square = 0.5 * f * f;
    s * (half_square + (odd + even)) + exponent * LN_2_LOW - half_square + f + exponent * LN_2_HIGH
}

/// The square root, rounded to nearest.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    backend::sqrt(x)
}

/// `a * b + c`, rounded once.
#[inline(always)]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    backend::fma(a, b, c)
}

/// The value of an IEEE 754 half.
#[inline(always)]
pub fn f16_to_f32(bits: u16) -> f32 {
    backend::f16_to_f32(bits)
}

/// The nearest half; ties go to the even one.
#[inline(always)]
pub fn f32_to_f16(value: f32) -> u16 {
    backend::f32_to_f16(value)
}

/// The value of a bfloat16: the upper half of an `f32`.
#[inline(always)]
pub fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The nearest bfloat16; ties go to the even one. NaN stays NaN.
#[inline(always)]
pub fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        // Rounding could carry into the sign.
        return (bits >> 16) as u16 | 0x40;
    }
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error in units in the last place of the exact result.
    fn units(got: f32, exact: f64) -> f64 {
        let unit = f64::from((exact.abs() as f32).next_up()) - f64::from(exact.abs() as f32);
        (f64::from(got) - exact).abs() / unit
    }

    #[test]
    fn powers_of_e_from_powers_of_2() {
        let exp = |x| exp_by(f32::exp2, x);
        for step in -103_000..88_722 {
            let x = step as f32 / 1000.0;
            assert!(units(exp(x), f64::from(x).exp()) <= 2.0, "{x}: {}", exp(x));
        }
        assert_eq!((exp(89.5), exp(f32::INFINITY), exp(-105.0)), (f32::INFINITY, f32::INFINITY, 0.0));
        assert_eq!((exp(0.0), exp(f32::NEG_INFINITY)), (1.0, 0.0));
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn logarithms_by_arithmetic() {
        for bits in (1..f32::INFINITY.to_bits()).step_by(9973) {
            let x = f32::from_bits(bits);
            assert!(units(ln_by_arithmetic(x), f64::from(x).ln()) <= 1.0, "{x}: {}", ln_by_arithmetic(x));
        }
        for x in (0..2000).map(|step| 0.99 + step as f32 * 1e-5) {
            assert!(units(ln_by_arithmetic(x), f64::from(x).ln()) <= 1.0, "{x}: {}", ln_by_arithmetic(x));
        }
        assert_eq!(ln_by_arithmetic(0.0), f32::NEG_INFINITY);
        assert_eq!(ln_by_arithmetic(f32::INFINITY), f32::INFINITY);
        assert!(ln_by_arithmetic(-1.0).is_nan() && ln_by_arithmetic(f32::NAN).is_nan());
    }

    #[test]
    fn sixteen_bits() {
        // 1 + 2^-8 lies between the neighbours 0x3f80 and 0x3f81; the even one wins.
        assert_eq!(f32_to_bf16(1.0 + 1.0 / 256.0), 0x3f80);
        assert_eq!(f32_to_bf16(1.0 + 3.0 / 256.0), 0x3f82);
        assert_eq!(f32_to_bf16(f32::MAX), 0x7f80);
        assert!(bf16_to_f32(f32_to_bf16(f32::from_bits(0x7fff_ffff))).is_nan());
        assert_eq!(bf16_to_f32(0xc040), -3.0);
        assert_eq!((f16_to_f32(0x3c01), f32_to_f16(65520.0)), (1.0 + 1.0 / 1024.0, 0x7c00));
    }
}
