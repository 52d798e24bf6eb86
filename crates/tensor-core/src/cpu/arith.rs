//! Arithmetic of the compute types, with the same meaning as on every device.

use std::fmt::Debug;

/// A type that the CPU computes in: `u8 u32 i16 i32 i64 f32 f64`.
///
/// Integers wrap; their division and remainder by zero is 0. For floats, `min` and `max` propagate NaN and order −0
/// below +0.
pub(crate) trait Arith: bytemuck::Pod + Default + Debug + PartialOrd + Send + Sync {
    /// 1.
    const ONE: Self;

    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// The remainder with the sign of `self`.
    fn rem(self, other: Self) -> Self;
    /// The operand that is [`Arith::less`].
    fn min(self, other: Self) -> Self;
    /// The operand that is [`Arith::greater`].
    fn max(self, other: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    /// 1, −1, or 0 for zeros and NaN.
    fn sign(self) -> Self;
    /// `self · mul + add`, rounded once for floats.
    fn mul_add(self, mul: Self, add: Self) -> Self;
    /// Whether `self` comes before `other` in a strict ascending order with NaN first and −0 below +0.
    fn less(self, other: Self) -> bool;
    /// Whether `self` comes before `other` in a strict descending order with NaN first and −0 below +0.
    fn greater(self, other: Self) -> bool;
}

macro_rules! integer {
    ($($type:ty: $abs:expr, $sign:expr;)+) => {
        $(impl Arith for $type {
            const ONE: $type = 1;

            #[inline(always)]
            fn add(self, other: $type) -> $type {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: $type) -> $type {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn mul(self, other: $type) -> $type {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn div(self, other: $type) -> $type {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline(always)]
            fn rem(self, other: $type) -> $type {
                if other == 0 { 0 } else { self.wrapping_rem(other) }
            }
            #[inline(always)]
            fn min(self, other: $type) -> $type {
                Ord::min(self, other)
            }
            #[inline(always)]
            fn max(self, other: $type) -> $type {
                Ord::max(self, other)
            }
            #[inline(always)]
            fn neg(self) -> $type {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn abs(self) -> $type {
                $abs(self)
            }
            #[inline(always)]
            fn sign(self) -> $type {
                $sign(self)
            }
            #[inline(always)]
            fn mul_add(self, mul: $type, add: $type) -> $type {
                self.wrapping_mul(mul).wrapping_add(add)
            }
            #[inline(always)]
            fn less(self, other: $type) -> bool {
                self < other
            }
            #[inline(always)]
            fn greater(self, other: $type) -> bool {
                self > other
            }
        })+
    };
}

integer! {
    u8: |x| x, |x| u8::from(x > 0);
    u32: |x| x, |x| u32::from(x > 0);
    i16: i16::wrapping_abs, i16::signum;
    i32: i32::wrapping_abs, i32::signum;
    i64: i64::wrapping_abs, i64::signum;
}

macro_rules! float {
    ($($type:ty),+) => {
        $(impl Arith for $type {
            const ONE: $type = 1.0;

            #[inline(always)]
            fn add(self, other: $type) -> $type {
                self + other
            }
            #[inline(always)]
            fn sub(self, other: $type) -> $type {
                self - other
            }
            #[inline(always)]
            fn mul(self, other: $type) -> $type {
                self * other
            }
            #[inline(always)]
            fn div(self, other: $type) -> $type {
                self / other
            }
            #[inline(always)]
            fn rem(self, other: $type) -> $type {
                self % other
            }
            #[inline(always)]
            fn min(self, other: $type) -> $type {
                if other.less(self) { other } else { self }
            }
            #[inline(always)]
            fn max(self, other: $type) -> $type {
                if other.greater(self) { other } else { self }
            }
            #[inline(always)]
            fn neg(self) -> $type {
                -self
            }
            #[inline(always)]
            fn abs(self) -> $type {
                <$type>::abs(self)
            }
            #[inline(always)]
            fn sign(self) -> $type {
                <$type>::from(self > 0.0) - <$type>::from(self < 0.0)
            }
            #[inline(always)]
            fn mul_add(self, mul: $type, add: $type) -> $type {
                <$type>::mul_add(self, mul, add)
            }
            #[inline(always)]
            fn less(self, other: $type) -> bool {
                // Branchless, so that loops are vectorised. Only zeros are equal with different bits.
                let zeros = (self == other) & (self.to_bits().cast_signed() < other.to_bits().cast_signed());
                (self < other) | zeros | (self.is_nan() & !other.is_nan())
            }
            #[inline(always)]
            fn greater(self, other: $type) -> bool {
                let zeros = (self == other) & (self.to_bits().cast_signed() > other.to_bits().cast_signed());
                (self > other) | zeros | (self.is_nan() & !other.is_nan())
            }
        })+
    };
}

float!(f32, f64);
