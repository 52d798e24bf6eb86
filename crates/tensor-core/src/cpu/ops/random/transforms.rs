//! Converts words to floats with uniform or normal distribution. Only explicit `fma` and IEEE operations are used, so
//! that kernels give the same bits.

use std::ops::{Add, Div, Mul, Neg};

use crate::cpu::arith::Arith;

/// A float type that random numbers are computed in.
pub(super) trait Random:
    Arith + Add<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// 32-bit words per number.
    const WORDS: usize;
    /// Coefficients of artanh(s)/s − 1, by powers of s² from the first on.
    const ARTANH: &[Self];
    /// Coefficients of sin(a)/a − 1, by powers of a² from the first on.
    const SINE: &[Self];
    /// Coefficients of cos(a) − 1, by powers of a² from the first on.
    const COSINE: &[Self];

    /// Multiples of 2⁻²⁴ (`f32`) or 2⁻⁵³ (`f64`) in \[0, 1).
    fn units(words: &[u32], out: &mut [Self]);

    /// Normally distributed numbers with mean 0 and deviation 1, by the Box-Muller transform: two words make two
    /// numbers. The first word becomes a number in (0, 1], the second an angle in fractions of a turn.
    fn normals(words: &[u32], out: &mut [Self]);
}

impl Random for f32 {
    const WORDS: usize = 1;
    const ARTANH: &[f32] = &[1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0];
    const SINE: &[f32] = &[-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362_880.0];
    const COSINE: &[f32] = &[-1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0, -1.0 / 3_628_800.0];

    fn units(words: &[u32], out: &mut [f32]) {
        const STEP: f32 = 1.0 / 16_777_216.0;
        out.iter_mut().zip(words).for_each(|(x, word)| *x = (word >> 8) as f32 * STEP);
    }

    fn normals(words: &[u32], out: &mut [f32]) {
        const STEP: f32 = 1.0 / 4_294_967_296.0;
        for (out, pair) in out.chunks_mut(2).zip(words.chunks_exact(2)) {
            let u = (pair[0] as f32).mul_add(STEP, STEP / 2.0);
            let quarters = pair[1].wrapping_add(1 << 29) >> 30;
            let angle = pair[1].wrapping_sub(quarters << 30) as i32 as f32 * (std::f32::consts::TAU * STEP);
            let numbers = on_circle((-2.0 * ln_f32(u)).sqrt(), quarters, angle);
            out.copy_from_slice(&numbers[..out.len()]);
        }
    }
}

impl Random for f64 {
    const WORDS: usize = 2;
    const ARTANH: &[f64] = &[
        1.0 / 3.0,
        1.0 / 5.0,
        1.0 / 7.0,
        1.0 / 9.0,
        1.0 / 11.0,
        1.0 / 13.0,
        1.0 / 15.0,
        1.0 / 17.0,
        1.0 / 19.0,
        1.0 / 21.0,
    ];
    const SINE: &[f64] = &[
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5040.0,
        1.0 / 362_880.0,
        -1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 1_307_674_368_000.0,
        1.0 / 355_687_428_096_000.0,
    ];
    const COSINE: &[f64] = &[
        -1.0 / 2.0,
        1.0 / 24.0,
        -1.0 / 720.0,
        1.0 / 40_320.0,
        -1.0 / 3_628_800.0,
        1.0 / 479_001_600.0,
        -1.0 / 87_178_291_200.0,
        1.0 / 20_922_789_888_000.0,
    ];

    fn units(words: &[u32], out: &mut [f64]) {
        for (x, pair) in out.iter_mut().zip(words.chunks_exact(2)) {
            *x = upper_bits(pair) as f64 * STEP_F64;
        }
    }

    fn normals(words: &[u32], out: &mut [f64]) {
        for (out, words) in out.chunks_mut(2).zip(words.chunks_exact(4)) {
            let u = (upper_bits(&words[..2]) + 1) as f64 * STEP_F64;
            let turn = upper_bits(&words[2..]);
            let quarters = (turn + (1 << 50)) >> 51;
            let angle = turn.wrapping_sub(quarters << 51) as i64 as f64 * (std::f64::consts::TAU * STEP_F64);
            let numbers = on_circle((-2.0 * ln_f64(u)).sqrt(), quarters as u32, angle);
            out.copy_from_slice(&numbers[..out.len()]);
        }
    }
}

/// 2⁻⁵³.
const STEP_F64: f64 = f64::EPSILON / 2.0;

/// The upper 53 bits of a 64-bit word.
fn upper_bits(pair: &[u32]) -> u64 {
    (u64::from(pair[1]) << 32 | u64::from(pair[0])) >> 11
}

/// The logarithm of a normal number 2ᵏ(1 + f), with 1 + f between √½ and √2.
fn ln_f32(u: f32) -> f32 {
    let k = (u.to_bits().wrapping_sub(0x3f35_04f3) as i32) >> 23;
    let f = f32::from_bits(u.to_bits().wrapping_sub((k as u32) << 23)) - 1.0;
    (k as f32).mul_add(std::f32::consts::LN_2, ln_1p(f, 2.0))
}

/// As [`ln_f32`].
fn ln_f64(u: f64) -> f64 {
    let k = (u.to_bits().wrapping_sub(0x3fe6_a09e_667f_3bcd) as i64) >> 52;
    let f = f64::from_bits(u.to_bits().wrapping_sub((k as u64) << 52)) - 1.0;
    (k as f64).mul_add(std::f64::consts::LN_2, ln_1p(f, 2.0))
}

/// ln(1 + f) = 2 artanh(f / (2 + f)).
fn ln_1p<F: Random>(f: F, two: F) -> F {
    let s = f / (two + f);
    let (z, t) = (s * s, s + s);
    (t * z).mul_add(polynomial(z, F::ARTANH), t)
}

/// Cosine and sine, times r, of a sum of quarter turns and an angle of at most an eighth of a turn.
fn on_circle<F: Random>(r: F, quarters: u32, angle: F) -> [F; 2] {
    let z = angle * angle;
    let sine = (angle * z).mul_add(polynomial(z, F::SINE), angle);
    let cosine = z.mul_add(polynomial(z, F::COSINE), F::ONE);
    let (x, y) = if quarters & 1 != 0 { (sine, cosine) } else { (cosine, sine) };
    [r * if (quarters + 1) & 2 != 0 { -x } else { x }, r * if quarters & 2 != 0 { -y } else { y }]
}

/// Σ cᵢ zⁱ, by Horner's method.
fn polynomial<F: Random>(z: F, coefficients: &[F]) -> F {
    coefficients.iter().rev().copied().reduce(|sum, c| z.mul_add(sum, c)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_within_two_units_in_the_last_place() {
        for i in 0..200_000u32 {
            let word = i.wrapping_mul(2_654_435_761);
            let u = (word as f32).mul_add(f32::EPSILON.powi(1) / 512.0, 1e-10);
            let (got, exact) = (f64::from(ln_f32(u)), f64::from(u).ln());
            assert!(
                (got - exact).abs() <= 2.0 * f64::from(f32::EPSILON) * exact.abs(),
                "{u:e}: {got} {exact}"
            );
            let u = f64::from(word) / 4_294_967_296.0 + 1e-300;
            let (got, exact) = (ln_f64(u), u.ln());
            assert!((got - exact).abs() <= 2.0 * f64::EPSILON * exact.abs(), "{u:e}: {got} {exact}");
        }
        assert_eq!((ln_f32(1.0), ln_f64(1.0)), (0.0, 0.0));
    }

    #[test]
    fn circles_are_round() {
        for i in 0..=4096 {
            let angle = std::f64::consts::FRAC_PI_4 * f64::from(i - 2048) / 2048.0;
            let (c, s) = (angle.cos(), angle.sin());
            for (quarters, (cosine, sine)) in
                [(c, s), (-s, c), (-c, -s), (s, -c), (c, s)].into_iter().enumerate()
            {
                let [x, y] = on_circle(1.0, quarters as u32, angle);
                // Four halves of an ulp of 1.
                assert!((x - cosine).abs() < 4.5e-16 && (y - sine).abs() < 4.5e-16, "{quarters} {angle}");
                let [x, y] = on_circle(1.0f32, quarters as u32, angle as f32);
                // The same, plus half an ulp for the angle.
                let near = |got: f32, exact: f64| (f64::from(got) - exact).abs() < 1.5e-7;
                assert!(near(x, cosine) && near(y, sine), "{quarters} {angle}");
            }
        }
    }
}
