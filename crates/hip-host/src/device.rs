//! The two devices: alike, but for the wave size.

use crate::check;
use crate::context::Outcome;
use crate::stream::{self, Point, Stream};
use crate::system;
use hip_sys::hip::hipError_t;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, LazyLock, Weak};

/// How many devices there are.
pub(crate) const COUNT: usize = 2;

/// A device.
pub(crate) struct Device {
    pub(crate) ordinal: usize,
    pub(crate) wave: u32,
    pub(crate) memory: MemoryBudget,
    /// The stream that a null handle means.
    pub(crate) null: Arc<Stream>,
    /// Held while an operation is given its place among those of all streams of the device.
    pub(crate) order: Mutex<()>,
    streams: Mutex<Vec<Weak<Stream>>>,
    /// Operations of other devices' streams that work on this one, or with its memory: of each stream the last.
    foreign: Mutex<Vec<Point>>,
    /// Code of the first fault, or 0, and what was said of it.
    fault: AtomicU32,
    cause: Mutex<String>,
    /// Whether the other device's memory was made accessible.
    pub(crate) peer_enabled: Mutex<bool>,
    /// Stack size, printf buffer and heap size, as last set.
    pub(crate) limits: Mutex<[usize; 3]>,
}

static DEVICES: LazyLock<[Device; COUNT]> = LazyLock::new(|| {
    let total = memory_size();
    [(0, 32), (1, 64)].map(|(ordinal, wave)| Device {
        ordinal,
        wave,
        memory: MemoryBudget { total, used: AtomicU64::new(0) },
        null: Arc::new(Stream::null(ordinal)),
        order: Mutex::new(()),
        streams: Mutex::new(Vec::new()),
        foreign: Mutex::new(Vec::new()),
        fault: AtomicU32::new(0),
        cause: Mutex::new(String::new()),
        peer_enabled: Mutex::new(false),
        limits: Mutex::new([1024, 1 << 20, 8 << 20]),
    })
});

/// All devices, by ordinal.
pub(crate) fn all() -> &'static [Device; COUNT] {
    &DEVICES
}

/// The device of an ordinal that a caller gave.
pub(crate) fn get(ordinal: i32) -> Result<&'static Device, hipError_t> {
    let index = usize::try_from(ordinal).ok();
    index.and_then(|index| all().get(index)).ok_or(hipError_t::hipErrorInvalidDevice)
}

/// Orders this thread behind the work of streams that it has just found destroyed. A destroyed stream has done its work, but reading its
/// reference count orders nothing.
fn see_work_of_gone_streams() {
    fence(Ordering::Acquire);
}

impl Device {
    /// Makes a stream part of the device.
    pub(crate) fn adopt(&self, stream: &Arc<Stream>) {
        let mut streams = self.streams.lock();
        streams.retain(|stream| stream.strong_count() > 0);
        see_work_of_gone_streams();
        streams.push(Arc::downgrade(stream));
    }

    /// The last operation of each stream that has unfinished ones. `blocking_only`: of those that the null stream waits
    /// for.
    pub(crate) fn unfinished(&self, blocking_only: bool) -> Vec<Point> {
        let streams = self.streams.lock();
        let alive = streams.iter().filter_map(Weak::upgrade);
        let wanted = alive.filter(|stream| stream.blocking || !blocking_only);
        let unfinished = wanted.filter_map(|stream| stream.last_unfinished()).collect();
        see_work_of_gone_streams();
        unfinished
    }

    /// An operation of another device's stream works on this one, too: whoever waits for the device waits for it.
    pub(crate) fn takes_part_in(&self, point: &Point) {
        let mut foreign = self.foreign.lock();
        // The operations of a stream end in their order.
        let later = |known: &Point| Arc::ptr_eq(&known.stream, &point.stream) && known.number > point.number;
        if foreign.iter().any(later) {
            return;
        }
        // What the checker follows stays until somebody has waited for it, whether or not it has ended.
        let wanted = |known: &Point| known.stamp.is_some() || !known.ended();
        foreign.retain(|known| !Arc::ptr_eq(&known.stream, &point.stream) && wanted(known));
        foreign.push(point.clone());
    }

    /// Waits for all work of the device.
    pub(crate) fn synchronize(&self) -> Outcome {
        let known = check::of_device(self.ordinal);
        let mut last: Vec<Point> = self.foreign.lock().clone();
        last.extend(self.null.last_unfinished());
        last.extend(self.unfinished(false));
        stream::wait_for_all(&last);
        check::learn(known);
        self.foreign.lock().retain(|point| !point.ended());
        self.healthy()
    }

    /// The fault that broke the device, if any. It stays until the device is reset.
    pub(crate) fn healthy(&self) -> Outcome {
        match self.fault.load(Ordering::Acquire) {
            0 => Ok(()),
            code => Err(hipError_t(code)),
        }
    }

    /// A kernel failed: every later call on the device says so. The first fault counts.
    pub(crate) fn poison(&self, code: u32, message: &str) {
        eprintln!("hip-host: device {}: error {code}: {message}", self.ordinal);
        let mut cause = self.cause.lock();
        // Whoever sees the code finds the words.
        if self.fault.load(Ordering::Acquire) == 0 {
            message.clone_into(&mut cause);
            self.fault.store(code, Ordering::Release);
        }
    }

    /// What was said of the fault that broke the device; empty if it is well.
    pub(crate) fn cause(&self) -> String {
        self.cause.lock().clone()
    }

    /// Forgets a fault.
    pub(crate) fn heal(&self) {
        let mut cause = self.cause.lock();
        cause.clear();
        self.fault.store(0, Ordering::Release);
    }
}

/// How much memory a device has, and how much of it is taken.
pub(crate) struct MemoryBudget {
    pub(crate) total: u64,
    used: AtomicU64,
}

/// Memory that is taken until this is dropped.
pub(crate) struct Charge {
    budget: &'static MemoryBudget,
    bytes: u64,
}

impl MemoryBudget {
    /// Takes memory, `None` if so much is not left.
    pub(crate) fn take(&'static self, bytes: u64) -> Option<Charge> {
        let fits = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.total);
        self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, fits).ok()?;
        Some(Charge { budget: self, bytes })
    }

    /// Bytes that are left.
    pub(crate) fn free(&self) -> u64 {
        self.total - self.used.load(Ordering::Acquire)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

/// Bytes of memory of each device: `HIPSTACK_HOST_MEMORY_MB`, or 4 GiB, but at most half of the machine's.
fn memory_size() -> u64 {
    let asked =
        std::env::var("HIPSTACK_HOST_MEMORY_MB").ok().and_then(|text| text.trim().parse::<u64>().ok());
    let usual = || {
        let half = system::memory_bytes().unwrap_or(8 << 30) / 2;
        half.min(4 << 30)
    };
    asked.filter(|mb| *mb > 0).map_or_else(usual, |mb| mb.saturating_mul(1 << 20))
}
