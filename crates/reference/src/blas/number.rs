//! Complex numbers in double-double arithmetic.

use crate::Dd;
use std::ops::{Add, Mul, Neg, Sub};

/// A complex number. The imaginary part of a real one is 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Number {
    /// The real part.
    pub re: Dd,
    /// The imaginary part.
    pub im: Dd,
}

impl Number {
    /// Zero.
    pub const ZERO: Self = Self { re: Dd::ZERO, im: Dd::ZERO };
    /// One.
    pub const ONE: Self = Self { re: Dd::ONE, im: Dd::ZERO };

    /// A number from its two parts.
    pub fn new(re: f64, im: f64) -> Self {
        Self { re: Dd::from(re), im: Dd::from(im) }
    }

    /// The conjugate.
    #[must_use]
    pub fn conj(self) -> Self {
        Self { re: self.re, im: -self.im }
    }

    /// |real part| + |imaginary part|, which is BLAS's measure of a complex number.
    pub fn size(self) -> f64 {
        (self.re.abs() + self.im.abs()).hi
    }

    /// The square of the absolute value.
    pub fn square(self) -> Dd {
        self.re * self.re + self.im * self.im
    }

    /// The absolute value.
    pub fn abs(self) -> Dd {
        self.square().sqrt()
    }

    /// The product with a real number.
    #[must_use]
    pub fn times(self, factor: Dd) -> Self {
        Self { re: self.re * factor, im: self.im * factor }
    }
}

impl From<f64> for Number {
    fn from(re: f64) -> Self {
        Self::new(re, 0.0)
    }
}

impl Add for Number {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Number {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Number {
    type Output = Self;

    fn neg(self) -> Self {
        Self { re: -self.re, im: -self.im }
    }
}

impl Mul for Number {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic() {
        let (a, b) = (Number::new(1.0, 2.0), Number::new(3.0, -5.0));
        assert_eq!(a * b, Number::new(13.0, 1.0));
        assert_eq!(a - b, Number::new(-2.0, 7.0));
        assert_eq!(a.conj() * a, Number::from(5.0));
        assert_eq!((b.size(), Number::new(3.0, 4.0).abs().hi), (8.0, 5.0));
    }
}
