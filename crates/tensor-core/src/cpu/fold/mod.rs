//! Pairwise folding of many elements to one value, used by reductions.
//!
//! Elements are folded in leaves of a fixed size, and leaves in a binary tree whose shape depends only on their number.
//! Rounding errors therefore grow with the logarithm of the length, and results do not depend on the number of cores.

mod columns;
mod kinds;
mod rows;

use std::ops::Range;

pub(super) use columns::fold_columns;
pub(super) use kinds::{ArgMax, ArgMin, Fold, Max, Min, Prod, Sum};
pub(super) use rows::fold_rows;

/// With more leaves than this, the two halves of a tree may run on different cores.
const PARALLEL_LEAVES: usize = 64;

/// Joins the values of `leaves`, at least one, as a binary tree. `leaf` gets scratch memory.
fn pairwise<S: Send, B: Default + Send>(
    leaves: Range<usize>,
    scratch: &mut B,
    leaf: &(impl Fn(usize, &mut B) -> S + Sync),
    join: &(impl Fn(S, S) -> S + Sync),
) -> S {
    let count = leaves.len();
    if count <= 1 {
        return leaf(leaves.start, scratch);
    }
    let middle = leaves.start + count.next_power_of_two() / 2;
    let (left, right) = (leaves.start..middle, middle..leaves.end);
    let (left, right) = if count > PARALLEL_LEAVES {
        rayon::join(|| pairwise(left, scratch, leaf, join), || pairwise(right, &mut B::default(), leaf, join))
    } else {
        let left = pairwise(left, scratch, leaf, join);
        (left, pairwise(right, scratch, leaf, join))
    };
    join(left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_keep_the_order_and_have_logarithmic_depth() {
        for count in 1..300 {
            let leaf = |i: usize, _: &mut ()| (i..i + 1, 0);
            let join = |a: (Range<usize>, u32), b: (Range<usize>, u32)| {
                assert_eq!(a.0.end, b.0.start);
                (a.0.start..b.0.end, a.1.max(b.1) + 1)
            };
            let (range, depth) = pairwise(0..count, &mut (), &leaf, &join);
            assert_eq!(range, 0..count);
            assert_eq!(depth, count.next_power_of_two().trailing_zeros());
        }
    }
}
