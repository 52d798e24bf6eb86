//! The error function and the scaled complementary error function erfcx(x) = e^(x²) erfc(x).
//!
//! erfcx is smooth and slowly varying for x ≥ 0, and satisfies f' = 2 x f − 2/√π. It is tabulated as Taylor series
//! around multiples of 1/8, computed once from its continued fraction. The same tables, rounded, are used by the fast
//! `f64` functions.

use super::Dd;
use super::exp::INVERSE_FACTORIALS;
use std::sync::LazyLock;

const TWO_OVER_SQRT_PI: Dd = Dd::parts(std::f64::consts::FRAC_2_SQRT_PI, 1.533545961316588e-17);
const ONE_OVER_SQRT_PI: Dd = Dd::parts(0.5641895835477563, 7.66772980658294e-18);

/// For larger x the continued fraction converges fast enough to be used directly.
const LIMIT: f64 = 10.0;
/// With |h| ≤ 1/16 the omitted terms are below 2^-110.
const TERMS: usize = 24;
/// The terms needed in f64.
const FAST_TERMS: usize = 14;
const CENTRES: usize = 81;

/// (−1)^n / (n! (2n+1)), the series of √π/2 erf(x)/x in x².
static SMALL: LazyLock<[Dd; TERMS]> = LazyLock::new(|| {
    std::array::from_fn(|n| {
        let term = INVERSE_FACTORIALS[n] / Dd::from((2 * n + 1) as f64);
        if n % 2 == 0 { term } else { -term }
    })
});
static TABLE: LazyLock<Vec<[Dd; TERMS]>> = LazyLock::new(|| (0..CENTRES).map(taylor).collect());
static FAST_TABLE: LazyLock<Vec<[f64; FAST_TERMS]>> =
    LazyLock::new(|| TABLE.iter().map(|series| std::array::from_fn(|n| series[n].hi)).collect());

/// Taylor coefficients of erfcx around centre/8. An error in one coefficient grows like another solution of the
/// equation, e^(2·c·h), which stays below 4 here. The recurrence is therefore stable although its terms cancel.
fn taylor(centre: usize) -> [Dd; TERMS] {
    let c = centre as f64 / 8.0;
    let mut a = [Dd::ZERO; TERMS];
    a[0] = if c < 1.5 { erfcx_by_series(c) } else { continued_fraction(Dd::from(c), 500) };
    for n in 0..TERMS - 1 {
        let before = if n == 0 { -TWO_OVER_SQRT_PI } else { a[n - 1].scale(2.0) };
        a[n + 1] = (a[n] * Dd::from(2.0 * c) + before) / Dd::from((n + 1) as f64);
    }
    a
}

/// e^(x²) − 2/√π Σ 2^n x^(2n+1) / (2n+1)!!, for small x.
fn erfcx_by_series(x: f64) -> Dd {
    let square = Dd::product(x, x);
    let (mut term, mut sum) = (Dd::from(x), Dd::from(x));
    for n in 1..80 {
        term = term * square.scale(2.0) / Dd::from((2 * n + 1) as f64);
        sum = sum + term;
    }
    square.exp() - TWO_OVER_SQRT_PI * sum
}

/// √π erfcx(x) = 1/(x + ½/(x + 1/(x + 3/2/(x + 2/(x + …))))), evaluated from the given depth outwards.
fn continued_fraction(x: Dd, depth: usize) -> Dd {
    let mut tail = x;
    for n in (1..=depth).rev() {
        tail = x + Dd::from(n as f64 / 2.0) / tail;
    }
    ONE_OVER_SQRT_PI / tail
}

impl Dd {
    /// e^(self²) erfc(self), for self ≥ 0.
    pub fn erfcx(self) -> Dd {
        if self.hi >= LIMIT || self.hi.is_nan() {
            return if self.hi == f64::INFINITY { Dd::ZERO } else { continued_fraction(self, 40) };
        }
        let centre = (self.hi * 8.0).round();
        let h = self - Dd::from(centre / 8.0);
        let series = &TABLE[centre as usize];
        series.iter().rev().fold(Dd::ZERO, |sum, term| sum * h + *term)
    }

    /// erf(self).
    pub fn erf(self) -> Dd {
        let x = self.abs();
        let value = if x.hi < 0.5 {
            let square = x * x;
            let series = SMALL.iter().rev().fold(Dd::ZERO, |sum, term| sum * square + *term);
            TWO_OVER_SQRT_PI * x * series
        } else if x.hi > 9.0 {
            // The difference to 1 is 4e-37.
            Dd::ONE
        } else {
            Dd::ONE - x.erfcx() * (-(x * x)).exp()
        };
        if self.hi.is_sign_negative() { -value } else { value }
    }
}

/// e^(x²) erfc(x) in f64, for x ≥ 0; relative error below 1e-15.
pub(crate) fn erfcx_fast(x: f64) -> f64 {
    if x >= LIMIT || x.is_nan() {
        return Dd::from(x).erfcx().hi;
    }
    let centre = (x * 8.0).round();
    let h = x - centre / 8.0;
    FAST_TABLE[centre as usize].iter().rev().fold(0.0, |sum, term| sum * h + term)
}

/// erf(x) in f64. The relative error is below 1e-15 if x² is exact or |x| is moderate.
pub(crate) fn erf_fast(x: f64) -> f64 {
    let square = x * x;
    if x.abs() < 0.5 {
        let series = SMALL[..FAST_TERMS].iter().rev().fold(0.0, |sum, term| sum * square + term.hi);
        return std::f64::consts::FRAC_2_SQRT_PI * x * series;
    }
    let magnitude = if x.abs() > 7.0 { 1.0 } else { 1.0 - erfcx_fast(x.abs()) * (-square).exp() };
    if x.is_nan() { x } else { magnitude.copysign(x) }
}
