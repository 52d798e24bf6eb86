//! Maximum and sum of a contiguous row, in parallel lanes that the compiler can vectorise.

use super::real::Real;

/// Number of lanes.
const LANES: usize = 16;
/// Elements per leaf of the summation tree.
const LEAF: usize = 1024;

/// The maximum, ignoring NaN; −∞ for no elements.
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

/// The larger one, or `a` if `b` is NaN. `a` is not NaN.
#[inline(always)]
pub(super) fn greater<C: PartialOrd>(a: C, b: C) -> C {
    if a < b { b } else { a }
}

/// −∞.
pub(super) fn lowest<C: Real>() -> C {
    C::ONE.neg().div(C::default())
}

/// The sum of `term` of each element, as a tree whose shape depends only on the length.
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

#[cfg(test)]
mod tests {
    use super::*;

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
