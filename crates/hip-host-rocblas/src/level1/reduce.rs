//! Sums over vectors.

use super::super::parallel;
use super::super::scalar::Field;
use super::GRAIN;
use std::ops::Range;

/// Independent partial sums, so that the processor can compute several at once.
const LANES: usize = 16;

/// The sum of a function of the indices below `n`. The order of the additions depends on `n` alone.
#[inline(always)]
pub(crate) fn sum<A: Field>(n: usize, f: impl Fn(usize) -> A + Sync) -> A {
    if n <= GRAIN {
        return part(0..n, &f);
    }
    let parts = parallel::collect(n, GRAIN, 4.0, &|range| part(range, &f));
    parts.into_iter().fold(A::ZERO, |all, part| all + part)
}

/// As `sum`, on one thread.
#[inline(always)]
pub(crate) fn part<A: Field>(range: Range<usize>, f: &impl Fn(usize) -> A) -> A {
    let mut lanes = [A::ZERO; LANES];
    let whole = range.start + range.len() / LANES * LANES;
    for first in (range.start..whole).step_by(LANES) {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum = *sum + f(first + lane);
        }
    }
    let rest = (whole..range.end).fold(A::ZERO, |all, index| all + f(index));
    lanes.into_iter().fold(rest, |all, lane| all + lane)
}
