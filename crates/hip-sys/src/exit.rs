//! Whether the process has begun to exit. A driver may already be torn down then, so nobody calls it any more.

use std::sync::atomic::{AtomicBool, Ordering};

static EXITING: AtomicBool = AtomicBool::new(false);

/// True once `exit` has begun. Owners of driver resources then release nothing: the process's end does.
#[inline]
pub fn exiting() -> bool {
    EXITING.load(Ordering::Acquire)
}

/// Watches for the exit of the process. Making a platform does it, and whoever has just made a driver do more than load calls
/// it again: handlers run in reverse order, so ours has to be registered after those of each library. More than one is
/// harmless.
pub fn watch_exit() {
    extern "C" fn begun() {
        EXITING.store(true, Ordering::Release);
    }
    // A full table of handlers leaves the flag false: drops then run as they would without us.
    at_exit(begun);
}

/// Has `run` called once `exit` has begun, after what is registered later; false if the table of handlers is full.
pub fn at_exit(run: extern "C" fn()) -> bool {
    // Miri has no such table: it is as a full one.
    if cfg!(miri) {
        return false;
    }
    // SAFETY: S1: it is a static function that takes nothing, and no panic leaves an `extern "C"` function.
    unsafe { libc::atexit(run) == 0 }
}
