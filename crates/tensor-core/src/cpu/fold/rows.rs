//! Folding where the elements of one result lie near each other: result by result.

use super::{Fold, pairwise};
use crate::cpu::chunks::fill_chunks;
use crate::cpu::gather::Walk;
use crate::cpu::number::Number;

/// Elements of one leaf.
const LEAF: usize = 256;
/// Chains of one leaf that are folded side by side, as vector instructions do.
const LANES: usize = 16;
/// Elements that one core folds before it takes the next results.
const CHUNK: usize = 16 * 1024;

/// For each element of `kept`, folds the elements of `reduced` that start there, and writes what `finish` makes of the state.
/// `length`, the number of elements of `reduced`, is not 0.
pub(in crate::cpu) fn fold_rows<T: Number, F: Fold<T::Compute>, U: Send>(
    elements: &[T],
    (kept, reduced, length): (&Walk, &Walk, usize),
    fold: F,
    finish: &(dyn Fn(F::State) -> U + Sync),
    out: &mut [U],
) {
    let size = (CHUNK / length).max(1);
    fill_chunks(out, size, length, &|start, block, scratch: &mut Scratch<T>| {
        let mut results = block.iter_mut();
        kept.stretches(start..start + results.len(), |place, stride, count| {
            for (i, result) in results.by_ref().take(count).enumerate() {
                let base = place + i * stride;
                let leaf = |index: usize, (gathered, wide): &mut Scratch<T>| {
                    let range = index * LEAF..length.min((index + 1) * LEAF);
                    let first = range.start;
                    let block = match reduced.tight_range(range.clone()) {
                        Some(places) => &elements[base + places.start..base + places.end],
                        None => {
                            gathered.resize(range.len(), T::default());
                            reduced.gather(elements, base, range, gathered);
                            &gathered[..]
                        }
                    };
                    fold_block(fold, T::widen(block, wide), first)
                };
                let join = |a, b| fold.join(a, b);
                *result = finish(pairwise(0..length.div_ceil(LEAF), scratch, &leaf, &join));
            }
        });
    });
}

/// Gathered elements, and the same as compute values.
type Scratch<T> = (Vec<T>, Vec<<T as Number>::Compute>);

/// Folds a leaf, whose first element is at `first` of those to fold.
fn fold_block<C: Copy, F: Fold<C>>(fold: F, block: &[C], first: usize) -> F::State {
    let Some((lanes, rest)) = block.split_first_chunk::<LANES>() else {
        let mut state = fold.start(block[0], first);
        for (i, x) in block.iter().enumerate().skip(1) {
            state = fold.step(state, *x, first + i);
        }
        return state;
    };
    let mut states: [F::State; LANES] = std::array::from_fn(|lane| fold.start(lanes[lane], first + lane));
    let mut position = first + LANES;
    let (chunks, rest) = rest.as_chunks::<LANES>();
    for chunk in chunks {
        states = std::array::from_fn(|lane| fold.step(states[lane], chunk[lane], position + lane));
        position += LANES;
    }
    for (lane, x) in rest.iter().enumerate() {
        states[lane] = fold.step(states[lane], *x, position + lane);
    }
    let eight: [F::State; 8] = std::array::from_fn(|lane| fold.join(states[lane], states[lane + 8]));
    let four: [F::State; 4] = std::array::from_fn(|lane| fold.join(eight[lane], eight[lane + 4]));
    let two: [F::State; 2] = std::array::from_fn(|lane| fold.join(four[lane], four[lane + 2]));
    fold.join(two[0], two[1])
}
