//! Inexact functions of several steps in two versions: in `f64` for arguments of types up to `f32` (`_fast`), and in
//! double-double for `f64`. All formulas avoid cancellation and overflow.

use crate::Dd;
use crate::dd::erfcx_fast;

/// √½, √(2/π)·2 and 0.044715 to double-double precision.
const SQRT_HALF: Dd = Dd::parts(std::f64::consts::FRAC_1_SQRT_2, -4.833646656726457e-17);
const TWO_SQRT_2_OVER_PI: Dd = Dd::parts(2.0 * 0.7978845608028654, 2.0 * -4.98465440455546e-17);
const CUBIC: Dd = Dd::parts(0.044715, 2.1960211427085595e-18);

pub(crate) fn tanh(x: f64) -> Dd {
    // −2|x|, so that e^… − 1 is in (−1, 0].
    let e = Dd::from(-2.0 * x.abs()).exp_m1();
    let magnitude = -e / (e + Dd::from(2.0));
    if x.is_sign_negative() { -magnitude } else { magnitude }
}

/// 1/(1 + e^−x).
pub(crate) fn sigmoid_fast(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// x / (1 + e^(−v)). The power of two is multiplied last, because the product may be normal even if e^v is not.
pub(crate) fn times_sigmoid(x: Dd, v: Dd) -> Dd {
    if v.hi >= 0.0 {
        return x / (Dd::ONE + (-v).exp());
    }
    let (m, exponent) = v.exp_parts();
    (x * m / (Dd::ONE + m.ldexp(exponent))).ldexp(exponent)
}

/// x/2 (1 + tanh(u)) = x · sigmoid(2u).
pub(crate) fn gelu_fast(x: f64) -> f64 {
    let two_u = TWO_SQRT_2_OVER_PI.hi * x * (1.0 + CUBIC.hi * x * x);
    x * sigmoid_fast(two_u)
}

pub(crate) fn gelu(x: f64) -> Dd {
    // For larger |x| the sigmoid is 0 or 1, and the cube might overflow.
    if x.abs() > 1e10 {
        return Dd::from(if x > 0.0 { x } else { x * 0.0 });
    }
    let x = Dd::from(x);
    let two_u = TWO_SQRT_2_OVER_PI * x * (Dd::ONE + CUBIC * (x * x));
    times_sigmoid(x, two_u)
}

/// x/2 erfc(−x/√2), where erfc(z) = erfcx(z) e^(−z²) and z² = x²/2.
pub(crate) fn gelu_erf_fast(x: f64) -> f64 {
    let tail = 0.5 * x * erfcx_fast(x.abs() * std::f64::consts::FRAC_1_SQRT_2) * (-0.5 * x * x).exp();
    // The negated comparison sends NaN and −∞ to the tail, where −∞·0 is NaN as on every device.
    if x > 0.0 { if x < 40.0 { x - tail } else { x } } else { tail }
}

pub(crate) fn gelu_erf(x: f64) -> Dd {
    if x > 40.0 {
        return Dd::from(x);
    }
    let z = Dd::from(x.abs()) * SQRT_HALF;
    let (m, exponent) = (-Dd::product(x, x).scale(0.5)).exp_parts();
    let tail = (Dd::from(0.5 * x) * z.erfcx() * m).ldexp(exponent);
    if x > 0.0 { Dd::from(x) - tail } else { tail }
}

pub(crate) fn softplus_fast(x: f64) -> f64 {
    positive_part(x) + (-x.abs()).exp().ln_1p()
}

pub(crate) fn softplus(x: f64) -> Dd {
    Dd::from(positive_part(x)) + Dd::from(-x.abs()).exp().ln_1p()
}

fn positive_part(x: f64) -> f64 {
    if x > 0.0 { x } else { 0.0 }
}

/// alpha (e^x − 1) below zero, x above.
pub(crate) fn elu_fast(x: f64, alpha: f64) -> f64 {
    if x > 0.0 { x } else { alpha * x.exp_m1() }
}

pub(crate) fn elu(x: f64, alpha: f64) -> Dd {
    if x > 0.0 { Dd::from(x) } else { Dd::from(alpha) * Dd::from(x).exp_m1() }
}

/// C's pow, with the special cases of the standard library.
pub(crate) fn pow_fast(x: f64, y: f64) -> f64 {
    // Also for every NaN, including signalling ones, for which system libraries may return NaN.
    if y == 0.0 || x == 1.0 { 1.0 } else { x.powf(y) }
}

pub(crate) fn pow(x: f64, y: f64) -> Dd {
    let nearly = pow_fast(x, y);
    if nearly.is_nan() || x == 0.0 || y == 0.0 || !x.is_finite() || !y.is_finite() || x.abs() == 1.0 {
        return Dd::from(nearly);
    }
    let magnitude = Dd::from(x.abs()).powf(Dd::from(y));
    if nearly.is_sign_negative() { -magnitude } else { magnitude }
}

/// x·y + z with a single rounding to `f32`, for values that are exact in `f32`. The product is exact in `f64`. The sum
/// is rounded to odd, so that the rounding to `f32` does not round a tie twice.
pub(crate) fn fma32(x: f32, y: f32, z: f32) -> f32 {
    let (sum, error) = crate::dd::two_sum(f64::from(x) * f64::from(y), f64::from(z));
    crate::round::round_to_odd(sum, error) as f32
}
