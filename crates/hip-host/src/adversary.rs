//! The adversary: a seeded scheduler that does everything late, early or out of order that HIP's rules allow, so that a
//! program that relies on luck fails on this machine.
//!
//! `HIPSTACK_HOST_ADVERSARY=<seed>` switches it on, and the checker with it. An operation then rests until somebody waits
//! for it, or is started early by the submission of another. Of the operations that may start, the seed chooses; some streams
//! are always late, and while a thread waits for one stream, others may be starved. Host functions and late streams start only
//! when somebody waits for them. Blocks of a launch go out in any order, and so do the
//! threads of a block that has barriers. Memory that is new or freed is filled with a pattern, and
//! what was freed in a stream is handed out again at once.
//!
//! # The same seed
//! Operations run one at a time, and each choice depends on the seed and on how many operations, waits and launches there
//! were before. A program with one thread makes the same calls in the same order, so it gets the same decisions, which
//! [`trace`] lists. Threads of a program that race with each other change the order of the calls, and so the decisions.
//!
//! # Patience
//! An operation may wait for the program (a host function at a lock, a kernel that reads a flag), and a program may look at
//! memory without a call. So whoever waits in vain for a while starts everything that may start; the trace says where.
//! `HIPSTACK_HOST_ADVERSARY_PATIENCE_MS` is how long that is, by default 250.

mod choice;
mod schedule;

pub(crate) use choice::Order;

use parking_lot::{Condvar, Mutex};
use schedule::State;
use std::collections::VecDeque;
use std::sync::LazyLock;
use std::time::Duration;

/// Decisions that are kept to be asked for.
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

/// Fills memory that has no contents, or has them no more, with a pattern that is unlikely to look right.
///
/// # Safety
/// The bytes may be written, and nobody uses them.
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
