//! Rounding to number formats, and ulp sizes, in plain integer arithmetic. All float formats share one description.

use crate::{DType, Dd};

/// A binary float format.
struct Format {
    /// Bits of the significand, including the hidden one.
    precision: i32,
    /// Exponent of the smallest normal number, 2^min.
    min_exponent: i32,
    /// Exponent of the largest finite numbers: 2^max ≤ x.
    max_exponent: i32,
    /// Bit pattern of the largest finite number.
    max_bits: u64,
    /// Bit pattern of positive overflow: the infinity, or the largest number if the format saturates.
    overflow_bits: u64,
    /// The canonical NaN.
    nan_bits: u64,
}

const F8E4M3: Format = Format {
    precision: 4,
    min_exponent: -6,
    max_exponent: 8,
    max_bits: 0x7e,
    overflow_bits: 0x7e,
    nan_bits: 0x7f,
};
const BF16: Format = Format {
    precision: 8,
    min_exponent: -126,
    max_exponent: 127,
    max_bits: 0x7f7f,
    overflow_bits: 0x7f80,
    nan_bits: 0x7fc0,
};
const F16: Format = Format {
    precision: 11,
    min_exponent: -14,
    max_exponent: 15,
    max_bits: 0x7bff,
    overflow_bits: 0x7c00,
    nan_bits: 0x7e00,
};
const F32: Format = Format {
    precision: 24,
    min_exponent: -126,
    max_exponent: 127,
    max_bits: 0x7f7f_ffff,
    overflow_bits: 0x7f80_0000,
    nan_bits: 0x7fc0_0000,
};
const F64: Format = Format {
    precision: 53,
    min_exponent: -1022,
    max_exponent: 1023,
    max_bits: 0x7fef_ffff_ffff_ffff,
    overflow_bits: 0x7ff0_0000_0000_0000,
    nan_bits: 0x7ff8_0000_0000_0000,
};

fn format(dtype: DType) -> &'static Format {
    match dtype {
        DType::F8E4M3 => &F8E4M3,
        DType::BF16 => &BF16,
        DType::F16 => &F16,
        DType::F32 => &F32,
        // Integers have no float format. Callers pass floats only.
        _ => &F64,
    }
}

/// The exact value of a float bit pattern. For integer dtypes use [`DType::decode`].
pub fn decode_float(dtype: DType, bits: u64) -> f64 {
    match dtype {
        DType::F64 => return f64::from_bits(bits),
        DType::F32 => return f64::from(f32::from_bits(bits as u32)),
        _ => {}
    }
    let format = format(dtype);
    let sign_bit = 1 << (dtype.bits() - 1);
    let magnitude = bits & (sign_bit - 1);
    let stored = format.precision - 1;
    let fraction = (magnitude & ((1 << stored) - 1)) as f64;
    let value = match magnitude >> stored {
        _ if magnitude > format.overflow_bits => f64::NAN,
        _ if magnitude > format.max_bits => f64::INFINITY,
        0 => fraction * power_of_two(format.min_exponent - stored),
        exponent => {
            (fraction + (1u64 << stored) as f64)
                * power_of_two(exponent as i32 - 1 + format.min_exponent - stored)
        }
    };
    if bits & sign_bit == 0 { value } else { -value }
}

/// The bit pattern of `x` rounded once to nearest, ties to even. `f8e4m3` saturates at ±448, also for infinities.
/// `dtype` is a float.
pub fn round_f64(dtype: DType, x: f64) -> u64 {
    if dtype == DType::F64 && !x.is_nan() {
        return x.to_bits();
    }
    let format = format(dtype);
    let sign = (x.to_bits() >> 63) << (dtype.bits() - 1);
    let magnitude = if x.is_nan() {
        format.nan_bits
    } else if x.is_infinite() {
        format.overflow_bits
    } else {
        round_finite(format, x.abs())
    };
    sign | magnitude
}

fn round_finite(format: &Format, x: f64) -> u64 {
    let (significand, exponent) = split(x);
    if significand == 0 {
        return 0;
    }
    // x = significand · 2^exponent. The highest bit of the significand is worth 2^top.
    let top = exponent + 63 - significand.leading_zeros() as i32;
    // Exponent of the format's ulp at x.
    let last = top.max(format.min_exponent) - (format.precision - 1);
    let units = match last - exponent {
        drop @ ..=0 => significand << -drop,
        drop @ 1..=63 => {
            let (kept, rest) = (significand >> drop, significand & ((1 << drop) - 1));
            let half = 1 << (drop - 1);
            kept + u64::from(rest > half || rest == half && kept & 1 == 1)
        }
        // x is below 2^53 · 2^(last - 64), less than half a unit.
        _ => 0,
    };
    // The units include the hidden bit, which adds one to the exponent field. A carry out of the significand increments
    // the exponent in the same way.
    let field = (top.max(format.min_exponent) - format.min_exponent) as u64;
    let bits = (field << (format.precision - 1)) + units;
    if bits > format.max_bits { format.overflow_bits } else { bits }
}

/// Splits a finite `x ≥ 0` into significand · 2^exponent.
fn split(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match (bits >> 52) as i32 {
        0 => (fraction, -1074),
        field => (fraction | 1 << 52, field - 1075),
    }
}

/// The bit pattern of a double-double rounded once to nearest, ties to even.
pub fn round_dd(dtype: DType, x: Dd) -> u64 {
    if dtype.is_int() {
        return dtype.encode(crate::Value::Int(x.to_int()));
    }
    // hi is the nearest f64 already. For narrower formats, rounding to an odd significand keeps the side of every tie
    // that the low part is on.
    if dtype == DType::F64 { round_f64(dtype, x.hi) } else { round_f64(dtype, round_to_odd(x.hi, x.lo)) }
}

/// `hi + lo` rounded to odd: exact if representable, otherwise the neighbour with an odd significand. `hi` must be
/// `hi + lo` rounded to nearest. Rounding the result to a format of at most 51 bits equals rounding `hi + lo` to it.
pub(crate) fn round_to_odd(hi: f64, lo: f64) -> f64 {
    if lo == 0.0 || !hi.is_finite() || hi == 0.0 || hi.to_bits() & 1 == 1 {
        return hi;
    }
    // hi is even and inexact, so the odd neighbour is one step towards lo.
    let away_from_zero = (lo > 0.0) == (hi > 0.0);
    f64::from_bits(if away_from_zero { hi.to_bits() + 1 } else { hi.to_bits() - 1 })
}

/// The bit pattern of an integer rounded once to nearest, ties to even. `dtype` is a float.
pub fn round_int(dtype: DType, i: i128) -> u64 {
    round_dd(dtype, Dd::from_int(i))
}

/// Truncates towards zero and saturates to `range`; NaN becomes 0.
pub fn saturate(range: (i128, i128), x: f64) -> i128 {
    // `as` truncates and saturates to i128, whose range includes that of every integer dtype.
    (x as i128).clamp(range.0, range.1)
}

/// The low bits of `i` in two's complement, as many as an integer dtype has.
pub fn wrap(dtype: DType, i: i128) -> u64 {
    let bits = i as u64;
    if dtype.bits() == 64 { bits } else { bits & ((1 << dtype.bits()) - 1) }
}

/// The ulp at `x`: the distance between neighbouring numbers of the dtype in the binade of `x`. The exponent is clamped
/// to that of normal numbers, so that the smallest result is the smallest subnormal. 1 for integers, NaN for NaN and
/// infinities.
pub fn ulp(dtype: DType, x: f64) -> f64 {
    if dtype.is_int() {
        return 1.0;
    }
    if !x.is_finite() {
        return f64::NAN;
    }
    let format = format(dtype);
    let (significand, exponent) = split(x.abs());
    let top = exponent + 63 - significand.leading_zeros().min(63) as i32;
    power_of_two(top.clamp(format.min_exponent, format.max_exponent) - (format.precision - 1))
}

/// The largest finite value of a dtype.
pub fn max_value(dtype: DType) -> f64 {
    match dtype.int_range() {
        Some((_, max)) => max as f64,
        None => decode_float(dtype, format(dtype).max_bits),
    }
}

/// The smallest positive normal value of a float dtype.
pub fn min_normal(dtype: DType) -> f64 {
    power_of_two(format(dtype).min_exponent)
}

/// Half of the number that would follow the largest finite one of a float dtype.
pub(crate) fn half_step_past_max(dtype: DType) -> f64 {
    max_value(dtype) * 0.5 + ulp(dtype, max_value(dtype)) * 0.5
}

/// 2^exponent; 0 below the subnormals, infinity above the largest.
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    match exponent {
        ..-1074 => 0.0,
        -1074..-1022 => f64::from_bits(1 << (exponent + 1074)),
        -1022..=1023 => f64::from_bits(((exponent + 1023) as u64) << 52),
        _ => f64::INFINITY,
    }
}
