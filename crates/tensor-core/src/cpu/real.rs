//! Transcendental functions and rounding, for `f32` and `f64`.
//!
//! A function that the system's math library has is that function, except for [`exp`] of `f32`. Formulas of several
//! steps are computed in `f64` for `f32`, so that one rounding remains. For `f64` they avoid cancellation and overflow,
//! and the rounding error of an exponential's argument is corrected.

use super::arith::Arith;
use super::exp;

/// A compute type with real functions: `f32` and `f64`.
pub(crate) trait Real: Arith {
    fn sqrt(self) -> Self;
    fn rsqrt(self) -> Self;
    fn recip(self) -> Self;
    fn exp(self) -> Self;
    fn log(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn tanh(self) -> Self;
    fn sigmoid(self) -> Self;
    fn erf(self) -> Self;
    fn gelu(self) -> Self;
    fn gelu_erf(self) -> Self;
    fn silu(self) -> Self;
    fn softplus(self) -> Self;
    fn ceil(self) -> Self;
    fn floor(self) -> Self;
    fn round(self) -> Self;
    fn pow(self, exponent: Self) -> Self;
    fn elu(self, alpha: Self) -> Self;
    fn leaky_relu(self, slope: Self) -> Self;
    /// The nearest value to an element count.
    fn from_count(count: usize) -> Self;
}

macro_rules! real {
    ($type:ty, $exp:expr, $erf:path, $sigmoid:expr, $gelu:expr, $silu:expr) => {
        impl Real for $type {
            fn sqrt(self) -> $type {
                <$type>::sqrt(self)
            }
            fn rsqrt(self) -> $type {
                (1.0 / f64::from(self).sqrt()) as $type
            }
            fn recip(self) -> $type {
                1.0 / self
            }
            #[inline(always)]
            fn exp(self) -> $type {
                $exp(self)
            }
            fn log(self) -> $type {
                <$type>::ln(self)
            }
            fn sin(self) -> $type {
                <$type>::sin(self)
            }
            fn cos(self) -> $type {
                <$type>::cos(self)
            }
            fn tan(self) -> $type {
                <$type>::tan(self)
            }
            fn tanh(self) -> $type {
                f64::from(self).tanh() as $type
            }
            #[inline(always)]
            fn sigmoid(self) -> $type {
                $sigmoid(self)
            }
            fn erf(self) -> $type {
                $erf(self)
            }
            #[inline(always)]
            fn gelu(self) -> $type {
                $gelu(self)
            }
            fn gelu_erf(self) -> $type {
                gelu_erf(self.into()) as $type
            }
            #[inline(always)]
            fn silu(self) -> $type {
                $silu(self)
            }
            fn softplus(self) -> $type {
                softplus(self.into()) as $type
            }
            fn ceil(self) -> $type {
                <$type>::ceil(self)
            }
            fn floor(self) -> $type {
                <$type>::floor(self)
            }
            fn round(self) -> $type {
                <$type>::round(self)
            }
            fn pow(self, exponent: $type) -> $type {
                // Also for every NaN, including signalling ones, for which system libraries may return NaN.
                if exponent == 0.0 || self == 1.0 { 1.0 } else { <$type>::powf(self, exponent) }
            }
            fn elu(self, alpha: $type) -> $type {
                if self > 0.0 { self } else { (f64::from(alpha) * f64::from(self).exp_m1()) as $type }
            }
            fn leaky_relu(self, slope: $type) -> $type {
                if self > 0.0 { self } else { self * slope }
            }
            fn from_count(count: usize) -> $type {
                count as $type
            }
        }
    };
}

real!(
    f32,
    exp::exp,
    libm::erff,
    |x: f32| exp::sigmoid_for_f32(x.into()) as f32,
    |x: f32| gelu_for_f32(x.into()) as f32,
    |x: f32| (f64::from(x) * exp::sigmoid_for_f32(x.into())) as f32
);
real!(f64, f64::exp, libm::erf, sigmoid, gelu, |x: f64| times_sigmoid(x, x, 0.0));

/// 1/(1 + e^−x). Takes exponentials of nonpositive numbers only.
fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// x · sigmoid(v + rest), where rest is a correction below the last place of v.
///
/// For negative v, e^v is split into two square roots, one of which is multiplied last. The intermediate product thus
/// stays normal even if e^v is not.
fn times_sigmoid(x: f64, v: f64, rest: f64) -> f64 {
    let half = (-0.5 * v.abs()).exp();
    if v < 0.0 {
        let root = half + half * (0.5 * rest);
        x * root * (root / (1.0 + root * root))
    } else {
        x / (1.0 + half * half)
    }
}

/// 2√(2/π): the nearest `f64`, and the remainder.
const SLOPE: (f64, f64) = (1.595_769_121_605_730_8, -9.969_308_809_110_92e-17);
/// 0.044715: the nearest `f64`, and the remainder.
const CUBIC: (f64, f64) = (0.044_715, 2.196_021_142_708_559_5e-18);

/// x/2 · (1 + tanh(u)) = x · sigmoid(2u), where 2u = 2√(2/π) · x · (1 + 0.044715 x²).
fn gelu(x: f64) -> f64 {
    // Beyond ±40 the sigmoid is 0 or 1, so that the argument can be clamped.
    let t = x.clamp(-40.0, 40.0);
    let (square, square_rest) = product(t, t);
    let (cubic, cubic_rest) = product(CUBIC.0, square);
    let (sum, sum_rest) = sum_with_error(1.0, cubic);
    let sum_rest = sum_rest + cubic_rest + CUBIC.0 * square_rest + CUBIC.1 * square;
    let (slope, slope_rest) = product(SLOPE.0, t);
    let (v, v_rest) = product(slope, sum);
    let rest = v_rest + slope * sum_rest + (slope_rest + SLOPE.1 * t) * sum;
    times_sigmoid(x, v, rest)
}

/// As [`gelu`], as an intermediate for an `f32` result: the errors of `f64` are far below its last place.
#[inline(always)]
fn gelu_for_f32(x: f64) -> f64 {
    let t = x.clamp(-40.0, 40.0);
    x * exp::sigmoid_for_f32(SLOPE.0 * t * (1.0 + CUBIC.0 * t * t))
}

/// √½: the nearest `f64`, and the remainder.
const SQRT_HALF: (f64, f64) = (std::f64::consts::FRAC_1_SQRT_2, -4.833_646_656_726_457e-17);

/// x/2 · erfc(−x/√2). The argument's rounding error is corrected with the derivative of erfc.
fn gelu_erf(x: f64) -> f64 {
    let (z, z_rest) = product(-x, SQRT_HALF.0);
    let rest = z_rest - x * SQRT_HALF.1;
    // Elsewhere erfc is 0 or hardly depends on its argument.
    let correction =
        if z > 0.0 && z < 30.0 { std::f64::consts::FRAC_2_SQRT_PI * (-z * z).exp() * rest } else { 0.0 };
    0.5 * x * (libm::erfc(z) - correction)
}

/// ln(1 + e^x).
fn softplus(x: f64) -> f64 {
    let positive = if x > 0.0 { x } else { 0.0 };
    positive + (-x.abs()).exp().ln_1p()
}

/// The rounded product a·b and its rounding error.
fn product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// The rounded sum a + b and its rounding error.
fn sum_with_error(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x, then its gelu_erf, gelu, silu and softplus, from 60-digit arithmetic outside this program.
    const VALUES: [(f64, f64, f64, f64, f64); 12] = [
        (-37.0, -2.1184613523340935e-298, -0.0, -3.1572276215253042e-15, 8.533047625744066e-17),
        (-30.5, -3.973960635193133e-203, -0.0, -1.7310839959528822e-12, 5.675685232632561e-14),
        (
            -20.1,
            -7.416258536079994e-89,
            -5.295289946595304e-265,
            -3.748667926033263e-08,
            1.865008920163638e-09,
        ),
        (
            -12.7,
            -3.754736413362103e-36,
            -6.682339987411298e-72,
            -3.874917635846022e-05,
            3.051120903362305e-06,
        ),
        (-6.3, -9.37583779710257e-10, -4.8363849896578086e-12, -0.011547515337704673, 0.0018346208305892796),
        (-3.0, -0.0040496940948902835, -0.003637392081773019, -0.14227761953270035, 0.04858735157374206),
        (-1.1, -0.14923266704102092, -0.14941895382548914, -0.27471388384537065, 0.2873353251154308),
        (-0.3, -0.1146265733433142, -0.11462907645724076, -0.1276672449565023, 0.5543552444685271),
        (-1e-05, -4.999960105771961e-06, -4.999960105771961e-06, -4.999975e-06, 0.6931421805724453),
        (1e-09, 5.000000003989423e-10, 5.000000003989423e-10, 5.000000002500001e-10, 0.6931471810599453),
        (0.7, 0.5306254434438489, 0.5305701347051167, 0.46773144051771626, 1.103186048885458),
        (2.3, 2.2753345469501456, 2.2756729702040808, 2.0904171896658306, 2.3955454645979626),
    ];

    /// Half an ulp of an `f32` next to `x`, times 1.001.
    fn half_ulp(x: f64) -> f64 {
        let exponent = Ord::max(x.abs().log2().floor() as i32, -126);
        0.5005 * f64::from(f32::EPSILON) * 2f64.powi(exponent)
    }

    #[test]
    fn formulas_do_not_cancel() {
        let close = |got: f64, expected: f64| (got - expected).abs() <= 4.0 * f64::EPSILON * expected.abs();
        for (x, erf, tanh, silu, softplus) in VALUES {
            assert!(close(Real::gelu_erf(x), erf), "gelu_erf({x}): {:e}", Real::gelu_erf(x));
            assert!(close(Real::gelu(x), tanh), "gelu({x}): {:e}", Real::gelu(x));
            assert!(close(Real::silu(x), silu), "silu({x}): {:e}", Real::silu(x));
            assert!(close(Real::softplus(x), softplus), "softplus({x}): {:e}", Real::softplus(x));
            assert!((Real::gelu_erf(x as f32) - gelu_erf(f64::from(x as f32)) as f32).abs() == 0.0);
            let small = x as f32;
            let near = |got: f32, exact: f64| (f64::from(got) - exact).abs() <= half_ulp(exact);
            assert!(near(Real::gelu(small), gelu(small.into())), "gelu({x}) of f32");
            assert!(
                near(Real::silu(small), times_sigmoid(small.into(), small.into(), 0.0)),
                "silu({x}) of f32"
            );
            assert!(near(Real::sigmoid(small), sigmoid(small.into())), "sigmoid({x}) of f32");
        }
    }

    #[test]
    fn formulas_do_not_overflow_or_vanish_early() {
        assert_eq!((Real::sigmoid(-745.0f64), Real::silu(-745.0f64)), (5e-324, -2.105e-321));
        let close = |got: f64, expected: f64| (got - expected).abs() <= 4.0 * f64::EPSILON * expected.abs();
        assert!(close(Real::silu(-700.3), -5.115150891962094e-302));
        assert!(close(Real::sigmoid(-700.3), 7.304228033645715e-305));
        for x in [-1e300f64, -1e30, 1e30, 1e300] {
            let positive = x.max(0.0);
            assert_eq!((Real::gelu(x), Real::gelu_erf(x), Real::silu(x)), (positive, positive, positive));
            assert_eq!((Real::softplus(x), Real::sigmoid(x)), (positive, if x > 0.0 { 1.0 } else { 0.0 }));
        }
        assert_eq!(Real::softplus(f32::MAX), f32::MAX);
        assert_eq!((Real::gelu(f32::MIN), Real::silu(f32::MIN), Real::sigmoid(f32::MIN)), (0.0, 0.0, 0.0));
        assert_eq!(
            (Real::gelu(f32::MAX), Real::silu(f32::MAX), Real::sigmoid(f32::MAX)),
            (f32::MAX, f32::MAX, 1.0)
        );
    }

    #[test]
    fn special_values() {
        let inf = f64::INFINITY;
        assert_eq!(
            (Real::gelu(inf), Real::gelu_erf(inf), Real::silu(inf), Real::softplus(inf)),
            (inf, inf, inf, inf)
        );
        assert!(Real::gelu(-inf).is_nan() && Real::gelu_erf(-inf).is_nan() && Real::silu(-inf).is_nan());
        let small = f32::INFINITY;
        assert_eq!((Real::gelu(small), Real::silu(small), Real::sigmoid(small)), (small, small, 1.0));
        assert!(Real::gelu(-small).is_nan() && Real::silu(-small).is_nan() && Real::sigmoid(-small) == 0.0);
        assert!(
            [Real::gelu(f32::NAN), Real::silu(f32::NAN), Real::sigmoid(f32::NAN)].iter().all(|y| y.is_nan())
        );
        assert_eq!((Real::sigmoid(-inf), Real::sigmoid(inf), Real::softplus(-inf)), (0.0, 1.0, 0.0));
        assert_eq!((Real::erf(inf), Real::erf(-inf), Real::tanh(-inf)), (1.0, -1.0, -1.0));
        assert_eq!((Real::round(2.5f32), Real::round(-0.5f32), Real::round(0.49999997f32)), (3.0, -1.0, 0.0));
        assert_eq!(
            (Real::pow(0.0f32, 0.0), Real::pow(f32::NAN, 0.0), Real::pow(1.0, f32::NAN)),
            (1.0, 1.0, 1.0)
        );
        assert!(Real::pow(-8.0f32, 1.0 / 3.0).is_nan());
        for nan in [
            Real::gelu(f64::NAN),
            Real::gelu_erf(f64::NAN),
            Real::elu(f64::NAN, 1.0),
            Real::leaky_relu(f64::NAN, 0.1),
        ] {
            assert!(nan.is_nan());
        }
    }
}
