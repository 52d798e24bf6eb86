//! Subsets of the registry that represent all of it.

mod sanitizer;
mod subset;

pub use sanitizer::{Sanitizer, for_sanitizer};
pub use subset::subset;

use crate::case::Case;

/// Number of elements in the operands' views.
fn elements(case: &Case) -> usize {
    case.operands.iter().map(|operand| operand.view().dims.iter().product::<usize>()).sum()
}
