//! The list of live buffers.

use super::MemoryCheck;
use crate::{Device, DeviceLabel};
use parking_lot::Mutex;
use std::backtrace::Backtrace;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The kind of a buffer's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BufferKind {
    /// Device memory.
    Device,
    /// Page-locked host memory.
    Pinned,
    /// Managed memory.
    Managed,
    /// Memory of another process, opened by its handle.
    Foreign,
}

/// A buffer that is alive.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LiveBuffer {
    /// The kind of its memory.
    pub kind: BufferKind,
    /// Its size in bytes.
    pub bytes: usize,
    /// The device that it is on, or was allocated for.
    pub device: DeviceLabel,
    /// The name that it was given.
    pub name: Option<String>,
    /// The backtrace of its allocation, with [`MemoryCheck::Backtraces`].
    pub backtrace: Option<Arc<Backtrace>>,
}

#[derive(Default)]
struct Live {
    /// By number, in the order of allocation.
    buffers: BTreeMap<u64, LiveBuffer>,
    next: u64,
}

static LIVE: Mutex<Live> = Mutex::new(Live { buffers: BTreeMap::new(), next: 0 });

/// The buffers that match `wanted`, the largest first, and older ones first among equals. `None` if another thread held the lock for longer than
/// `patience`.
pub(super) fn of(patience: Duration, wanted: impl Fn(&LiveBuffer) -> bool) -> Option<Vec<LiveBuffer>> {
    let live = LIVE.try_lock_for(patience)?;
    let mut list: Vec<LiveBuffer> = live.buffers.values().filter(|buffer| wanted(buffer)).cloned().collect();
    drop(live);
    list.sort_by_key(|buffer| std::cmp::Reverse(buffer.bytes));
    Some(list)
}

/// A buffer's entry in the list. The drop removes it.
#[derive(Debug)]
pub(crate) struct Registration {
    number: u64,
}

impl Registration {
    /// Adds a buffer to the list, if the check is on.
    #[inline]
    pub(crate) fn new(kind: BufferKind, device: &Device, bytes: usize) -> Option<Self> {
        match MemoryCheck::current() {
            MemoryCheck::Off => None,
            level => Some(Self::list(level, kind, device.label(), bytes)),
        }
    }

    #[cold]
    fn list(level: MemoryCheck, kind: BufferKind, device: DeviceLabel, bytes: usize) -> Self {
        let backtrace = (level == MemoryCheck::Backtraces).then(|| Arc::new(Backtrace::force_capture()));
        let mut live = LIVE.lock();
        let number = live.next;
        live.next += 1;
        live.buffers.insert(number, LiveBuffer { kind, bytes, device, name: None, backtrace });
        Self { number }
    }

    pub(crate) fn set_name(&self, name: impl fmt::Display) {
        let name = name.to_string();
        if let Some(buffer) = LIVE.lock().buffers.get_mut(&self.number) {
            buffer.name = Some(name);
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let buffer = LIVE.lock().buffers.remove(&self.number);
        drop(buffer);
    }
}

/// "4096 bytes on host device 0: \"weights\"".
impl fmt::Display for LiveBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, bytes, device, name, .. } = self;
        match kind {
            BufferKind::Device => write!(f, "{bytes} bytes on {device}")?,
            BufferKind::Pinned => write!(f, "{bytes} bytes of pinned memory for {device}")?,
            BufferKind::Foreign => write!(f, "{bytes} bytes of another process' memory on {device}")?,
            BufferKind::Managed => write!(f, "{bytes} bytes of managed memory for {device}")?,
        }
        match name {
            Some(name) => write!(f, ": {name:?}"),
            None => write!(f, ", without a name"),
        }
    }
}
