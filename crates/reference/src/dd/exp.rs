//! Exponential and logarithm of double-doubles, and functions that follow directly.

use super::Dd;
use std::sync::LazyLock;

/// ln 2.
pub(super) const LN_2: Dd = Dd::parts(std::f64::consts::LN_2, 2.3190468138462996e-17);

/// 1/0!, 1/1!, … 1/31!.
pub(super) static INVERSE_FACTORIALS: LazyLock<[Dd; 32]> = LazyLock::new(|| {
    let mut table = [Dd::ONE; 32];
    for n in 1..32 {
        table[n] = table[n - 1] / Dd::from(n as f64);
    }
    table
});

impl Dd {
    /// e^self − 1, with full relative precision near 0.
    pub fn exp_m1(self) -> Dd {
        let x = self.hi;
        // x²/2 is negligible then, and the steps below would lose bits to subnormals.
        if x.abs() < 1e-200 || x.is_nan() || x == f64::INFINITY {
            return self;
        }
        if x > 710.0 {
            return Dd::from(f64::INFINITY);
        }
        if x < -80.0 {
            return Dd::from(-1.0);
        }
        let (doublings, small) = reduced_exp_m1(self);
        if doublings == 0 { small } else { (small + Dd::ONE).ldexp(doublings) - Dd::ONE }
    }

    /// e^self.
    pub fn exp(self) -> Dd {
        let (m, exponent) = self.exp_parts();
        m.ldexp(exponent)
    }

    /// e^self as m · 2^exponent with m near 1, so that it can be multiplied before it underflows.
    pub(crate) fn exp_parts(self) -> (Dd, i32) {
        let x = self.hi;
        if x.is_nan() || x > 1e4 {
            return (Dd::from(x.exp()), 0);
        }
        if x < -1e4 {
            return (Dd::ZERO, 0);
        }
        let (doublings, small) = reduced_exp_m1(self);
        (small + Dd::ONE, doublings)
    }

    /// Natural logarithm, with full relative precision near 1; −∞ at 0, NaN below.
    pub fn ln(self) -> Dd {
        if self.hi <= 0.0 || !self.is_finite() {
            return Dd::from(self.hi.ln());
        }
        // self = m · 2^k with m in [0.7, 1.42), so that near 1 k is 0 and nothing cancels.
        let scaled_up = if self.hi < f64::MIN_POSITIVE { 1074 } else { 0 };
        let m = self.ldexp(scaled_up);
        let mut k = (m.hi.to_bits() >> 52) as i32 - 1023;
        if m.hi * crate::round::power_of_two(-k) > std::f64::consts::SQRT_2 {
            k += 1;
        }
        let m = m.ldexp(-k);
        (m - Dd::ONE).ln_1p_small() + LN_2 * Dd::from(f64::from(k - scaled_up))
    }

    /// ln(1 + self), with full relative precision near 0.
    pub fn ln_1p(self) -> Dd {
        if self.hi > -0.3 && self.hi < 0.42 { self.ln_1p_small() } else { (Dd::ONE + self).ln() }
    }

    /// ln(1 + self) for self in (-0.31, 0.43): the f64 logarithm and one Halley step on e^y − 1 = self.
    fn ln_1p_small(self) -> Dd {
        let y = Dd::from(self.hi.ln_1p());
        if y.hi.abs() < 1e-200 {
            return self;
        }
        let e = y.exp_m1();
        // With the correction d, e^d = (1 + self) / (1 + e), so d ≈ 2 (self − e) / (2 + self + e), with an error cubic
        // in d.
        let gap = self - e;
        y + (gap + gap) / (self + e + Dd::from(2.0))
    }

    /// self^power for positive finite self, as e^(power · ln self).
    pub fn powf(self, power: Dd) -> Dd {
        (power * self.ln()).exp()
    }
}

/// Returns k and e^r − 1, where x = k·ln 2 + r and |r| ≤ ln 2 / 2.
fn reduced_exp_m1(x: Dd) -> (i32, Dd) {
    let k = (x.hi / LN_2.hi).round();
    // Near 0 the reduction must not change x.
    let r = if k == 0.0 { x } else { x - LN_2 * Dd::from(k) };
    // e^(r/512) − 1 by its Taylor series, then nine times (1 + s)^2 − 1 = s (2 + s), which keeps relative precision.
    let r = r.scale(1.0 / 512.0);
    let inverse = &*INVERSE_FACTORIALS;
    let mut series = inverse[10];
    for n in (1..10).rev() {
        series = series * r + inverse[n];
    }
    let mut s = series * r;
    for _ in 0..9 {
        s = s.scale(2.0) + s * s;
    }
    (k as i32, s)
}
