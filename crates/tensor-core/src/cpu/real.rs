//! Transcendental functions that several operations use, for `f32` and `f64`.

use super::arith::Arith;
use super::exp;

/// A compute type with real functions: `f32` and `f64`.
pub(crate) trait Real: Arith {
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    fn log(self) -> Self;
    /// C's `pow`.
    fn pow(self, exponent: Self) -> Self;
    /// The nearest value to an element count.
    fn from_count(count: usize) -> Self;
}

macro_rules! real {
    ($type:ty, $exp:path) => {
        impl Real for $type {
            fn sqrt(self) -> $type {
                <$type>::sqrt(self)
            }
            #[inline(always)]
            fn exp(self) -> $type {
                $exp(self)
            }
            fn log(self) -> $type {
                <$type>::ln(self)
            }
            fn pow(self, exponent: $type) -> $type {
                // Also for every NaN, including signalling ones, for which system libraries may return NaN.
                if exponent == 0.0 || self == 1.0 { 1.0 } else { <$type>::powf(self, exponent) }
            }
            fn from_count(count: usize) -> $type {
                count as $type
            }
        }
    };
}

real!(f32, exp::exp);
real!(f64, f64::exp);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_follow_c() {
        assert_eq!(
            (Real::pow(0.0f32, 0.0), Real::pow(f32::NAN, 0.0), Real::pow(1.0, f32::NAN)),
            (1.0, 1.0, 1.0)
        );
        assert!(Real::pow(-8.0f32, 1.0 / 3.0).is_nan());
    }
}
