//! Whether a stream executes its work or captures it.

use super::capture::{Capture, List};
use crate::{Error, Result};
use parking_lot::{MutexGuard, RwLock, RwLockReadGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The capture of a stream, if it has one. Submissions hold a read guard of this, so a capture begins and ends between two submissions.
#[derive(Default)]
pub(crate) struct Turn {
    capture: RwLock<Option<Arc<Capture>>>,
    /// Whether there is a capture, readable without the lock.
    any: AtomicBool,
}

/// Keeps the stream from beginning a capture while it lives.
pub(crate) struct NoCapture<'a> {
    _turn: Option<RwLockReadGuard<'a, Option<Arc<Capture>>>>,
}

impl<'a> NoCapture<'a> {
    /// For the thread that has ended a capture in the driver and still holds its list. Other threads with work for the stream wait for the
    /// list, or for [`Turn::give_back`].
    pub(super) fn at_the_end(_list: &'a MutexGuard<'_, List>) -> Self {
        NoCapture { _turn: None }
    }
}

impl Turn {
    /// Excludes captures, or returns the active one. A thread may call this again while it holds a guard.
    pub(crate) fn get(&self) -> Result<NoCapture<'_>, Arc<Capture>> {
        let turn = self.capture.read_recursive();
        match &*turn {
            None => Ok(NoCapture { _turn: Some(turn) }),
            Some(capture) => Err(Arc::clone(capture)),
        }
    }

    /// Excludes captures without waiting. `None` if there is one, or another thread is beginning or ending one.
    #[inline]
    pub(crate) fn try_get(&self) -> Option<NoCapture<'_>> {
        let turn = self.capture.try_read_recursive()?;
        turn.is_none().then(|| NoCapture { _turn: Some(turn) })
    }

    /// The active capture. Another thread may begin or end one at any time.
    pub(crate) fn capture(&self) -> Option<Arc<Capture>> {
        if self.any.load(Ordering::Acquire) { self.get().err() } else { None }
    }

    /// Excludes captures, for an operation that a graph cannot contain.
    ///
    /// # Errors
    /// [`Error::Capturing`], which says `what` the operation is and what to do instead.
    pub(crate) fn refuse_capture(&self, what: &'static str, remedy: &'static str) -> Result<NoCapture<'_>> {
        self.get().map_err(|_| Error::capturing(what, remedy))
    }

    /// Waits for submissions in progress and begins a capture. False if there is one already.
    pub(super) fn take(&self, capture: &Arc<Capture>) -> bool {
        let mut turn = self.capture.write();
        let free = turn.is_none();
        if free {
            *turn = Some(Arc::clone(capture));
            self.any.store(true, Ordering::Release);
        }
        free
    }

    pub(super) fn give_back(&self) {
        let mut turn = self.capture.write();
        let former = turn.take();
        self.any.store(false, Ordering::Release);
        drop(turn);
        drop(former);
    }
}
