//! Reporting ids out of range: kernels write the first one to a few words of device memory, and the next thread that
//! waits for the device reads them.
//!
//! Kernels cannot return an error, and launches do not wait for them. A launch with ids therefore sets a flag on the
//! host. If the flag is set, whoever reads a tensor back or synchronises also reads the words, and zeroes them. All
//! threads that use a device share the words: the first thread to check gets the error, whoever launched the operation.
//!
//! The flag is set when an operation is submitted. Replaying a captured graph submits none: wrong ids are recorded, but
//! are reported only after an operation with ids was submitted outside of graphs. Words allocated during a capture are
//! the graph's memory, which must not be read from outside: submit an operation with ids before the capture.

use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::Zeroable;
use hip_safe::{DeviceBuffer, Stream};
use kernels_hip::args::IndexFault;
use parking_lot::Mutex;

use super::device::wrap;
use crate::error::Result;
use crate::plan::index::{OPERATIONS, wrong};

/// The words that the kernels of one device record a wrong id in.
pub(super) struct Faults {
    /// Whether a kernel that may write was launched since the last check. It is only cleared under the lock, by the
    /// thread that takes the words.
    pending: AtomicBool,
    /// The words, allocated by the first launch. They are absent while a thread launches with them or reads them; a
    /// launch meanwhile allocates new ones. All of them stay, because graphs hold their addresses, and each check reads all.
    words: Mutex<Vec<DeviceBuffer<IndexFault>>>,
}

impl Faults {
    pub(super) fn new() -> Faults {
        Faults { pending: AtomicBool::new(false), words: Mutex::new(Vec::new()) }
    }

    /// Calls `launch` with words for the kernel to write to.
    pub(super) fn watch(
        &self,
        stream: &Stream,
        operation: &'static str,
        launch: impl FnOnce(&mut DeviceBuffer<IndexFault>) -> hip_safe::Result<()>,
    ) -> Result<()> {
        // Nothing is locked during the launch: it may wait for the driver, and a hook may launch such a kernel too.
        let free = self.words.lock().pop();
        let mut words = match free {
            Some(words) => words,
            None => stream.alloc_zeros(1).map_err(wrap(operation))?,
        };
        let launched = launch(&mut words);
        let mut all = self.words.lock();
        all.push(words);
        // After the push, so that whoever clears it reads these words.
        self.pending.store(true, Ordering::Release);
        launched.map_err(wrap(operation))
    }

    /// Returns the error of a wrong id, once. Waits for the stream if kernels with ids were launched since the last
    /// check; if the caller has waited, they are complete.
    pub(super) fn look(&self, stream: &Stream, operation: &'static str) -> Result<()> {
        if !self.pending.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut taken = {
            let mut words = self.words.lock();
            if !self.pending.swap(false, Ordering::AcqRel) {
                return Ok(());
            }
            std::mem::take(&mut *words)
        };
        // Unlocked, so that other threads can launch while this one waits for the device.
        let mut fault = IndexFault::zeroed();
        let read = read(stream, &mut taken, &mut fault);
        {
            let mut words = self.words.lock();
            words.append(&mut taken);
            if read.is_err() {
                self.pending.store(true, Ordering::Release);
            }
        }
        if fault.taken == 0 {
            read.map_err(wrap(operation))?;
        }
        match OPERATIONS.get(fault.operation as usize) {
            _ if fault.taken == 0 => Ok(()),
            name => {
                let name = name.copied().unwrap_or(operation);
                Err(wrong(name, fault.id, fault.axis as usize, fault.length as usize))
            }
        }
    }
}

/// Reads and zeroes all words, and stores one of the wrong ids in `fault`.
fn read(
    stream: &Stream,
    all: &mut [DeviceBuffer<IndexFault>],
    fault: &mut IndexFault,
) -> hip_safe::Result<()> {
    for words in all {
        let mut now = [IndexFault::zeroed()];
        stream.copy_to_host(words, &mut now)?;
        let [now] = now;
        if now.taken != 0 {
            stream.copy_from_host(&[IndexFault::zeroed()], words)?;
            *fault = now;
        }
    }
    Ok(())
}
