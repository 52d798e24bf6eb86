//! The buffers that live.

use super::MemoryCheck;
use crate::{Device, DeviceLabel};
use parking_lot::Mutex;
use std::backtrace::Backtrace;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Where a buffer's memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BufferKind {
    /// On the device.
    Device,
    /// On the host, page-locked.
    Pinned,
    /// Where the driver moves it.
    Managed,
    /// Another process', opened by its handle.
    Foreign,
}

/// A buffer that somebody owns.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LiveBuffer {
    /// Where its memory is.
    pub kind: BufferKind,
    /// Its size in bytes.
    pub bytes: usize,
    /// The device that it is on, or was allocated for.
    pub device: DeviceLabel,
    /// The name that it was given.
    pub name: Option<String>,
    /// Where it was allocated, if that is remembered: see [`MemoryCheck::Backtraces`].
    pub backtrace: Option<Arc<Backtrace>>,
}

#[derive(Default)]
struct Live {
    /// By number, in the order of their allocation.
    buffers: BTreeMap<u64, LiveBuffer>,
    next: u64,
}

static LIVE: Mutex<Live> = Mutex::new(Live { buffers: BTreeMap::new(), next: 0 });

/// The buffers that `wanted` picks, the largest first, older ones before others of their size. `None` if that took too long.
pub(super) fn of(patience: Duration, wanted: impl Fn(&LiveBuffer) -> bool) -> Option<Vec<LiveBuffer>> {
    let live = LIVE.try_lock_for(patience)?;
    let mut list: Vec<LiveBuffer> = live.buffers.values().filter(|buffer| wanted(buffer)).cloned().collect();
    drop(live);
    list.sort_by_key(|buffer| std::cmp::Reverse(buffer.bytes));
    Some(list)
}

/// A buffer's place in the list, for as long as it has its memory.
#[derive(Debug)]
pub(crate) struct Registration {
    number: u64,
}

impl Registration {
    /// Lists a buffer, if that is wanted.
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
