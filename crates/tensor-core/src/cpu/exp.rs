//! Exponential functions that compilers can vectorise: without branches, tables or calls.
//!
//! eˣ is 2ⁿ·eʳ with |r| ≤ ln 2 / 2, and eʳ is computed by its Taylor series.

use std::f64::consts::{LN_2, LOG2_E};

/// eˣ within 1 ulp, also for subnormal results. The largest error is 0.957 ulp, found by trying every `f32` between
/// −104 and 88.7.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Adding this rounds to an integer, which is then in the low bits.
    const WHOLE: f32 = 12_582_912.0;
    // ln 2 as a 10-bit number, whose product with up to 150 is exact, and the rest.
    const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
    // Half of the smallest subnormal is e^-103.97: smaller results become 0. e^88.73 exceeds the largest number. NaN
    // stays NaN.
    let x = if x < -104.0 { -104.0 } else { x };
    let x = if x > 89.0 { 89.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + WHOLE;
    let n = shifted - WHOLE;
    let r = (x - n * LN_2.0) - n * LN_2.1;
    // The first omitted term is below 3e-10.
    let series = 1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0 + r * (1.0 / 40320.0)));
    let series = 0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * series));
    let power = 1.0 + (r + r * r * series);
    // Multiplies by two normal factors, so that a subnormal result is rounded once.
    let exponent = shifted.to_bits().wrapping_sub(WHOLE.to_bits()) as i32;
    let half = exponent >> 1;
    let two_to = |e: i32| f32::from_bits((e.wrapping_add(127) as u32) << 23);
    power * two_to(half) * two_to(exponent.wrapping_sub(half))
}

/// 1/(1 + e^−x) as an intermediate for an `f32` result. The relative error is below 2^-36.
#[inline(always)]
pub(super) fn sigmoid_for_f32(x: f64) -> f64 {
    let e = exp_for_f32(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// eˣ for x ≤ 0 with a relative error below 2^-36; 0 below −708, far below every `f32`.
#[inline(always)]
fn exp_for_f32(x: f64) -> f64 {
    // As above. The number's low bits become an exponent, and the bits above are shifted out.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    const BIAS: u64 = 1023 << 52;
    let shifted = x * LOG2_E + WHOLE;
    let r = x - (shifted - WHOLE) * LN_2;
    // The first omitted term is below 7e-12.
    let series = 1.0 / 5040.0 + r * (1.0 / 40320.0 + r * (1.0 / 362_880.0));
    let series = 1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0 + r * series));
    let series = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * series)));
    let power = series * f64::from_bits((shifted.to_bits() << 52).wrapping_add(BIAS));
    if x < -708.0 { 0.0 } else { power }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error of `got` against `exact`, in ulps of an `f32` as large as `exact`.
    fn ulps(got: f32, exact: f64) -> f64 {
        let exponent = (exact.abs().log2().floor() as i32).max(-126);
        (f64::from(got) - exact).abs() / (f64::from(f32::EPSILON) * 2f64.powi(exponent))
    }

    /// Every 509th `f32` between −104 and 88.7, of either sign.
    fn numbers() -> impl Iterator<Item = f32> {
        let below = |end: f32, sign: u32| (0..=end.to_bits()).step_by(509).map(move |bits| bits | sign);
        below(88.7, 0).chain(below(104.0, 1 << 31)).map(f32::from_bits)
    }

    #[test]
    fn powers_of_e_are_within_one_ulp() {
        let worst = numbers().map(|x| ulps(exp(x), f64::from(x).exp())).fold(0.0, f64::max);
        assert!(worst <= 1.0, "{worst} ulp");
    }

    #[test]
    fn special_powers_of_e() {
        assert_eq!((exp(0.0), exp(-0.0), exp(f32::NEG_INFINITY)), (1.0, 1.0, 0.0));
        assert!(exp(f32::NAN).is_nan() && exp(-f32::NAN).is_nan());
        assert_eq!((exp(f32::MIN), exp(-104.0)), (0.0, 0.0));
        // e^-103.5 is 1.5 · 2^-150, nearest to the smallest subnormal.
        assert_eq!(exp(-103.5), f32::from_bits(1));
        assert_eq!(
            (exp(f32::INFINITY), exp(f32::MAX), exp(89.0)),
            (f32::INFINITY, f32::INFINITY, f32::INFINITY)
        );
        // The largest argument with a finite result, and its neighbour.
        let last = f32::from_bits(0x42b1_7217);
        assert!(ulps(exp(last), f64::from(last).exp()) <= 1.0 && exp(last.next_up()) == f32::INFINITY);
    }

    #[test]
    fn sigmoids_are_precise_enough_to_be_rounded_once() {
        let exact = |x: f64| if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) };
        let error = |x: f64| (sigmoid_for_f32(x) / exact(x) - 1.0).abs();
        let worst = numbers().map(|x| error(f64::from(x))).fold(0.0, f64::max);
        assert!(worst <= 2f64.powi(-36), "{worst:e}");
        assert!((1..7000).map(|i| error(f64::from(i) * -0.1)).all(|error| error <= 2f64.powi(-36)));
        assert_eq!((sigmoid_for_f32(-709.0), sigmoid_for_f32(f64::NEG_INFINITY)), (0.0, 0.0));
        assert_eq!((sigmoid_for_f32(709.0), sigmoid_for_f32(f64::INFINITY)), (1.0, 1.0));
        assert!(sigmoid_for_f32(f64::NAN).is_nan() && sigmoid_for_f32(-f64::NAN).is_nan());
    }
}
