//! A part of the cases for tests that run them on every device. `cargo xtask parity` runs them all, in a minute or two.

use std::collections::HashSet;

use parity::{Case, registry};

/// Every fourth case from that one on; every operation is among them.
pub(crate) fn quarter(first: usize) -> Vec<Case> {
    let operations = |cases: &[Case]| cases.iter().map(|case| case.op.name()).collect::<HashSet<_>>();
    let all = registry::all();
    let quarter: Vec<Case> = all.iter().skip(first).step_by(4).cloned().collect();
    assert_eq!(operations(&quarter), operations(&all));
    quarter
}
