//! The cases that kernels run under a sanitizer: every operation, dtype and layout, without large arrays and repetitions.

use std::collections::BTreeMap;

use super::elements;
use crate::case::{Case, Op};

/// Elements of a case's arrays, beyond which it takes long and shows nothing more: a few blocks' worth.
const MOST: usize = 20_000;

/// What a sanitizer looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sanitizer {
    /// Accesses outside of arrays.
    Address,
    /// Races.
    Thread,
}

/// For each operation, dtype and layout the largest case that is not too large. Reductions and products run differently
/// for each class of shapes, so those count too. Who writes where in an elementwise kernel does not depend on the layout: for
/// ThreadSanitizer, which is slow, one case of each is enough.
pub fn for_sanitizer(cases: Vec<Case>, sanitizer: Sanitizer) -> Vec<Case> {
    let mut chosen = BTreeMap::new();
    for case in cases.into_iter().filter(|case| elements(case) <= MOST) {
        let (op, dtypes, layout, shape) = case.class();
        let by_shape = matches!(case.op, Op::Reduce { .. } | Op::Matmul | Op::Named(_));
        let layout = (by_shape || sanitizer == Sanitizer::Address).then_some(layout);
        let shape = if by_shape { shape } else { "" };
        // Masks and ids have dtypes of their own.
        let others: Vec<&str> = case.operands.iter().skip(1).map(|operand| operand.dtype.name()).collect();
        let known = chosen.entry((op, dtypes, others, layout, shape)).or_insert_with(|| case.clone());
        if elements(&case) > elements(known) {
            *known = case;
        }
    }
    chosen.into_values().collect()
}
