//! The default cases of a run.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::elements;
use crate::case::{Case, Layout};

/// A subset of the cases, in their order, that has every combination of operation, dtype and layout class, and for each
/// operation every shape class.
///
/// Small cases are preferred. The choice is greedy, so that the subset need not be the smallest possible. It depends
/// only on the cases.
pub fn subset(cases: Vec<Case>) -> Vec<Case> {
    // Cases with fewer than `SHOWS` elements come last, because they show least. Otherwise small cases come first.
    let mut order: Vec<(usize, usize)> = (0..cases.len()).map(|at| (elements(&cases[at]), at)).collect();
    order.sort_by_key(|(elements, at)| (Reverse(*elements >= SHOWS), *elements, *at));
    let (mut layouts, mut shapes) = (HashSet::new(), HashSet::new());
    let mut chosen = vec![false; cases.len()];
    // The first pass takes cases that add both, which spreads shapes over layouts and dtypes.
    for pass in [2, 1] {
        for (_, at) in &order {
            let (layout, shape) = (by_layout(&cases[*at]), by_shape(&cases[*at]));
            let adds = usize::from(!layouts.contains(&layout)) + usize::from(!shapes.contains(&shape));
            if adds >= pass {
                layouts.insert(layout);
                shapes.insert(shape);
                chosen[*at] = true;
            }
        }
    }
    cases.into_iter().zip(chosen).filter_map(|(case, chosen)| chosen.then_some(case)).collect()
}

/// Cases with fewer elements show little: that is less than a wave or two.
const SHOWS: usize = 129;

/// Masks and ids have dtypes of their own, which also determine kernels.
fn by_layout(case: &Case) -> (&'static str, String, Vec<&'static str>, Layout) {
    let others = case.operands.iter().skip(1).map(|operand| operand.dtype.name()).collect();
    (case.op.name(), case.dtypes(), others, case.layout)
}

fn by_shape(case: &Case) -> (&'static str, &'static str) {
    (case.op.name(), case.shape)
}
