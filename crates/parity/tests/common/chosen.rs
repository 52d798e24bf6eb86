//! A part of the cases, for tests of what runs and judges them. `cargo xtask parity` runs them all.

use std::collections::HashSet;

use parity::inputs::Contents;
use parity::{Case, registry, sabotage};
use reference::DType;

/// Of each operation the first case of each dtype and of each layout.
pub(crate) fn chosen() -> Vec<Case> {
    let (mut dtypes, mut layouts) = (HashSet::new(), HashSet::new());
    let mut wanted = |case: &Case| {
        let first_of_dtype = dtypes.insert((case.op.name(), case.dtypes()));
        layouts.insert((case.op.name(), case.layout.name())) || first_of_dtype
    };
    registry::all().into_iter().filter(|case| wanted(case)).collect()
}

/// The cases that errors are planted in, of a large float, a small one and an integer, and of quantized blocks. `cargo xtask parity --sabotage` plants in all.
pub(crate) fn benches() -> Vec<Case> {
    let wanted = |case: &Case| {
        case.operands.first().is_none_or(|operand| {
            matches!(operand.dtype, DType::F32 | DType::F16 | DType::I32)
                || matches!(operand.contents, Contents::Blocks(_))
        })
    };
    sabotage::benches(&registry::all()).into_iter().filter(wanted).collect()
}
