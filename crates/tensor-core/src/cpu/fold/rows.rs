//! Folding result by result, if the elements of one result are near each other.

use super::{Fold, pairwise};
use crate::cpu::chunks::fill_chunks;
use crate::cpu::gather::Walk;
use crate::cpu::number::Number;
use crate::cpu::vector::vectorised;

/// Elements per leaf.
const LEAF: usize = 256;
/// Chains of one leaf folded in parallel, for vector instructions.
const LANES: usize = 16;
/// Elements that a core folds before it takes the next results.
const CHUNK: usize = 16 * 1024;

/// For each element of `kept`, folds the elements of `reduced` that start there, and writes `finish` of the state.
/// `length`, the number of elements of `reduced`, is not 0.
pub(in crate::cpu) fn fold_rows<T: Number, F: Fold<T::Compute>, U: Send>(
    elements: &[T],
    (kept, reduced, length): (&Walk, &Walk, usize),
    fold: F,
    finish: &(impl Fn(F::State) -> U + Sync),
    out: &mut [U],
) {
    let size = (CHUNK / length).max(1);
    let work = length.saturating_mul(1 + T::CONVERSION);
    let one_leaf = if length <= LEAF { reduced.tight_range(0..length) } else { None };
    fill_chunks(out, size, work, &|start, block, scratch: &mut Scratch<T>| {
        let mut results = block.iter_mut();
        kept.stretches(start..start + results.len(), |offset, stride, count| {
            let results = results.by_ref().take(count);
            if let Some(range) = &one_leaf {
                let first = offset + range.start;
                return vectorised(
                    #[inline(always)]
                    || {
                        for (i, result) in results.enumerate() {
                            let row = &elements[first + i * stride..][..length];
                            *result = finish(fold_block(fold, T::widen(row, &mut scratch.1), 0));
                        }
                    },
                );
            }
            for (i, result) in results.enumerate() {
                let base = offset + i * stride;
                let leaf = |index: usize, (gathered, wide): &mut Scratch<T>| {
                    let range = index * LEAF..length.min((index + 1) * LEAF);
                    let first = range.start;
                    let block = match reduced.tight_range(range.clone()) {
                        Some(range) => &elements[base + range.start..base + range.end],
                        None => {
                            gathered.resize(range.len(), T::default());
                            reduced.gather(elements, base, range, gathered);
                            &gathered[..]
                        }
                    };
                    let block = T::widen(block, wide);
                    vectorised(
                        #[inline(always)]
                        || fold_block(fold, block, first),
                    )
                };
                let join = |a, b| fold.join(a, b);
                *result = finish(pairwise(0..length.div_ceil(LEAF), scratch, &leaf, &join));
            }
        });
    });
}

/// Gathered elements and their compute values.
type Scratch<T> = (Vec<T>, Vec<<T as Number>::Compute>);

/// Folds a leaf whose first element has index `first` among those to fold.
#[inline(always)]
fn fold_block<C: Copy, F: Fold<C>>(fold: F, block: &[C], first: usize) -> F::State {
    let (chunks, rest) = block.as_chunks::<LANES>();
    let Some((head, chunks)) = chunks.split_first() else {
        return one_by_one(fold, rest, first).expect("leaves have elements");
    };
    let mut states: [F::State; LANES] = std::array::from_fn(|lane| fold.start(head[lane], first + lane));
    let mut position = first + LANES;
    for chunk in chunks {
        states = std::array::from_fn(|lane| fold.step(states[lane], chunk[lane], position + lane));
        position += LANES;
    }
    let eight: [F::State; 8] = std::array::from_fn(|lane| fold.join(states[lane], states[lane + 8]));
    let four: [F::State; 4] = std::array::from_fn(|lane| fold.join(eight[lane], eight[lane + 4]));
    let two: [F::State; 2] = std::array::from_fn(|lane| fold.join(four[lane], four[lane + 2]));
    let whole = fold.join(two[0], two[1]);
    one_by_one(fold, rest, position).map_or(whole, |rest| fold.join(whole, rest))
}

/// Folds elements in order. The first one has index `first` among those to fold. `None` for no elements.
#[inline(always)]
fn one_by_one<C: Copy, F: Fold<C>>(fold: F, block: &[C], first: usize) -> Option<F::State> {
    let (x, others) = block.split_first()?;
    let others = others.iter().zip(first + 1..);
    Some(others.fold(fold.start(*x, first), |state, (x, position)| fold.step(state, *x, position)))
}
