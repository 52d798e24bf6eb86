//! Which work uses a piece of memory.

use super::Points;
use crate::mutation::Wait;
use crate::{Result, Stream, drop_errors};
use hip_sys::Access;
use parking_lot::{Mutex, MutexGuard};

/// What a read and what a write of the memory has to come after.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// The last write.
    written: Points,
    /// The last write, or the last read of each stream since.
    used: Points,
}

/// Memory whose uses are ordered: an allocation on a device, pinned memory of the host, a graph.
#[derive(Debug, Default)]
pub(crate) struct Tracked {
    uses: Mutex<Uses>,
}

impl Uses {
    /// Memory that others have used before: whoever uses it comes after them.
    pub(crate) fn after(former: Points) -> Self {
        if Wait::AfterFormerOwner.is_dropped() {
            return Self::default();
        }
        Self { written: former.clone(), used: former }
    }

    /// Makes the stream's next work come after what such a use has to come after.
    pub(super) fn prepare(&self, stream: &Stream, access: Access) -> Result<()> {
        let (before, wait) = match access {
            Access::READ => (&self.written, Wait::ReadAfterWrite),
            _ => (&self.used, Wait::WriteAfterUse),
        };
        if wait.is_dropped() { Ok(()) } else { before.order_before(stream) }
    }

    /// The stream has a submission that makes such a use.
    pub(super) fn commit(&mut self, stream: &Stream, access: Access, count: u64) {
        if access == Access::READ {
            self.used.add(stream, count);
        } else {
            self.written.set(stream, count);
            self.used.set(stream, count);
        }
    }

    /// Waits on the host until it may be read.
    pub(crate) fn wait_for_writer(&mut self, wait: Wait) -> Result<()> {
        if wait.is_dropped() { Ok(()) } else { self.written.wait() }
    }

    /// Waits on the host until it may be written.
    pub(crate) fn wait_for_all(&mut self, wait: Wait) -> Result<()> {
        if !wait.is_dropped() {
            self.used.wait()?;
        }
        self.written = Points::default();
        Ok(())
    }

    /// Waits before the memory is released. What went wrong and was got over goes to the hook.
    pub(crate) fn wait_to_release(&mut self, wait: Wait) -> Result<()> {
        if wait.is_dropped() {
            return Ok(());
        }
        let mut told = Vec::new();
        let waited = self.used.wait_to_release(&mut told);
        told.iter().for_each(drop_errors::report);
        waited
    }

    /// Everything that may still use it, leaving nothing behind.
    pub(crate) fn take(&mut self) -> Points {
        self.written = Points::default();
        std::mem::take(&mut self.used)
    }

    /// Everything that may still use it.
    pub(crate) fn all(&self) -> Points {
        self.used.clone()
    }

    /// Others have used it, or parts of it: whoever uses it comes after them.
    pub(crate) fn add_all(&mut self, former: Points) {
        self.written.add_all(former.clone());
        self.used.add_all(former);
    }

    /// As if all of the stream's work so far wrote it.
    pub(crate) fn assume_written(&mut self, stream: &Stream) {
        self.commit(stream, Access::WRITE, stream.submitted());
    }
}

impl Tracked {
    pub(crate) fn new(uses: Uses) -> Self {
        Self { uses: Mutex::new(uses) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock()
    }

    pub(crate) fn get_mut(&mut self) -> &mut Uses {
        self.uses.get_mut()
    }
}
