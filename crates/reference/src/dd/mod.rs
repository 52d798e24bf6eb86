//! Double-double arithmetic: a number is the unevaluated sum of two `f64`, with about 106 bits.
//!
//! Built on the error-free transforms of Dekker and Knuth: the sum or product of two `f64` is exactly the rounded
//! result plus an error that is itself an `f64`. Relative errors of the four operations stay below 2^-101, unless a
//! result or its error overflows or becomes subnormal.

mod erf;
mod exp;
mod pi_bits;
mod trig;

pub(crate) use erf::{erf_fast, erfcx_fast};

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `hi + lo`, where `hi` is the sum rounded to nearest. If `hi` is not finite, `lo` is 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Dd {
    /// The number rounded to `f64`.
    pub hi: f64,
    /// The remainder.
    pub lo: f64,
}

/// The rounded `a + b` and its exact rounding error.
#[inline]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// The rounded `a · b` and its rounding error, which is exact unless it is below the subnormals.
#[inline]
pub(crate) fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

impl Dd {
    /// Zero.
    pub const ZERO: Dd = Dd { hi: 0.0, lo: 0.0 };
    /// One.
    pub const ONE: Dd = Dd { hi: 1.0, lo: 0.0 };

    /// A number from two normalised parts, for constants.
    pub(crate) const fn parts(hi: f64, lo: f64) -> Dd {
        Dd { hi, lo }
    }

    /// The exact `a + b`.
    #[inline]
    pub fn sum(a: f64, b: f64) -> Dd {
        let (hi, lo) = two_sum(a, b);
        Dd::guard(hi, lo)
    }

    /// `a · b`, exact unless the low part is below the subnormals.
    #[inline]
    pub fn product(a: f64, b: f64) -> Dd {
        let (hi, lo) = two_product(a, b);
        Dd::guard(hi, lo)
    }

    /// An integer with at most 106 significant bits, exactly.
    pub fn from_int(i: i128) -> Dd {
        let hi = i as f64;
        // i128::MAX rounds up to 2^127, which does not fit i128. Its low part is then -1.
        let rest = i.checked_sub(hi as i128).unwrap_or(0);
        Dd::sum(hi, rest as f64)
    }

    /// The integer part, saturated to `i128`.
    pub(crate) fn to_int(self) -> i128 {
        (self.hi as i128).saturating_add(self.lo as i128)
    }

    /// Infinities and NaN get no low part, because error-free transforms return NaN for them.
    #[inline]
    fn guard(hi: f64, lo: f64) -> Dd {
        if hi.is_finite() { Dd { hi, lo } } else { Dd { hi, lo: 0.0 } }
    }

    /// Whether the number is neither infinite nor NaN.
    #[inline]
    pub fn is_finite(self) -> bool {
        self.hi.is_finite()
    }

    /// Magnitude.
    #[inline]
    pub fn abs(self) -> Dd {
        if self.hi.is_sign_negative() { -self } else { self }
    }

    /// Clamps the number to ±`limit`; NaN stays NaN.
    pub fn clamp(self, limit: f64) -> Dd {
        if self.hi.abs() > limit { Dd::from(limit.copysign(self.hi)) } else { self }
    }

    /// The product with a power of two, exact except for overflow and subnormals.
    #[inline]
    pub fn scale(self, power_of_two: f64) -> Dd {
        Dd::guard(self.hi * power_of_two, self.lo * power_of_two)
    }

    /// The product with 2^exponent, for any exponent, even if the factor itself would overflow.
    pub fn ldexp(self, exponent: i32) -> Dd {
        let mut left = exponent.clamp(-4000, 4000);
        let mut result = self;
        while left != 0 {
            let step = left.clamp(-1000, 1000);
            result = result.scale(crate::round::power_of_two(step));
            left -= step;
        }
        result
    }

    /// Square root; NaN below zero.
    pub fn sqrt(self) -> Dd {
        let root = self.hi.sqrt();
        if root == 0.0 || !root.is_finite() {
            return Dd::from(root);
        }
        if self.hi < 1e-200 {
            // The error of root² would be lost in the subnormals.
            return self.ldexp(600).sqrt().ldexp(-300);
        }
        // One Newton step gives 106 bits from 53.
        let rest = self - Dd::product(root, root);
        Dd::sum(root, rest.hi / (2.0 * root))
    }

    /// 1 / self.
    pub fn recip(self) -> Dd {
        Dd::ONE / self
    }
}

impl From<f64> for Dd {
    #[inline]
    fn from(x: f64) -> Dd {
        Dd { hi: x, lo: 0.0 }
    }
}

impl Neg for Dd {
    type Output = Dd;
    #[inline]
    fn neg(self) -> Dd {
        Dd { hi: -self.hi, lo: -self.lo }
    }
}

impl Add for Dd {
    type Output = Dd;
    #[inline]
    fn add(self, other: Dd) -> Dd {
        let (high, high_error) = two_sum(self.hi, other.hi);
        if !high.is_finite() {
            return Dd::from(high);
        }
        let (low, low_error) = two_sum(self.lo, other.lo);
        let (high, rest) = two_sum(high, high_error + low);
        Dd::sum(high, rest + low_error)
    }
}

impl Sub for Dd {
    type Output = Dd;
    #[inline]
    fn sub(self, other: Dd) -> Dd {
        self + -other
    }
}

impl Mul for Dd {
    type Output = Dd;
    #[inline]
    fn mul(self, other: Dd) -> Dd {
        let (high, error) = two_product(self.hi, other.hi);
        // A sum would turn −0 into +0.
        if !high.is_finite() || high == 0.0 {
            return Dd::from(high);
        }
        Dd::sum(high, error + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for Dd {
    type Output = Dd;
    #[inline]
    fn div(self, other: Dd) -> Dd {
        let first = self.hi / other.hi;
        // For overflow, division by zero or infinity, and NaN there is no remainder to compute.
        if !first.is_finite() || !other.is_finite() || first == 0.0 {
            return Dd::from(first);
        }
        let rest = self - other * Dd::from(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * Dd::from(second);
        Dd::sum(first, second) + Dd::from(rest.hi / other.hi)
    }
}
