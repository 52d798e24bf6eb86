//! Folding many adjacent results in parallel, as in a sum over rows.

use super::{Fold, pairwise};
use crate::cpu::chunks::fill_chunks;
use crate::cpu::gather::Walk;
use crate::cpu::number::Number;

/// Results folded together in one group.
const GROUP: usize = 512;
/// Elements of each result in one leaf.
const LEAF: usize = 16;

/// As [`super::fold_rows`], in the other loop order.
pub(in crate::cpu) fn fold_columns<T: Number, F: Fold<T::Compute>, U: Send>(
    elements: &[T],
    (kept, reduced, length): (&Walk, &Walk, usize),
    fold: F,
    finish: &(impl Fn(F::State) -> U + Sync),
    out: &mut [U],
) {
    let work = length.saturating_mul(1 + T::CONVERSION);
    fill_chunks(out, GROUP, work, &|start, out, scratch: &mut Scratch<T>| {
        let results = start..start + out.len();
        let leaf = |index: usize, (gathered, wide): &mut Scratch<T>| {
            let mut states: Vec<F::State> = Vec::new();
            let mut position = index * LEAF;
            reduced.stretches(position..length.min(position + LEAF), |offset, stride, count| {
                for i in 0..count {
                    gathered.resize(results.len(), T::default());
                    kept.gather(elements, offset + i * stride, results.clone(), gathered);
                    let row = T::widen(gathered, wide);
                    if states.is_empty() {
                        states.extend(row.iter().map(|x| fold.start(*x, position)));
                    } else {
                        for (state, x) in states.iter_mut().zip(row) {
                            *state = fold.step(*state, *x, position);
                        }
                    }
                    position += 1;
                }
            });
            states
        };
        let join = |mut a: Vec<F::State>, b: Vec<F::State>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a = fold.join(*a, b));
            a
        };
        let states = pairwise(0..length.div_ceil(LEAF), scratch, &leaf, &join);
        out.iter_mut().zip(states).for_each(|(y, state)| *y = finish(state));
    });
}

/// Gathered elements and their compute values.
type Scratch<T> = (Vec<T>, Vec<<T as Number>::Compute>);
