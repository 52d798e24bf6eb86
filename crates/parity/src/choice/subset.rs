//! The cases that a run has when nothing else is asked for.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::elements;
use crate::case::{Case, Layout};

/// A part of the cases, in their order, that has one of each operation, dtype and class of layout, and for each operation one
/// of each class of shape.
///
/// Of several that would do, the smallest stands for them. What a case adds to those chosen before it decides, so the result is
/// not the least possible number of cases; it depends on nothing but the cases.
pub fn subset(cases: Vec<Case>) -> Vec<Case> {
    // A scalar or nothing at all shows least, so those come last; an operation's rarest shapes are otherwise as good as any.
    let mut order: Vec<(usize, usize)> = (0..cases.len()).map(|at| (elements(&cases[at]), at)).collect();
    order.sort_by_key(|(elements, at)| (Reverse(*elements >= SHOWS), *elements, *at));
    let (mut layouts, mut shapes) = (HashSet::new(), HashSet::new());
    let mut chosen = vec![false; cases.len()];
    // First those that add both, so that shapes are spread over layouts and dtypes.
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

/// Elements below which a case shows little: less than a wave or two.
const SHOWS: usize = 129;

/// Masks and ids have dtypes of their own, which choose kernels too.
fn by_layout(case: &Case) -> (&'static str, String, Vec<&'static str>, Layout) {
    let others = case.operands.iter().skip(1).map(|operand| operand.dtype.name()).collect();
    (case.op.name(), case.dtypes(), others, case.layout)
}

fn by_shape(case: &Case) -> (&'static str, &'static str) {
    (case.op.name(), case.shape)
}
