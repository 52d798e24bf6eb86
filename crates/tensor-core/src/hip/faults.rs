//! Ids that were out of range: kernels write the first one to a few words of the device's memory, and whoever waits for the device
//! reads them.
//!
//! Kernels cannot answer an error, and nobody waits for them. So a launch that takes ids sets a mark on the host, and whoever
//! reads a tensor back, or synchronises, looks at the words if the mark is set; the words are then zero again. There is one place for
//! all threads that use a device: the thread that looks first gets the error, whoever launched the operation.

use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::Zeroable;
use hip_safe::{DeviceBuffer, Stream};
use kernels_hip::args::IndexFault;
use parking_lot::Mutex;

use super::device::wrap;
use crate::error::Result;
use crate::storage::index::{OPERATIONS, wrong};

/// Where the kernels of one device write down a wrong id.
pub(super) struct Faults {
    /// Whether a kernel that may write was launched since the last look. It is only cleared under the lock, by who has read the words.
    pending: AtomicBool,
    /// The words, from the first launch on.
    words: Mutex<Option<DeviceBuffer<IndexFault>>>,
}

impl Faults {
    pub(super) fn new() -> Faults {
        Faults { pending: AtomicBool::new(false), words: Mutex::new(None) }
    }

    /// Calls `launch` with the words, for a kernel to write to.
    pub(super) fn watch(
        &self,
        stream: &Stream,
        operation: &'static str,
        launch: impl FnOnce(&mut DeviceBuffer<IndexFault>) -> hip_safe::Result<()>,
    ) -> Result<()> {
        let mut words = self.words.lock();
        let words = match &mut *words {
            Some(words) => words,
            none => none.insert(stream.alloc_zeros(1).map_err(wrap(operation))?),
        };
        self.pending.store(true, Ordering::Release);
        launch(words).map_err(wrap(operation))
    }

    /// The error of a wrong id, once. Waits for the stream if kernels with ids were launched since the last look; they are done by now if
    /// the caller has waited.
    pub(super) fn look(&self, stream: &Stream, operation: &'static str) -> Result<()> {
        if !self.pending.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut words = self.words.lock();
        let Some(words) = words.as_mut().filter(|_| self.pending.load(Ordering::Acquire)) else {
            return Ok(());
        };
        let mut fault = [IndexFault::zeroed()];
        stream.copy_to_host(words, &mut fault).map_err(wrap(operation))?;
        let [fault] = fault;
        if fault.taken != 0 {
            stream.copy_from_host(&[IndexFault::zeroed()], words).map_err(wrap(operation))?;
        }
        self.pending.store(false, Ordering::Release);
        match OPERATIONS.get(fault.operation as usize) {
            _ if fault.taken == 0 => Ok(()),
            name => {
                let name = name.copied().unwrap_or(operation);
                Err(wrong(name, fault.id, fault.axis as usize, fault.length as usize))
            }
        }
    }
}
