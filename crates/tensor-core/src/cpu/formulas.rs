//! Formulas of several steps, by which operations compute.
//!
//! Those for `f64` avoid cancellation and overflow, and correct the rounding error of an exponential's argument.

use super::exp;

/// 1/(1 + e^−x). Takes exponentials of nonpositive numbers only.
pub(super) fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// x/(1 + e^−x).
pub(super) fn silu(x: f64) -> f64 {
    times_sigmoid(x, x, 0.0)
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
pub(super) fn gelu(x: f64) -> f64 {
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
pub(super) fn gelu_for_f32(x: f64) -> f64 {
    let t = x.clamp(-40.0, 40.0);
    x * exp::sigmoid_for_f32(SLOPE.0 * t * (1.0 + CUBIC.0 * t * t))
}

/// √½: the nearest `f64`, and the remainder.
const SQRT_HALF: (f64, f64) = (std::f64::consts::FRAC_1_SQRT_2, -4.833_646_656_726_457e-17);

/// x/2 · erfc(−x/√2). The argument's rounding error is corrected with the derivative of erfc.
pub(super) fn gelu_erf(x: f64) -> f64 {
    let (z, z_rest) = product(-x, SQRT_HALF.0);
    let rest = z_rest - x * SQRT_HALF.1;
    // Elsewhere erfc is 0 or hardly depends on its argument.
    let correction =
        if z > 0.0 && z < 30.0 { std::f64::consts::FRAC_2_SQRT_PI * (-z * z).exp() * rest } else { 0.0 };
    0.5 * x * (libm::erfc(z) - correction)
}

/// ln(1 + e^x).
pub(super) fn softplus(x: f64) -> f64 {
    let positive = if x > 0.0 { x } else { 0.0 };
    positive + (-x.abs()).exp().ln_1p()
}

/// x above zero, alpha·(e^x − 1) elsewhere.
pub(super) fn elu(x: f64, alpha: f64) -> f64 {
    if x > 0.0 { x } else { alpha * x.exp_m1() }
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
    use super::super::functions::Functions;
    use super::super::output::Output;
    use crate::ops::UnaryOp;

    macro_rules! operations {
        ($($name:ident = $op:ident;)+) => {
            $(fn $name<C: Functions>(x: C) -> C {
                let (function, _) = C::unary(UnaryOp::$op).expect("floats have every operation");
                let mut y = [C::default()];
                function(&[x], &mut Output::over(&mut y));
                y[0]
            })+
        };
    }

    operations! {
        gelu = Gelu;
        gelu_erf = GeluErf;
        silu = Silu;
        sigmoid = Sigmoid;
        softplus = Softplus;
        erf = Erf;
        tanh = Tanh;
        round = Round;
    }

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
        for (x, by_erf, by_tanh, of_silu, of_softplus) in VALUES {
            assert!(close(gelu_erf(x), by_erf), "gelu_erf({x}): {:e}", gelu_erf(x));
            assert!(close(gelu(x), by_tanh), "gelu({x}): {:e}", gelu(x));
            assert!(close(silu(x), of_silu), "silu({x}): {:e}", silu(x));
            assert!(close(softplus(x), of_softplus), "softplus({x}): {:e}", softplus(x));
            assert!((gelu_erf(x as f32) - gelu_erf(f64::from(x as f32)) as f32).abs() == 0.0);
            let small = x as f32;
            let near = |got: f32, exact: f64| (f64::from(got) - exact).abs() <= half_ulp(exact);
            assert!(near(gelu(small), gelu(small.into())), "gelu({x}) of f32");
            assert!(near(silu(small), silu(small.into())), "silu({x}) of f32");
            assert!(near(sigmoid(small), sigmoid(small.into())), "sigmoid({x}) of f32");
        }
    }

    #[test]
    fn formulas_do_not_overflow_or_vanish_early() {
        assert_eq!((sigmoid(-745.0f64), silu(-745.0f64)), (5e-324, -2.105e-321));
        let close = |got: f64, expected: f64| (got - expected).abs() <= 4.0 * f64::EPSILON * expected.abs();
        assert!(close(silu(-700.3), -5.115150891962094e-302));
        assert!(close(sigmoid(-700.3), 7.304228033645715e-305));
        for x in [-1e300f64, -1e30, 1e30, 1e300] {
            let positive = x.max(0.0);
            assert_eq!((gelu(x), gelu_erf(x), silu(x)), (positive, positive, positive));
            assert_eq!((softplus(x), sigmoid(x)), (positive, if x > 0.0 { 1.0 } else { 0.0 }));
        }
        assert_eq!(softplus(f32::MAX), f32::MAX);
        assert_eq!((gelu(f32::MIN), silu(f32::MIN), sigmoid(f32::MIN)), (0.0, 0.0, 0.0));
        assert_eq!((gelu(f32::MAX), silu(f32::MAX), sigmoid(f32::MAX)), (f32::MAX, f32::MAX, 1.0));
    }

    #[test]
    fn special_values() {
        let inf = f64::INFINITY;
        assert_eq!((gelu(inf), gelu_erf(inf), silu(inf), softplus(inf)), (inf, inf, inf, inf));
        assert!(gelu(-inf).is_nan() && gelu_erf(-inf).is_nan() && silu(-inf).is_nan());
        let small = f32::INFINITY;
        assert_eq!((gelu(small), silu(small), sigmoid(small)), (small, small, 1.0));
        assert!(gelu(-small).is_nan() && silu(-small).is_nan() && sigmoid(-small) == 0.0);
        assert!([gelu(f32::NAN), silu(f32::NAN), sigmoid(f32::NAN)].iter().all(|y| y.is_nan()));
        assert_eq!((sigmoid(-inf), sigmoid(inf), softplus(-inf)), (0.0, 1.0, 0.0));
        assert_eq!((erf(inf), erf(-inf), tanh(-inf)), (1.0, -1.0, -1.0));
        assert_eq!((round(2.5f32), round(-0.5f32), round(0.49999997f32)), (3.0, -1.0, 0.0));
        assert!(gelu(f64::NAN).is_nan() && gelu_erf(f64::NAN).is_nan());
    }
}
