//! Work on several threads, those of the libraries' pool.

use gemm::Parallelism;
use gemm_common::gemm::L2_SLAB;
use hip_host::library;
use rayon::ThreadPool;
use std::ops::Range;
use std::sync::OnceLock;

/// So many steps of arithmetic are worth waking other threads.
const WORTH: f64 = 1e6;

/// No more results than these are collected.
const MOST_RESULTS: usize = 1 << 24;

/// The threads, if so much work is for them. Not on one of rayon's threads, ours or the program's: while it waits it would take
/// up other tasks, and one that waits for this stream would never end.
fn pool(steps: f64) -> Option<&'static ThreadPool> {
    if steps < WORTH || rayon::current_thread_index().is_some() {
        return None;
    }
    library::pool().filter(|pool| pool.current_num_threads() > 1)
}

/// Whether the calling thread can compute products: one that is ending has lost what they keep for it.
pub(super) fn fits() -> bool {
    L2_SLAB.try_with(|_| ()).is_ok()
}

/// Runs what can spread so much work itself.
pub(super) fn spread<R: Send>(steps: f64, run: impl FnOnce(Parallelism) -> R + Send) -> R {
    match pool(steps) {
        Some(pool) => pool.install(|| run(Parallelism::Rayon(pool.current_num_threads()))),
        None => run(Parallelism::None),
    }
}

/// Calls a function for each index below `count`, in any order. One call takes so many steps, on one thread.
pub(super) fn each(count: usize, steps: f64, call: &(dyn Fn(usize) + Sync)) {
    match pool(steps * count as f64).filter(|_| count > 1) {
        Some(pool) => pool.install(|| {
            use rayon::prelude::*;
            (0..count).into_par_iter().for_each(call);
        }),
        None => (0..count).for_each(call),
    }
}

/// As `each`, of calls that can spread their own work: few large ones run one after the other.
pub(super) fn batch(count: usize, steps: f64, call: &(dyn Fn(usize) + Sync)) {
    if steps < WORTH || count >= 2 * library::threads() {
        each(count, steps, call);
    } else {
        (0..count).for_each(call);
    }
}

/// The part of `count` that a chunk of `grain` is.
fn chunk(count: usize, grain: usize, number: usize) -> Range<usize> {
    number * grain..count.min((number + 1) * grain)
}

/// Calls a function for ranges that are all indices below `count` together. An index takes so many steps.
pub(super) fn ranges(count: usize, grain: usize, steps: f64, call: &(dyn Fn(Range<usize>) + Sync)) {
    each(count.div_ceil(grain), steps * grain as f64, &|number| call(chunk(count, grain, number)));
}

/// As `ranges`, and gives the results in the order of the ranges. Which ranges there are does not depend on the threads.
pub(super) fn collect<R: Send + Sync>(
    count: usize,
    grain: usize,
    steps: f64,
    call: &(dyn Fn(Range<usize>) -> R + Sync),
) -> Vec<R> {
    // Increments of zero make any number of indices of little memory: the results stay few.
    let grain = grain.max(count.div_ceil(MOST_RESULTS));
    let results: Vec<OnceLock<R>> = (0..count.div_ceil(grain)).map(|_| OnceLock::new()).collect();
    each(results.len(), steps * grain as f64, &|number| {
        let _ = results[number].set(call(chunk(count, grain, number)));
    });
    results.into_iter().filter_map(OnceLock::into_inner).collect()
}
