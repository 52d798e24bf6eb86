//! The cases for runs under a sanitizer: every operation, dtype and layout, without large arrays and repetitions.

use std::collections::BTreeMap;

use super::elements;
use crate::case::{Case, Op};

/// Maximum elements of a case's arrays, a few blocks of work. Larger cases are slow and find no more.
const MOST: usize = 20_000;

/// The kind of sanitizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sanitizer {
    /// AddressSanitizer: accesses outside of arrays.
    Address,
    /// ThreadSanitizer: data races.
    Thread,
}

/// The largest case that is not too large, for each operation, dtype and layout. For reductions, products and named
/// operations the shape class also counts, because it changes what runs. The write pattern of an elementwise kernel
/// does not depend on the layout, so that for ThreadSanitizer, which is slow, one case of each is enough.
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
