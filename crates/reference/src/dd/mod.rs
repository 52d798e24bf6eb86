//! Double-double arithmetic: a number as the unevaluated sum of two `f64`, about 106 bits.
//!
//! Built on the error-free transforms of Dekker and Knuth: a sum or product of two `f64` equals the rounded
//! result plus an error that is itself an `f64`. Relative errors of the four operations stay below 2^-101
//! while neither result nor error overflows or becomes subnormal.

mod erf;
mod exp;
mod pi_bits;
mod trig;

pub(crate) use erf::{erf_fast, erfcx_fast};

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `hi + lo`, where `hi` is the sum rounded to nearest. Where `hi` is not finite, `lo` is 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Dd {
    /// The number rounded to `f64`.
    pub hi: f64,
    /// What is left.
    pub lo: f64,
}

/// `a + b` and its rounding error, exactly.
#[inline]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// `a · b` and its rounding error, exactly unless the error is below the subnormals.
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

    /// From two parts that are already normalised; for constants.
    pub(crate) const fn parts(hi: f64, lo: f64) -> Dd {
        Dd { hi, lo }
    }

    /// `a + b`, exactly.
    #[inline]
    pub fn sum(a: f64, b: f64) -> Dd {
        let (hi, lo) = two_sum(a, b);
        Dd::guard(hi, lo)
    }

    /// `a · b`, exactly unless the low part is below the subnormals.
    #[inline]
    pub fn product(a: f64, b: f64) -> Dd {
        let (hi, lo) = two_product(a, b);
        Dd::guard(hi, lo)
    }

    /// An integer of at most 106 significant bits, exactly.
    pub fn from_int(i: i128) -> Dd {
        let hi = i as f64;
        // Rounding up i128::MAX gives 2^127, which does not fit back: its low part is then -1.
        let rest = i.checked_sub(hi as i128).unwrap_or(0);
        Dd::sum(hi, rest as f64)
    }

    /// The integer part, saturated to `i128`.
    pub(crate) fn to_int(self) -> i128 {
        (self.hi as i128).saturating_add(self.lo as i128)
    }

    /// An infinity or a NaN has no low part: error-free transforms give NaN there.
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

    /// The number brought into ±`limit`; NaN stays NaN.
    pub fn clamp(self, limit: f64) -> Dd {
        if self.hi.abs() > limit { Dd::from(limit.copysign(self.hi)) } else { self }
    }

    /// Times a power of two: exact but for overflow and subnormals.
    #[inline]
    pub fn scale(self, power_of_two: f64) -> Dd {
        Dd::guard(self.hi * power_of_two, self.lo * power_of_two)
    }

    /// Times 2^exponent for any exponent, even where the factor alone would overflow.
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
            // The error of root² would be lost among the subnormals.
            return self.ldexp(600).sqrt().ldexp(-300);
        }
        // One Newton step from 53 bits to 106.
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
        // Overflow, division by zero or by an infinity, NaN: no remainder to work with.
        if !first.is_finite() || !other.is_finite() || first == 0.0 {
            return Dd::from(first);
        }
        let rest = self - other * Dd::from(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * Dd::from(second);
        Dd::sum(first, second) + Dd::from(rest.hi / other.hi)
    }
}
