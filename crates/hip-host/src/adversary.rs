//! The adversary: a seeded scheduler that does everything as late, as early or as far out of order as HIP's
//! rules allow. A program that relies on luck then fails on this machine.
//!
//! `HIPSTACK_HOST_ADVERSARY=<seed>` switches it on, and the checker with it. An operation then rests in its
//! stream until a thread waits for it, or until the submission of another operation starts it early. The seed
//! chooses among the operations that may start. Some streams are always late, and while a thread waits for
//! one stream, others may be starved. Host functions and late streams start only when a thread waits for
//! them. The blocks of a launch run in any order, and so do the threads of a block that has barriers. New and
//! freed memory is filled with a pattern. Memory that was freed in a stream is handed out again at once.
//!
//! # Reproducing a run
//! Operations run one at a time, and each choice depends on the seed and on the number of operations, waits
//! and launches so far. A program with one thread makes the same calls in the same order, so it gets the same
//! decisions, which [`trace`] lists. Threads that race with each other change the order of the calls, and so
//! the decisions.
//!
//! # Patience
//! An operation may wait for the program (a host function for a lock, a kernel for a flag), and a program may
//! poll memory without a call. So a wait that makes no progress for a while starts everything that may start;
//! the trace says where. `HIPSTACK_HOST_ADVERSARY_PATIENCE_MS` sets this time, by default 250.

mod choice;
mod schedule;

pub(crate) use choice::Order;

use parking_lot::{Condvar, Mutex};
use schedule::State;
use std::collections::VecDeque;
use std::sync::LazyLock;
use std::time::Duration;

/// How many decisions the trace keeps.
const TRACE_KEPT: usize = 1 << 16;

/// The adversary of this process.
pub(crate) struct Adversary {
    seed: u64,
    patience: Duration,
    state: Mutex<State>,
    changed: Condvar,
    trace: Mutex<VecDeque<String>>,
    counts: choice::Counts,
}

static ADVERSARY: LazyLock<Option<Adversary>> = LazyLock::new(|| {
    let text = std::env::var("HIPSTACK_HOST_ADVERSARY").ok().filter(|text| !text.trim().is_empty())?;
    let Ok(seed) = text.trim().parse() else {
        eprintln!(
            "hip-host: HIPSTACK_HOST_ADVERSARY={text} is no seed: the adversary stays off (give a number, such as 1)"
        );
        return None;
    };
    let patience = std::env::var("HIPSTACK_HOST_ADVERSARY_PATIENCE_MS").ok();
    let patience = patience.and_then(|text| text.trim().parse().ok()).filter(|ms| *ms > 0).unwrap_or(250);
    Some(Adversary {
        seed,
        patience: Duration::from_millis(patience),
        state: Mutex::default(),
        changed: Condvar::new(),
        trace: Mutex::default(),
        counts: choice::Counts::default(),
    })
});

/// The seed, while the adversary is on.
pub fn seed() -> Option<u64> {
    get().map(|adversary| adversary.seed)
}

/// The decisions so far, oldest first: at most the last 65,536. Empty while the adversary is off.
pub fn trace() -> Vec<String> {
    get().map(|adversary| adversary.trace.lock().iter().cloned().collect()).unwrap_or_default()
}

pub(crate) fn get() -> Option<&'static Adversary> {
    ADVERSARY.as_ref()
}

pub(crate) fn on() -> bool {
    ADVERSARY.is_some()
}

/// Fills new or freed memory with a pattern that a program is unlikely to mistake for valid data.
///
/// # Safety
/// The bytes are writable, and nobody uses them.
pub(crate) unsafe fn scribble(start: *mut u8, len: usize) {
    if let Some(adversary) = get() {
        // SAFETY: S15: the caller vouches for the bytes.
        unsafe { start.write_bytes(adversary.pattern(), len) };
    }
}

impl Adversary {
    fn note(&self, decision: String) {
        let mut trace = self.trace.lock();
        if trace.len() == TRACE_KEPT {
            trace.pop_front();
        }
        trace.push_back(decision);
    }
}
