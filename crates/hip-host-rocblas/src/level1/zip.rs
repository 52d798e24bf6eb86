//! Loops over vectors.

use super::super::operand::Vector;
use super::super::parallel;
use super::super::scalar::Scalar;
use std::ops::Range;

/// Elements per task of a thread.
pub(super) const GRAIN: usize = 1 << 15;

/// Replaces each element of `y` by a function of it and of the element of `x`.
///
/// # Safety
/// The vectors have `n` elements, and nobody else uses `y`.
#[inline(always)]
pub(super) unsafe fn zip<X: Scalar, Y: Scalar>(
    n: usize,
    x: Vector<X>,
    y: Vector<Y>,
    f: impl Fn(X::Wide, Y::Wide) -> Y::Wide + Sync,
) {
    let run = |range: Range<usize>| {
        // SAFETY: S2, S12: the caller vouches for the vectors; the ranges are disjoint.
        unsafe {
            if x.step == 1 && y.step == 1 {
                let (x, y) = (x.dense(), y.dense());
                range.for_each(|i| y.set(i, f(x.get(i), y.get(i))));
            } else {
                range.for_each(|i| y.set(i, f(x.get(i), y.get(i))));
            }
        }
    };
    // With a step of 0 all elements have one address, so one thread computes them in order.
    if y.step == 0 {
        return run(0..n);
    }
    parallel::ranges(n, GRAIN, 4.0, &run);
}

/// As `zip`, and replaces the element of `x`, too.
///
/// # Safety
/// As [`zip`]; nobody else uses `x`.
#[inline(always)]
pub(super) unsafe fn zip_both<X: Scalar>(
    n: usize,
    x: Vector<X>,
    y: Vector<X>,
    f: impl Fn(X::Wide, X::Wide) -> (X::Wide, X::Wide) + Sync,
) {
    let one = |x: Vector<X>, y: Vector<X>, i: usize| {
        // SAFETY: S2, S12: the caller vouches for the vectors.
        unsafe {
            let (new_x, new_y) = f(x.get(i), y.get(i));
            x.set(i, new_x);
            y.set(i, new_y);
        }
    };
    let run = |range: Range<usize>| {
        if x.step == 1 && y.step == 1 {
            let (x, y) = (x.dense(), y.dense());
            range.for_each(|i| one(x, y, i));
        } else {
            range.for_each(|i| one(x, y, i));
        }
    };
    if x.step == 0 || y.step == 0 {
        return run(0..n);
    }
    parallel::ranges(n, GRAIN, 4.0, &run);
}
