//! The kinds of folds: sums, products, extrema and their positions.

use crate::cpu::arith::Arith;

/// Combines elements to one value. Folds are associative, up to rounding.
pub(in crate::cpu) trait Fold<C>: Copy + Sync {
    /// The intermediate state of a fold.
    type State: Copy + Send + Sync;

    /// The state of one element, at `position` among those to fold.
    fn start(self, x: C, position: usize) -> Self::State;

    /// Joins two states, in either order of their elements.
    fn join(self, a: Self::State, b: Self::State) -> Self::State;

    /// Adds one element, which comes after those in `state`.
    fn step(self, state: Self::State, x: C, position: usize) -> Self::State {
        self.join(state, self.start(x, position))
    }
}

macro_rules! values {
    ($($(#[$doc:meta])* $fold:ident: $join:path;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy)]
            pub(in crate::cpu) struct $fold;

            impl<C: Arith> Fold<C> for $fold {
                type State = C;

                #[inline(always)]
                fn start(self, x: C, _position: usize) -> C {
                    x
                }

                #[inline(always)]
                fn join(self, a: C, b: C) -> C {
                    $join(a, b)
                }
            }
        )+
    };
}

values! {
    /// The sum.
    Sum: Arith::add;
    /// The product.
    Prod: Arith::mul;
    /// The minimum.
    Min: Arith::min;
    /// The maximum.
    Max: Arith::max;
}

macro_rules! positions {
    ($($(#[$doc:meta])* $fold:ident: $better:path;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy)]
            pub(in crate::cpu) struct $fold;

            impl<C: Arith> Fold<C> for $fold {
                type State = (C, usize);

                #[inline(always)]
                fn start(self, x: C, position: usize) -> (C, usize) {
                    (x, position)
                }

                #[inline(always)]
                fn join(self, a: (C, usize), b: (C, usize)) -> (C, usize) {
                    if $better(b.0, a.0) || (b.1 < a.1 && !$better(a.0, b.0)) { b } else { a }
                }

                #[inline(always)]
                fn step(self, state: (C, usize), x: C, position: usize) -> (C, usize) {
                    // A later element replaces the state only if it is better.
                    if $better(x, state.0) { (x, position) } else { state }
                }
            }
        )+
    };
}

positions! {
    /// The first position of the minimum.
    ArgMin: Arith::less;
    /// The first position of the maximum.
    ArgMax: Arith::greater;
}
