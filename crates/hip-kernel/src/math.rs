//! Functions of numbers that `core` has for the host alone, and 16-bit floats.
//!
//! A 16-bit float is its bits, a `u16`: stable Rust has no type for it. On the host `DeviceView::recast` makes a view of `half::f16` or
//! `half::bf16` one of `u16`.

use crate::backend;

/// e to the power of `x`. On NVIDIA's GPUs it is the instruction for a power of 2, which has an error of some units in the last place that
/// grows with |x|.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    backend::exp(x)
}

/// The natural logarithm; on NVIDIA's GPUs by the instruction for base 2.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    backend::ln(x)
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
