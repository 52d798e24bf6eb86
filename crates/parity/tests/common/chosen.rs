//! A third of the cases, for tests that run them on every device. `cargo xtask parity` runs them all.

use std::collections::HashMap;

use parity::{Case, registry};

/// Of each operation and dtype every fourth case, and of each operation and layout the first.
pub(crate) fn chosen() -> Vec<Case> {
    let (mut dtypes, mut layouts) = (HashMap::new(), HashMap::new());
    let mut wanted = |case: &Case| {
        let of_dtype = dtypes.entry((case.op.name(), case.dtypes())).or_insert(0);
        let of_layout = layouts.entry((case.op.name(), case.layout.name())).or_insert(0);
        (*of_dtype, *of_layout) = (*of_dtype + 1, *of_layout + 1);
        *of_dtype % 4 == 1 || *of_layout == 1
    };
    registry::all().into_iter().filter(|case| wanted(case)).collect()
}
