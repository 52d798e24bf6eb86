//! Events: a point in a stream, and the time at which the stream reached it.

use crate::graph::capture::Mark;
use crate::stream::Point;
use parking_lot::{Mutex, MutexGuard};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// An event.
pub(crate) struct Event {
    pub(crate) device: usize,
    /// Whether it records the time.
    pub(crate) timed: bool,
    recorded: Mutex<Option<Recorded>>,
    /// Set while the last recording was in a captured stream.
    mark: Mutex<Option<Mark>>,
}

/// The last recording of an event.
#[derive(Clone)]
pub(crate) struct Recorded {
    pub(crate) point: Point,
    pub(crate) moment: Arc<Moment>,
}

/// The time at which a stream reached the point.
#[derive(Default)]
pub(crate) struct Moment(OnceLock<Instant>);

impl Moment {
    /// Notes that the stream has reached the point.
    pub(crate) fn pass(&self) {
        let _ = self.0.set(Instant::now());
    }

    pub(crate) fn time(&self) -> Option<Instant> {
        self.0.get().copied()
    }
}

impl Event {
    pub(crate) fn new(device: usize, timed: bool) -> Self {
        Self { device, timed, recorded: Mutex::new(None), mark: Mutex::new(None) }
    }

    pub(crate) fn set(&self, recorded: Recorded) {
        *self.recorded.lock() = Some(recorded);
        self.mark(None);
    }

    /// Notes a recording in a captured stream, or `None` for a recording in a stream that is not captured.
    pub(crate) fn mark(&self, mark: Option<Mark>) {
        *self.mark.lock() = mark;
    }

    /// The last recording, if it was in a captured stream. The capture may have ended since.
    pub(crate) fn marked(&self) -> MutexGuard<'_, Option<Mark>> {
        self.mark.lock()
    }

    pub(crate) fn recorded(&self) -> Option<Recorded> {
        self.recorded.lock().clone()
    }
}
