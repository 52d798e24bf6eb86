//! Whether the process has begun to exit. A driver may already be torn down then, so nobody calls it any more.

use std::sync::atomic::{AtomicBool, Ordering};

static EXITING: AtomicBool = AtomicBool::new(false);

/// True once `exit` has begun. Owners of driver resources then release nothing: the process's end does.
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
    // SAFETY: S1: `begun` is a static function that touches only an atomic. A full table of handlers makes the call
    // fail, which leaves the flag false: drops then run as they would without us.
    unsafe { libc::atexit(begun) };
}
