//! The OS threads that help with launches: one set for the process, parked when there is nothing to do.

use super::{Launch, Runner, cooperative, sanitizer};
use parking_lot::{Condvar, Mutex};
use std::sync::{Arc, LazyLock};
use std::thread;

/// Stack size of our threads. Kernels run on fibers; these stacks have to hold the `__shared__` arrays of all
/// linked kernels, which are thread-local. This is address space, not memory.
pub(crate) const THREAD_STACK: usize = 64 << 20;

struct Job {
    launch: Arc<Launch>,
    /// How many more helpers may join, and how many work on it.
    wanted: usize,
    active: usize,
}

struct Workers {
    jobs: Mutex<Vec<Job>>,
    offered: Condvar,
    left: Condvar,
}

static WORKERS: LazyLock<Workers> = LazyLock::new(|| {
    for number in 1..threads() {
        let builder =
            thread::Builder::new().name(format!("hip-host worker {number}")).stack_size(THREAD_STACK);
        // With fewer helpers launches are slower but correct: the thread that runs a launch works on it too.
        let _ = builder.spawn(help_forever);
    }
    Workers { jobs: Mutex::new(Vec::new()), offered: Condvar::new(), left: Condvar::new() }
});

/// The number of OS threads that work on a launch: `HIPSTACK_HOST_THREADS`, or the number of cores, but at
/// least two.
pub(crate) fn threads() -> usize {
    static THREADS: LazyLock<usize> = LazyLock::new(|| {
        let asked = std::env::var("HIPSTACK_HOST_THREADS").ok().and_then(|text| text.trim().parse().ok());
        let cores = || thread::available_parallelism().map_or(2, usize::from).max(2);
        asked.filter(|count| *count > 0).unwrap_or_else(cores).min(1024)
    });
    if sanitizer::watches_addresses() { 1 } else { *THREADS }
}

/// Runs a launch to its end on the calling thread, with helpers if there is enough work.
pub(crate) fn run(launch: &Arc<Launch>, runner: &mut Runner) {
    let turn = sanitizer::begin_launch(launch);
    if launch.grid_barrier.is_some() {
        cooperative::run(launch, runner);
    } else {
        share_out(launch, runner);
    }
    sanitizer::end_launch(launch);
    drop(turn);
}

fn share_out(launch: &Arc<Launch>, runner: &mut Runner) {
    let helpers = (launch.turns() - 1).min(threads() as u64 - 1) as usize;
    if helpers == 0 {
        return runner.work_on(launch);
    }
    WORKERS.jobs.lock().push(Job { launch: Arc::clone(launch), wanted: helpers, active: 0 });
    for _ in 0..helpers {
        WORKERS.offered.notify_one();
    }
    runner.work_on(launch);
    let mut jobs = WORKERS.jobs.lock();
    let mine = |job: &Job| Arc::ptr_eq(&job.launch, launch);
    loop {
        let Some(index) = jobs.iter().position(mine) else { return };
        jobs[index].wanted = 0;
        if jobs[index].active == 0 {
            jobs.swap_remove(index);
            return;
        }
        WORKERS.left.wait(&mut jobs);
    }
}

fn help_forever() {
    let mut runner = Runner::new();
    let mut jobs = WORKERS.jobs.lock();
    loop {
        let best = jobs.iter_mut().filter(|job| job.wanted > 0).max_by_key(|job| job.launch.urgency);
        let Some(job) = best else {
            WORKERS.offered.wait(&mut jobs);
            continue;
        };
        job.wanted -= 1;
        job.active += 1;
        let launch = Arc::clone(&job.launch);
        drop(jobs);
        runner.work_on(&launch);
        jobs = WORKERS.jobs.lock();
        if let Some(job) = jobs.iter_mut().find(|job| Arc::ptr_eq(&job.launch, &launch)) {
            job.active -= 1;
        }
        WORKERS.left.notify_all();
    }
}
