//! Ids that were out of range: kernels write the first one to a few words of the device's memory, and whoever waits for the device
//! reads them.
//!
//! Kernels cannot answer an error, and nobody waits for them. So a launch that takes ids sets a mark on the host, and whoever
//! reads a tensor back, or synchronises, looks at the words if the mark is set; the words are then zero again. There is one place for
//! all threads that use a device: the thread that looks first gets the error, whoever launched the operation.
//!
//! The mark is set where an operation is submitted. The replay of a graph that was captured submits none: what it meets is written down
//! too, but is reported only once an operation with ids was submitted outside of graphs and somebody looks after that. Words that a
//! capture allocates are the graph's memory, which nobody outside may read: submit an operation with ids before the capture.

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
    /// Whether a kernel that may write was launched since the last look. It is only cleared under the lock, by who takes the words.
    pending: AtomicBool,
    /// The words, from the first launch on; gone while somebody reads them. Whoever launches then adds others: all of them stay, for
    /// graphs know their addresses, and each look reads all.
    words: Mutex<Vec<DeviceBuffer<IndexFault>>>,
}

impl Faults {
    pub(super) fn new() -> Faults {
        Faults { pending: AtomicBool::new(false), words: Mutex::new(Vec::new()) }
    }

    /// Calls `launch` with the words, for a kernel to write to.
    pub(super) fn watch(
        &self,
        stream: &Stream,
        operation: &'static str,
        launch: impl FnOnce(&mut DeviceBuffer<IndexFault>) -> hip_safe::Result<()>,
    ) -> Result<()> {
        // A hook may launch such a kernel too.
        let _later = hip_safe::drop_errors_later();
        let (mut all, mut words) = loop {
            let mut all = self.words.lock();
            if let Some(words) = all.pop() {
                break (all, words);
            }
            drop(all);
            // Without the lock: those who listen are told of an allocation.
            let fresh = stream.alloc_zeros(1).map_err(wrap(operation))?;
            self.words.lock().push(fresh);
        };
        self.pending.store(true, Ordering::Release);
        let launched = launch(&mut words);
        all.push(words);
        launched.map_err(wrap(operation))
    }

    /// The error of a wrong id, once. Waits for the stream if kernels with ids were launched since the last look; they are done by now if
    /// the caller has waited.
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
        // Without the lock: other threads go on launching while this one waits for the device.
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

/// Reads the words, one of those that hold a wrong id into `fault`; they are zero again then.
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
