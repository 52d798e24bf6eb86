//! The threads that calls of libraries are computed on.

use crate::run;
use rayon::ThreadPool;
use std::sync::LazyLock;

/// A pool of its own: threads of rayon's common one may all be waiting for a stream, and one of them that helped itself to a task while
/// it runs a call might wait for that very call.
static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let name = |number| format!("hip-host library {number}");
    rayon::ThreadPoolBuilder::new().num_threads(run::threads()).thread_name(name).build().ok()
});

/// The pool, which all libraries share; `None` if the machine has no threads for one.
pub fn pool() -> Option<&'static ThreadPool> {
    POOL.as_ref()
}

/// Runs it in the pool; without one, where rayon's common pool is used.
pub(super) fn install(body: &(dyn Fn() + Sync)) {
    match pool() {
        Some(pool) => pool.install(body),
        None => body(),
    }
}
