//! Work on several threads of the libraries' pool.

use gemm::Parallelism;
use gemm_common::gemm::L2_SLAB;
use hip_host::library;
use rayon::ThreadPool;
use std::ops::Range;
use std::sync::OnceLock;

/// Work of at least this many steps is divided among threads.
const WORTH: f64 = 1e6;

/// The maximum number of results that are collected.
const MOST_RESULTS: usize = 1 << 24;

/// The pool, if there is enough work for it. On one of rayon's threads there is none: while it waits, it would take up
/// other tasks, and a task that waits for this stream would deadlock.
fn pool(steps: f64) -> Option<&'static ThreadPool> {
    if steps < WORTH || rayon::current_thread_index().is_some() {
        return None;
    }
    library::pool().filter(|pool| pool.current_num_threads() > 1)
}

/// Whether the calling thread can compute products. A thread that is ending has already lost its thread-local buffers.
pub(super) fn fits() -> bool {
    L2_SLAB.try_with(|_| ()).is_ok()
}

/// Runs work that divides itself among the pool's threads.
pub(super) fn spread<R: Send>(steps: f64, run: impl FnOnce(Parallelism) -> R + Send) -> R {
    match pool(steps) {
        Some(pool) => pool.install(|| run(Parallelism::Rayon(pool.current_num_threads()))),
        None => run(Parallelism::None),
    }
}

/// Calls a function for each index below `count`, in any order. Each call takes so many steps and runs on one thread.
pub(super) fn each(count: usize, steps: f64, call: &(dyn Fn(usize) + Sync)) {
    match pool(steps * count as f64).filter(|_| count > 1) {
        Some(pool) => pool.install(|| {
            use rayon::prelude::*;
            (0..count).into_par_iter().for_each(call);
        }),
        None => (0..count).for_each(call),
    }
}

/// As `each`, for calls that can divide their own work: a few large calls run one after the other.
pub(super) fn batch(count: usize, steps: f64, call: &(dyn Fn(usize) + Sync)) {
    if steps < WORTH || count >= 2 * library::threads() {
        each(count, steps, call);
    } else {
        (0..count).for_each(call);
    }
}

/// The range of a chunk of `grain` indices, cut at `count`.
fn chunk(count: usize, grain: usize, number: usize) -> Range<usize> {
    number * grain..count.min((number + 1) * grain)
}

/// Calls a function for ranges that together cover all indices below `count`. An index takes so many steps.
pub(super) fn ranges(count: usize, grain: usize, steps: f64, call: &(dyn Fn(Range<usize>) + Sync)) {
    each(count.div_ceil(grain), steps * grain as f64, &|number| call(chunk(count, grain, number)));
}

/// As `ranges`, and returns the results in the order of the ranges. The ranges do not depend on the number of threads.
pub(super) fn collect<R: Send + Sync>(
    count: usize,
    grain: usize,
    steps: f64,
    call: &(dyn Fn(Range<usize>) -> R + Sync),
) -> Vec<R> {
    // With an increment of zero any number of elements needs little memory; the number of results stays limited.
    let grain = grain.max(count.div_ceil(MOST_RESULTS));
    let results: Vec<OnceLock<R>> = (0..count.div_ceil(grain)).map(|_| OnceLock::new()).collect();
    each(results.len(), steps * grain as f64, &|number| {
        let _ = results[number].set(call(chunk(count, grain, number)));
    });
    results.into_iter().filter_map(OnceLock::into_inner).collect()
}
