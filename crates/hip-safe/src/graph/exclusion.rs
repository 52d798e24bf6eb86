//! Mutual exclusion of captures and device-wide waits. A device-wide wait during a capture on any stream of the process is an error of the
//! driver, and invalidates the capture.

use crate::drop_errors::{self, DropErrorsLater};
use crate::{Error, Result};
use parking_lot::{Condvar, Mutex};
use std::cell::Cell;
use std::marker::PhantomData;

/// How many captures and device-wide waits are active.
#[derive(Clone, Copy)]
struct Counts {
    captures: usize,
    waits: usize,
}

static COUNTS: Mutex<Counts> = Mutex::new(Counts { captures: 0, waits: 0 });
static CHANGED: Condvar = Condvar::new();

thread_local! {
    /// How many active captures this thread has.
    static OWN: Cell<usize> = const { Cell::new(0) };
    /// How many active device-wide waits this thread has.
    static OWN_WAITS: Cell<usize> = const { Cell::new(0) };
}

/// Excludes device-wide waits while it lives. It stays on its thread.
pub(crate) struct CaptureGuard {
    this_thread: PhantomData<*const ()>,
}

/// Excludes captures while it lives. It stays on its thread.
pub(crate) struct DeviceWaitGuard {
    /// Hooks run after captures are allowed again, because a hook may wait for a thread that captures.
    _later: DropErrorsLater,
}

/// Waits for active device-wide waits, and begins a capture.
///
/// # Errors
/// [`Error::Capturing`] in a [`Device::call_alone`](crate::Device::call_alone) of this thread.
pub(crate) fn begin_capture() -> Result<CaptureGuard> {
    if OWN_WAITS.get() > 0 {
        return Err(Error::capturing("a call by Device::call_alone", "capture before the call or after it"));
    }
    let mut counts = COUNTS.lock();
    // Only active waits count here. A nested capture must not wait for waits that the outer capture holds up.
    CHANGED.wait_while(&mut counts, |counts| counts.waits > 0);
    counts.captures += 1;
    OWN.set(OWN.get() + 1);
    Ok(CaptureGuard { this_thread: PhantomData })
}

/// Waits for the captures of other threads, and begins a device-wide wait.
///
/// # Errors
/// [`Error::Capturing`] if this thread captures.
pub(crate) fn begin_device_wait() -> Result<DeviceWaitGuard> {
    if OWN.get() > 0 {
        let remedy = "wait for single streams, or before and after the capture";
        return Err(Error::capturing("a wait for a whole device", remedy));
    }
    let mut counts = COUNTS.lock();
    CHANGED.wait_while(&mut counts, |counts| counts.captures > 0);
    counts.waits += 1;
    OWN_WAITS.set(OWN_WAITS.get() + 1);
    drop(counts);
    Ok(DeviceWaitGuard { _later: drop_errors::later() })
}

impl Drop for CaptureGuard {
    fn drop(&mut self) {
        OWN.set(OWN.get() - 1);
        leave(|counts| counts.captures -= 1);
    }
}

impl Drop for DeviceWaitGuard {
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
