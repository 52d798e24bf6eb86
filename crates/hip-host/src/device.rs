//! The two devices. They differ in the wave size alone.

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
    /// The stream that a null handle denotes.
    pub(crate) null: Arc<Stream>,
    /// Held while an operation is submitted, so that submissions to all streams of the device are totally
    /// ordered.
    pub(crate) order: Mutex<()>,
    streams: Mutex<Vec<Weak<Stream>>>,
    /// Operations of other devices' streams that run on this device or use its memory: the last one of each
    /// stream.
    foreign: Mutex<Vec<Point>>,
    /// Error code of the first fault, or 0; `cause` holds its message.
    fault: AtomicU32,
    cause: Mutex<String>,
    /// Whether access to the other device's memory was enabled.
    pub(crate) peer_enabled: Mutex<bool>,
    /// Stack size, printf buffer size and heap size, as last set.
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

/// The device with the ordinal that a caller passed.
pub(crate) fn get(ordinal: i32) -> Result<&'static Device, hipError_t> {
    let index = usize::try_from(ordinal).ok();
    index.and_then(|index| all().get(index)).ok_or(hipError_t::hipErrorInvalidDevice)
}

/// Orders this thread after the work of streams that it has just found destroyed. A destroyed stream has
/// finished its work, but reading its reference count gives no happens-before edge.
fn acquire_from_destroyed_streams() {
    fence(Ordering::Acquire);
}

impl Device {
    /// Adds a stream to the device's list.
    pub(crate) fn adopt(&self, stream: &Arc<Stream>) {
        let mut streams = self.streams.lock();
        streams.retain(|stream| stream.strong_count() > 0);
        acquire_from_destroyed_streams();
        streams.push(Arc::downgrade(stream));
    }

    /// The last operation of each stream that has unfinished ones. `blocking_only`: only of the streams that
    /// the null stream waits for.
    pub(crate) fn unfinished(&self, blocking_only: bool) -> Vec<Point> {
        let streams = self.streams.lock();
        let alive = streams.iter().filter_map(Weak::upgrade);
        let wanted = alive.filter(|stream| stream.blocking || !blocking_only);
        let unfinished = wanted.filter_map(|stream| stream.last_unfinished()).collect();
        acquire_from_destroyed_streams();
        unfinished
    }

    /// Notes an operation of another device's stream that uses this device, so that waiting for the device
    /// also waits for the operation.
    pub(crate) fn add_foreign_work(&self, point: &Point) {
        let mut foreign = self.foreign.lock();
        // The operations of a stream end in order, so the later one covers the earlier one.
        let later = |known: &Point| Arc::ptr_eq(&known.stream, &point.stream) && known.number > point.number;
        if foreign.iter().any(later) {
            return;
        }
        // The checker follows a stamped operation, so it stays until a thread has waited for it, even if it
        // has ended.
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

    /// The fault that broke the device, if any. It persists until the device is reset.
    pub(crate) fn healthy(&self) -> Outcome {
        match self.fault.load(Ordering::Acquire) {
            0 => Ok(()),
            code => Err(hipError_t(code)),
        }
    }

    /// Puts the device into the error state, in which every later call on it fails. The first fault is kept.
    pub(crate) fn poison(&self, code: u32, message: &str) {
        eprintln!("hip-host: device {}: error {code}: {message}", self.ordinal);
        let mut cause = self.cause.lock();
        // The message is stored before the code, so a thread that sees the code finds the message.
        if self.fault.load(Ordering::Acquire) == 0 {
            message.clone_into(&mut cause);
            self.fault.store(code, Ordering::Release);
        }
    }

    /// The message of the fault that broke the device; empty if there is none.
    pub(crate) fn cause(&self) -> String {
        self.cause.lock().clone()
    }

    /// Clears a fault.
    pub(crate) fn heal(&self) {
        let mut cause = self.cause.lock();
        cause.clear();
        self.fault.store(0, Ordering::Release);
    }
}

/// How much memory a device has, and how much of it is in use.
pub(crate) struct MemoryBudget {
    pub(crate) total: u64,
    used: AtomicU64,
}

/// A share of the budget; dropping it returns the memory.
pub(crate) struct Charge {
    budget: &'static MemoryBudget,
    bytes: u64,
}

impl MemoryBudget {
    /// Takes memory from the budget; `None` if not enough is left.
    pub(crate) fn take(&'static self, bytes: u64) -> Option<Charge> {
        let fits = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.total);
        self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, fits).ok()?;
        Some(Charge { budget: self, bytes })
    }

    /// Bytes left.
    pub(crate) fn free(&self) -> u64 {
        self.total - self.used.load(Ordering::Acquire)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

/// Memory of each device in bytes: `HIPSTACK_HOST_MEMORY_MB`, or 4 GiB; at most half of the machine's memory
/// if the variable is not set.
fn memory_size() -> u64 {
    let asked =
        std::env::var("HIPSTACK_HOST_MEMORY_MB").ok().and_then(|text| text.trim().parse::<u64>().ok());
    let usual = || {
        let half = system::memory_bytes().unwrap_or(8 << 30) / 2;
        half.min(4 << 30)
    };
    asked.filter(|mb| *mb > 0).map_or_else(usual, |mb| mb.saturating_mul(1 << 20))
}
