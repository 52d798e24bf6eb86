//! Work on several threads. They are threads of their own, which run nothing of the program's: a thread of the program's that
//! waits for a stream can hold none of them up.

use crate::run;
use gemm::Parallelism;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ops::Range;
use std::sync::LazyLock;

/// So many steps of arithmetic are worth waking other threads.
const WORTH: f64 = 1e6;

static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let name = |number| format!("hip-host blas {number}");
    ThreadPoolBuilder::new().num_threads(run::threads()).thread_name(name).build().ok()
});

/// The threads, if so much work is for them. Not on one of rayon's threads, ours or the program's: while it waits it would take
/// up other tasks, and one that waits for this stream would never end.
fn pool(steps: f64) -> Option<&'static ThreadPool> {
    if steps < WORTH || rayon::current_thread_index().is_some() {
        return None;
    }
    POOL.as_ref().filter(|pool| pool.current_num_threads() > 1)
}

/// Runs what can spread so much work itself.
pub(super) fn spread<R: Send>(steps: f64, run: impl FnOnce(Parallelism) -> R + Send) -> R {
    match pool(steps) {
        Some(pool) => pool.install(|| run(Parallelism::Rayon(pool.current_num_threads()))),
        None => run(Parallelism::None),
    }
}

/// Calls a function for each index below `count`, in any order. One call takes so many steps.
pub(super) fn each(count: usize, steps: f64, call: &(impl Fn(usize) + Sync)) {
    let all = steps * count as f64;
    let pool = pool(all).filter(|pool| steps < WORTH || count >= 2 * pool.current_num_threads());
    match pool.filter(|_| count > 1) {
        Some(pool) => pool.install(|| {
            use rayon::prelude::*;
            (0..count).into_par_iter().for_each(call);
        }),
        None => (0..count).for_each(call),
    }
}

/// The parts of `count` that chunks of `grain` make.
fn chunks(count: usize, grain: usize) -> impl Fn(usize) -> Range<usize> {
    move |chunk| chunk * grain..count.min((chunk + 1) * grain)
}

/// Calls a function for ranges that are all indices below `count` together. An index takes so many steps.
pub(super) fn ranges(count: usize, grain: usize, steps: f64, call: impl Fn(Range<usize>) + Sync) {
    let range = chunks(count, grain);
    each(count.div_ceil(grain), steps * grain as f64, &|chunk| call(range(chunk)));
}

/// As `ranges`, and gives the results in the order of the ranges. Which ranges there are does not depend on the threads.
pub(super) fn collect<R: Send>(
    count: usize,
    grain: usize,
    steps: f64,
    call: impl Fn(Range<usize>) -> R + Sync,
) -> Vec<R> {
    let (range, number) = (chunks(count, grain), count.div_ceil(grain));
    match pool(steps * count as f64).filter(|_| number > 1) {
        Some(pool) => pool.install(|| {
            use rayon::prelude::*;
            (0..number).into_par_iter().map(|chunk| call(range(chunk))).collect()
        }),
        None => (0..number).map(|chunk| call(range(chunk))).collect(),
    }
}
