//! Parts of the registry that stand for all of it.

mod sanitizer;
mod subset;

pub use sanitizer::{Sanitizer, for_sanitizer};
pub use subset::subset;

use crate::case::Case;

/// How many elements the operation is given.
fn elements(case: &Case) -> usize {
    case.operands.iter().map(|operand| operand.view().dims.iter().product::<usize>()).sum()
}
