//! Events that the driver reports.

use crate::convert::open_enum;
use crate::smi::Session;
use crate::{Error, Processor, Result, raw};
use hip_sys::text_in;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

open_enum! {
    /// What happened.
    EventKind {
        /// An access to memory that is not there.
        VM_FAULT = 1, "memory fault";
        /// Clocks went down because of heat.
        THERMAL_THROTTLE = 2, "thermal throttle";
        /// A reset begins.
        PRE_RESET = 3, "before a reset";
        /// A reset has ended.
        POST_RESET = 4, "after a reset";
        /// Pages begin to move between host and GPU.
        MIGRATE_START = 5, "migration starts";
        /// They have moved.
        MIGRATE_END = 6, "migration ends";
        /// A page is missing.
        PAGE_FAULT_START = 7, "page fault starts";
        /// It was brought.
        PAGE_FAULT_END = 8, "page fault ends";
        /// A queue was taken off the GPU.
        QUEUE_EVICTION = 9, "queue eviction";
        /// It is back.
        QUEUE_RESTORE = 10, "queue restore";
        /// Memory is no longer mapped.
        UNMAP = 11, "unmapped";
        /// A process began to use the GPU.
        PROCESS_START = 12, "process starts";
        /// It has ended.
        PROCESS_END = 13, "process ends";
    }
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Of which GPU; `None` for one that was not asked for.
    pub of: Option<Processor>,
    /// What happened.
    pub kind: EventKind,
    /// The driver's message.
    pub message: String,
}

/// Listens for events of some GPUs: [`AmdSmi::events`](crate::AmdSmi::events). Dropping it stops; [`Events::close`] tells whether that worked.
pub struct Events {
    session: &'static Session,
    /// Those that have to be stopped.
    of: Vec<Processor>,
}

/// How often the library is asked. It would wait by itself, and no other thread could be in it meanwhile.
const BETWEEN: Duration = Duration::from_millis(10);

impl Events {
    pub(crate) fn listen(session: &'static Session, of: &[Processor], kinds: &[EventKind]) -> Result<Self> {
        let mut mask = 0;
        for kind in kinds {
            let bit = kind.0.checked_sub(1).and_then(|bit| 1_u64.checked_shl(bit));
            mask |= bit.ok_or(Error::NoSuchEvent(*kind))?;
        }
        if session.listening.swap(true, Ordering::AcqRel) {
            return Err(Error::EventsTaken);
        }
        // An error below drops this, which stops those that were started.
        let mut events = Self { session, of: Vec::new() };
        for processor in of {
            let table = session.enter();
            // SAFETY: S1, S23: nobody else is in the library, and the handle is its own.
            unsafe { raw::init_events(&table, processor.handle.0) }?;
            events.of.push(*processor);
            // SAFETY: S1, S23: as above.
            unsafe { raw::set_event_mask(&table, processor.handle.0, mask) }?;
        }
        Ok(events)
    }

    /// The events that came since the last call; if there are none, those that come first within this time.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_gpu_event_notification")]
    pub fn wait(&mut self, timeout: Duration) -> Result<Vec<Event>> {
        let started = Instant::now();
        loop {
            let left = timeout.saturating_sub(started.elapsed());
            // SAFETY: S1, S23: nobody else is in the library.
            let found = unsafe { raw::events(&self.session.enter()) }?;
            if !found.is_empty() || left.is_zero() {
                return Ok(found.iter().map(|event| self.event(event)).collect());
            }
            std::thread::sleep(left.min(BETWEEN));
        }
    }

    fn event(&self, found: &hip_sys::amdsmi::amdsmi_evt_notification_data_t) -> Event {
        Event {
            of: self.of.iter().find(|processor| processor.handle.0 == found.processor_handle).copied(),
            kind: EventKind(found.event.0),
            message: text_in(&found.message),
        }
    }

    /// Stops listening.
    ///
    /// # Errors
    /// The first of the library.
    #[doc(alias = "amdsmi_stop_gpu_event_notification")]
    pub fn close(mut self) -> Result<()> {
        self.stop()
    }

    fn stop(&mut self) -> Result<()> {
        let mut first = Ok(());
        for processor in self.of.drain(..) {
            // SAFETY: S1, S23: nobody else is in the library, and the handle is its own.
            let stopped = unsafe { raw::stop_events(&self.session.enter(), processor.handle.0) };
            first = first.and(stopped.map_err(Error::from));
        }
        first
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").field("of", &self.of).finish_non_exhaustive()
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        // While the process exits the library may be torn down, and the kernel closes what is open.
        if !hip_sys::exiting() {
            // Nobody can be told here: `close` is for who wants to know.
            let _ = self.stop();
        }
        self.session.listening.store(false, Ordering::Release);
    }
}
