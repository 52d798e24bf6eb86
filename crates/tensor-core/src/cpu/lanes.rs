//! The greatest and the sum of a tight row, in lanes side by side, as vector instructions do; and powers of e by the block.

use super::real::Real;

/// Chains side by side.
const LANES: usize = 16;
/// Elements of a leaf of the tree in which sums are added up.
const LEAF: usize = 1024;

/// The greatest element that is a number; −∞ for none.
pub(super) fn greatest<C: Real>(x: &[C]) -> C {
    let mut lanes = [lowest::<C>(); LANES];
    let mut chunks = x.chunks_exact(LANES);
    for chunk in &mut chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane = greater(*lane, *x);
        }
    }
    let rest = chunks.remainder().iter().copied().fold(lowest(), greater);
    lanes.into_iter().fold(rest, greater)
}

/// The greater one, `a` if `b` is NaN. `a` is none.
#[inline(always)]
pub(super) fn greater<C: PartialOrd>(a: C, b: C) -> C {
    if a < b { b } else { a }
}

/// −∞.
pub(super) fn lowest<C: Real>() -> C {
    C::ONE.neg().div(C::default())
}

/// The sum of `term` of each element, as a tree whose form depends on the length only.
pub(super) fn total<C: Real>(x: &[C], term: impl Fn(C) -> C + Copy) -> C {
    if x.len() > LEAF {
        let (left, right) = x.split_at(x.len().next_power_of_two() / 2);
        return total(left, term).add(total(right, term));
    }
    let mut lanes = [C::default(); LANES];
    let mut chunks = x.chunks_exact(LANES);
    for chunk in &mut chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane = lane.add(term(*x));
        }
    }
    let rest = chunks.remainder().iter().fold(C::default(), |sum, x| sum.add(term(*x)));
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            lanes[lane] = lanes[lane].add(lanes[lane + width]);
        }
    }
    lanes[0].add(rest)
}

/// A compute type with a power of e for arguments up to about 1 that a loop can do in vector instructions.
pub(super) trait Power: Real {
    /// eˣ; 0 at −∞, NaN at NaN. Greater arguments than 80 are none of its business.
    fn power(self) -> Self;
}

impl Power for f64 {
    fn power(self) -> f64 {
        self.exp()
    }
}

impl Power for f32 {
    /// 2ⁿ·eʳ with |r| ≤ ln 2 / 2 and Taylor's series for eʳ, whose first term left out is below 6e-9. Within 1 ulp.
    #[inline(always)]
    fn power(self) -> f32 {
        // Adding it rounds to a whole number, which then stands in the low bits.
        const WHOLE: f32 = 12_582_912.0;
        // ln 2 as a number of 10 bits, of which 150 times is exact, and the rest.
        const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
        // Half of the smallest subnormal is e^-103.97: what is below becomes 0.
        let x = if self < -104.0 { -104.0 } else { self };
        let shifted = x * std::f32::consts::LOG2_E + WHOLE;
        let n = shifted - WHOLE;
        let r = (x - n * LN_2.0) - n * LN_2.1;
        let series = 1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0));
        let series = 0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * series));
        let power = 1.0 + (r + r * r * series);
        // In two factors, each a normal number, so that a subnormal result is rounded once.
        let exponent = shifted.to_bits().wrapping_sub(WHOLE.to_bits()) as i32;
        let half = exponent >> 1;
        let two_to = |e: i32| f32::from_bits((e.wrapping_add(127) as u32) << 23);
        power * two_to(half) * two_to(exponent.wrapping_sub(half))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_e_are_within_one_ulp() {
        let mut worst = 0f64;
        for i in 0..2_000_000u32 {
            let x = 1.0 - i as f32 * 5.3e-5;
            let exact = f64::from(x).exp();
            let ulp = f64::from(f32::EPSILON) * 2f64.powi((exact.log2().floor() as i32).max(-126));
            worst = worst.max((f64::from(x.power()) - exact).abs() / ulp);
        }
        assert!(worst <= 1.0, "{worst} ulp");
    }

    #[test]
    fn special_powers() {
        assert_eq!((0f32.power(), (-0f32).power(), f32::NEG_INFINITY.power()), (1.0, 1.0, 0.0));
        assert!(f32::NAN.power().is_nan() && (-f32::NAN).power().is_nan());
        assert_eq!((f32::MIN.power(), (-104f32).power()), (0.0, 0.0));
        // e^-103.5 is 1.5 · 2^-150: nearest to the smallest subnormal.
        assert_eq!((-103.5f32).power(), f32::from_bits(1));
    }

    #[test]
    fn totals_and_greatest_of_any_length() {
        for length in [0usize, 1, 15, 16, 17, 1023, 1024, 1025, 5000] {
            let x: Vec<f32> = (0..length).map(|i| (i % 7) as f32).collect();
            assert_eq!(total(&x, |x| x), (0..length).map(|i| i % 7).sum::<usize>() as f32);
            assert_eq!(
                greatest(&x),
                if length == 0 { f32::NEG_INFINITY } else { (length - 1).min(6) as f32 }
            );
        }
        assert_eq!(greatest(&[f32::NAN, 1.0, f32::NAN]), 1.0);
        assert_eq!(total(&vec![1f32; 1 << 25], |x| x), (1 << 25) as f32);
    }
}
