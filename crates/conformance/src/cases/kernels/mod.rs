//! Kernels as written for GPUs, each checked against results worked out by hand. One file per topic.

mod algorithms;
mod atomics;
mod barriers;
mod functions;
mod groups;
mod index;
mod memory;
mod output;
mod reductions;
mod shared;
mod shuffles;
mod votes;

use crate::case::Case;

/// The files' lists.
pub(crate) const LISTS: &[&[Case]] = &[
    index::CASES,
    barriers::CASES,
    shuffles::CASES,
    votes::CASES,
    reductions::CASES,
    shared::CASES,
    atomics::CASES,
    functions::CASES,
    memory::CASES,
    output::CASES,
    algorithms::CASES,
    groups::CASES,
];

/// The kernels' sources, by the name that `Bench::function` takes.
pub(crate) const SOURCES: &[(&str, &str)] = &[
    ("index", include_str!("../../../kernels/index.hip")),
    ("barrier", include_str!("../../../kernels/barrier.hip")),
    ("shuffle", include_str!("../../../kernels/shuffle.hip")),
    ("vote", include_str!("../../../kernels/vote.hip")),
    ("reduce", include_str!("../../../kernels/reduce.hip")),
    ("shared", include_str!("../../../kernels/shared.hip")),
    ("atomic", include_str!("../../../kernels/atomic.hip")),
    ("counter", include_str!("../../../kernels/counter.hip")),
    ("function", include_str!("../../../kernels/function.hip")),
    ("memory", include_str!("../../../kernels/memory.hip")),
    ("output", include_str!("../../../kernels/output.hip")),
    ("assertion", include_str!("../../../kernels/assertion.hip")),
    ("algorithm", include_str!("../../../kernels/algorithm.hip")),
    ("group", include_str!("../../../kernels/group.hip")),
];
