//! Blocks streams, so that cases can observe order without a clock.

use super::Bench;
use crate::case::{Failure, Outcome};
use hip_sys::hip::hipStream_t;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Long enough for a loaded machine, but a wrong platform should fail rather than hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A gate that blocks streams until the case opens it. It opens when it is dropped, or when the bench frees
/// memory, which waits for all streams. So a failed case leaves no stream blocked.
pub(crate) struct Gate {
    /// Leaked: a stream may still use it after the case.
    door: &'static Door,
}

#[derive(Debug, Default)]
pub(super) struct Door {
    open: Mutex<bool>,
    opened: Condvar,
    arrived: AtomicU32,
    passed: AtomicU32,
}

unsafe extern "C" fn wait_at(door: *mut c_void) {
    // SAFETY: S11: `hold` passed a door that is never freed.
    let door = unsafe { &*door.cast::<Door>() };
    door.arrived.fetch_add(1, Ordering::SeqCst);
    let open = door.open.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = door.opened.wait_timeout_while(open, PATIENCE, |open| !*open);
    drop(waited.unwrap_or_else(PoisonError::into_inner));
    door.passed.fetch_add(1, Ordering::SeqCst);
}

impl Door {
    pub(super) fn open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }
}

impl Gate {
    /// A closed gate.
    pub(crate) fn new() -> Self {
        Self { door: Box::leak(Box::default()) }
    }

    /// Makes the stream wait at the gate, by a host function.
    pub(crate) fn hold(&self, bench: &Bench, stream: hipStream_t) -> Outcome {
        bench.doors.borrow_mut().push(self.door);
        let door = std::ptr::from_ref(self.door).cast_mut().cast();
        ok!(bench, hipLaunchHostFunc(stream, Some(wait_at), door));
        Ok(())
    }

    /// Opens the gate.
    pub(crate) fn open(&self) {
        self.door.open();
    }

    /// Makes a call while the gate is closed, and opens the gate when the call has returned. For libraries
    /// that wait inside the call, the gate opens after a second by itself. `look` runs right before it opens.
    pub(crate) fn open_after<T, S: Send>(
        &self,
        call: impl FnOnce() -> T,
        look: impl FnOnce() -> S + Send,
    ) -> (T, S) {
        let (back, is_back) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let opener = scope.spawn(move || {
                // The sender was dropped, or the time is over.
                let _ = is_back.recv_timeout(Duration::from_secs(1));
                let seen = look();
                self.open();
                seen
            });
            let result = call();
            drop(back);
            (result, opener.join().expect("looking does not panic"))
        })
    }

    /// How many streams have reached it.
    pub(crate) fn arrived(&self) -> u32 {
        self.door.arrived.load(Ordering::SeqCst)
    }

    /// How many streams have passed it.
    pub(crate) fn passed(&self) -> u32 {
        self.door.passed.load(Ordering::SeqCst)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}

/// Polls until the condition holds; otherwise fails with `what`.
#[track_caller]
pub(crate) fn soon(what: &str, condition: impl Fn() -> bool) -> Outcome {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() > PATIENCE {
            return Err(Failure::wrong(format!("{what} has not happened in {} s", PATIENCE.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
