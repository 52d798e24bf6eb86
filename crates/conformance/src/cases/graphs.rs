//! Graphs: capture, instantiation, launches, updates, and what must not happen while a stream is captured.

use crate::case::Case;

pub(crate) const CASES: &[Case] = &[];
