//! Kernels as they are written for GPUs, each checked against results worked out by hand. One file a topic.

use crate::case::Case;

/// The files' lists.
pub(crate) const LISTS: &[&[Case]] = &[];

/// The kernels' texts, by name; `Bench::function` takes the name.
pub(crate) const SOURCES: &[(&str, &str)] = &[];
