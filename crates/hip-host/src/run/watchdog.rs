//! The watchdog: ends launches that take longer than `HIPSTACK_HOST_WATCHDOG_MS`. Off if that is not set.
//!
//! Each thread that works on a launch is on a list, with the launch's deadline. Once the deadline has passed,
//! no more blocks can be claimed, and a signal interrupts each thread. The signal is repeated until the
//! thread has left, because a fiber cannot be stopped everywhere.

use super::Launch;
use super::trap::{INTERRUPT, Slot};
use parking_lot::{Condvar, Mutex};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

/// Interval between two attempts to interrupt a thread.
const RETRY: Duration = Duration::from_millis(2);

/// The time limit of a launch; `None` for no limit.
pub(crate) fn limit() -> Option<Duration> {
    static LIMIT: LazyLock<Option<Duration>> = LazyLock::new(|| {
        let text = std::env::var("HIPSTACK_HOST_WATCHDOG_MS").ok()?;
        text.trim().parse().ok().filter(|ms| *ms > 0).map(Duration::from_millis)
    });
    *LIMIT
}

/// A thread that works on a launch.
struct Watched {
    thread: libc::pthread_t,
    slot: *const Slot,
    launch: *const Launch,
    deadline: Instant,
}

// SAFETY: S16: the thread removes itself from the list before its slot or the launch is freed.
unsafe impl Send for Watched {}

static WATCHED: Mutex<Vec<Watched>> = Mutex::new(Vec::new());
static CHANGED: Condvar = Condvar::new();

/// Keeps the calling thread on the list until it is dropped.
pub(crate) struct Watch {
    slot: *const Slot,
}

/// Begins to watch the calling thread, which is about to work on the launch. The launch's first thread sets
/// its deadline.
pub(crate) fn watch(launch: &Launch, slot: *const Slot) -> Option<Watch> {
    static WATCHDOG: LazyLock<bool> = LazyLock::new(|| {
        let builder = thread::Builder::new().name("hip-host watchdog".to_owned());
        builder.spawn(keep_watch).is_ok()
    });
    let limit = limit()?;
    if !*WATCHDOG {
        return None;
    }
    let deadline = *launch.deadline.get_or_init(|| Instant::now() + limit);
    // SAFETY: S16: the calling thread, which may have blocked the signal.
    let thread = unsafe {
        let mut signals = MaybeUninit::uninit();
        libc::sigemptyset(signals.as_mut_ptr());
        libc::sigaddset(signals.as_mut_ptr(), INTERRUPT);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, signals.as_ptr(), null_mut());
        libc::pthread_self()
    };
    WATCHED.lock().push(Watched { thread, slot, launch, deadline });
    CHANGED.notify_one();
    Some(Watch { slot })
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut watched = WATCHED.lock();
        watched.retain(|watched| watched.slot != self.slot);
        // SAFETY: S16: this thread's slot. Nobody sets the flag again, since the thread is off the list.
        unsafe { (*self.slot).set_interrupt(false) };
    }
}

fn keep_watch() {
    let mut watched = WATCHED.lock();
    loop {
        let now = Instant::now();
        let overdue = || watched.iter().filter(|watched| watched.deadline <= now);
        for late in overdue() {
            // SAFETY: S16: the thread, its slot and the launch live while the entry is on the list, and
            // entries are removed under the lock.
            unsafe {
                (*late.launch).expire();
                (*late.slot).set_interrupt(true);
                libc::pthread_kill(late.thread, INTERRUPT);
            }
        }
        // After all signals: otherwise a block released from a wait could be interrupted on its way out and
        // be reported as the one that took too long.
        for late in overdue() {
            // SAFETY: S16: as above.
            unsafe { (*late.launch).end_waits() };
        }
        match watched.iter().map(|watched| watched.deadline).min() {
            None => CHANGED.wait(&mut watched),
            Some(first) => {
                let until = first.max(now + RETRY);
                CHANGED.wait_until(&mut watched, until);
            }
        }
    }
}
