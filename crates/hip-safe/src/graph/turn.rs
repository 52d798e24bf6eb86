//! Whether a stream does what it is given, or captures it.

use super::capture::{Capture, List};
use crate::{Error, Result};
use parking_lot::{MutexGuard, RwLock, RwLockReadGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A stream's capture, if it has one. Work is submitted with the guard held, so a capture begins between two submissions.
#[derive(Default)]
pub(crate) struct Turn {
    capture: RwLock<Option<Arc<Capture>>>,
    /// Whether there is one, for those who keep none away.
    any: AtomicBool,
}

/// While it lives, the stream begins no capture.
pub(crate) struct NoCapture<'a> {
    _turn: Option<RwLockReadGuard<'a, Option<Arc<Capture>>>>,
}

impl<'a> NoCapture<'a> {
    /// The turn of the thread that has ended a capture in the driver, until it unlocks the list or gives the turn back:
    /// everybody else who has work for the stream waits for one of them.
    pub(super) fn at_the_end(_list: &'a MutexGuard<'_, List>) -> Self {
        NoCapture { _turn: None }
    }
}

impl Turn {
    /// Keeps captures away, or gives the one that goes on. A thread may ask again while it has a guard.
    pub(crate) fn get(&self) -> Result<NoCapture<'_>, Arc<Capture>> {
        let turn = self.capture.read_recursive();
        match &*turn {
            None => Ok(NoCapture { _turn: Some(turn) }),
            Some(capture) => Err(Arc::clone(capture)),
        }
    }

    /// Keeps captures away; `None` if there is one, or another thread begins or ends one just now.
    #[inline]
    pub(crate) fn try_get(&self) -> Option<NoCapture<'_>> {
        let turn = self.capture.try_read_recursive()?;
        turn.is_none().then(|| NoCapture { _turn: Some(turn) })
    }

    /// The capture that goes on. Another thread may begin or end one at any time.
    pub(crate) fn capture(&self) -> Option<Arc<Capture>> {
        if self.any.load(Ordering::Acquire) { self.get().err() } else { None }
    }

    /// Keeps captures away, for what cannot be part of one.
    ///
    /// # Errors
    /// [`Error::Capturing`] with what it is and what to do instead.
    pub(crate) fn refuse_capture(&self, what: &'static str, remedy: &'static str) -> Result<NoCapture<'_>> {
        self.get().map_err(|_| Error::capturing(what, remedy))
    }

    /// Waits for submissions under way and begins a capture; false if there is one already.
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
