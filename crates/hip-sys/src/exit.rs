//! Whether the process has begun to exit. A driver may already be torn down then, so nobody calls it any more.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static EXITING: AtomicBool = AtomicBool::new(false);
static WATCH: Once = Once::new();

/// True once `exit` has begun. Owners of driver resources then release nothing: the process's end does.
pub fn exiting() -> bool {
    EXITING.load(Ordering::Acquire)
}

/// Begins to watch for the exit of the process. Loading a platform does it; a crate that makes a [`crate::Platform`] of
/// its own calls it once. Handlers run in reverse order, so it must come after the libraries are loaded.
pub fn watch_exit() {
    extern "C" fn begun() {
        EXITING.store(true, Ordering::Release);
    }
    WATCH.call_once(|| {
        // SAFETY: S1: `begun` is a static function that touches only an atomic. A full table of handlers makes the call
        // fail, which leaves the flag false: drops then run as they would without us.
        unsafe { libc::atexit(begun) };
    });
}
