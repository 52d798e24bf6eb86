//! Captures, and waits for whole devices: a driver that is asked to wait for a device while any stream of the process captures
//! answers an error and spoils the capture. So they take turns.

use crate::drop_errors::{self, DropErrorsLater};
use crate::{Error, Result};
use parking_lot::{Condvar, Mutex};
use std::cell::Cell;
use std::marker::PhantomData;

/// How many of both go on.
#[derive(Clone, Copy)]
struct Counts {
    captures: usize,
    waits: usize,
}

static COUNTS: Mutex<Counts> = Mutex::new(Counts { captures: 0, waits: 0 });
static CHANGED: Condvar = Condvar::new();

thread_local! {
    /// How many captures this thread has begun.
    static OWN: Cell<usize> = const { Cell::new(0) };
    /// How many waits for whole devices this thread has begun.
    static OWN_WAITS: Cell<usize> = const { Cell::new(0) };
}

/// While it lives, nobody waits for a whole device. It stays on its thread.
pub(crate) struct WhileCapturing {
    this_thread: PhantomData<*const ()>,
}

/// While it lives, nobody captures. It stays on its thread.
pub(crate) struct WhileWaiting {
    /// Hooks are called when captures may begin again: one may wait for a thread that captures.
    _later: DropErrorsLater,
}

/// Waits until nobody waits for a whole device.
///
/// # Errors
/// [`Error::Capturing`] if this thread does, in a call that it makes alone.
pub(crate) fn capturing() -> Result<WhileCapturing> {
    if OWN_WAITS.get() > 0 {
        return Err(Error::capturing("a call by Device::call_alone", "capture before the call or after it"));
    }
    let mut counts = COUNTS.lock();
    // A capture within a capture does not wait for those who wait for the outer one.
    CHANGED.wait_while(&mut counts, |counts| counts.waits > 0);
    counts.captures += 1;
    OWN.set(OWN.get() + 1);
    Ok(WhileCapturing { this_thread: PhantomData })
}

/// Waits for the captures of other threads.
///
/// # Errors
/// [`Error::Capturing`] if this thread captures.
pub(crate) fn waiting() -> Result<WhileWaiting> {
    if OWN.get() > 0 {
        let remedy = "wait for single streams, or before and after the capture";
        return Err(Error::capturing("a wait for a whole device", remedy));
    }
    let mut counts = COUNTS.lock();
    CHANGED.wait_while(&mut counts, |counts| counts.captures > 0);
    counts.waits += 1;
    OWN_WAITS.set(OWN_WAITS.get() + 1);
    drop(counts);
    Ok(WhileWaiting { _later: drop_errors::later() })
}

impl Drop for WhileCapturing {
    fn drop(&mut self) {
        OWN.set(OWN.get() - 1);
        leave(|counts| counts.captures -= 1);
    }
}

impl Drop for WhileWaiting {
    fn drop(&mut self) {
        OWN_WAITS.set(OWN_WAITS.get() - 1);
        leave(|counts| counts.waits -= 1);
    }
}

/// Whether any thread captures.
pub(crate) fn any_capture() -> bool {
    COUNTS.lock().captures > 0
}

fn leave(change: impl FnOnce(&mut Counts)) {
    change(&mut COUNTS.lock());
    CHANGED.notify_all();
}
