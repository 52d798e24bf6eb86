//! Parts of the registry that stand for all of it.

mod sanitizer;

pub use sanitizer::{Sanitizer, for_sanitizer};
