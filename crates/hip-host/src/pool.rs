//! Stream-ordered memory pools. They cache nothing: an allocation is made at once and freed when its stream
//! reaches the free. So a pool is a set of counters.

use hip_sys::hip::hipError_t;
use parking_lot::Mutex;
use std::sync::{Arc, LazyLock};

use crate::device;
use hip_sys::provider::Handles;

/// A pool.
pub(crate) struct Pool {
    pub(crate) device: usize,
    pub(crate) settings: Mutex<Settings>,
    counters: Mutex<Counters>,
    /// Most bytes that it may hold; 0 for no limit of its own.
    limit: u64,
}

/// The attributes that a program may set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Follow event dependencies, opportunistic, internal dependencies. Stored, without effect.
    pub(crate) reuse: [i32; 3],
    /// Bytes to hold before memory goes back to the system. Stored, without effect.
    pub(crate) threshold: u64,
}

/// Bytes that a pool's allocations use, now and at the high-water mark.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counters {
    pub(crate) used: u64,
    pub(crate) used_high: u64,
}

/// Bytes that count as used in a pool until this is dropped.
pub(crate) struct PoolCharge {
    pool: Arc<Pool>,
    bytes: u64,
}

static POOLS: LazyLock<Handles<Pool>> = LazyLock::new(|| Handles::new(5));

/// The default pool of a device, and its current pool.
struct OfDevice {
    default: usize,
    current: Mutex<usize>,
}

static OF_DEVICE: LazyLock<[OfDevice; device::COUNT]> = LazyLock::new(|| {
    [0, 1].map(|ordinal| {
        let default = POOLS.insert(Arc::new(Pool::new(ordinal, 0)));
        OfDevice { default, current: Mutex::new(default) }
    })
});

impl Pool {
    fn new(device: usize, limit: u64) -> Self {
        let settings = Mutex::new(Settings { reuse: [1; 3], threshold: 0 });
        Self { device, settings, counters: Mutex::default(), limit }
    }

    /// Counts bytes as used.
    pub(crate) fn charge(self: &Arc<Self>, bytes: u64) -> Result<PoolCharge, hipError_t> {
        let mut counters = self.counters.lock();
        let used = counters.used.checked_add(bytes).ok_or(hipError_t::hipErrorOutOfMemory)?;
        if self.limit != 0 && used > self.limit {
            return Err(hipError_t::hipErrorOutOfMemory);
        }
        *counters = Counters { used, used_high: counters.used_high.max(used) };
        Ok(PoolCharge { pool: Arc::clone(self), bytes })
    }

    pub(crate) fn counters(&self) -> Counters {
        *self.counters.lock()
    }

    /// Resets the high-water mark to the current use.
    pub(crate) fn reset_high(&self) {
        let mut counters = self.counters.lock();
        counters.used_high = counters.used;
    }
}

impl PoolCharge {
    /// Whether the bytes belong to that pool.
    pub(crate) fn is_of(&self, pool: &Arc<Pool>) -> bool {
        Arc::ptr_eq(&self.pool, pool)
    }
}

impl Drop for PoolCharge {
    fn drop(&mut self) {
        self.pool.counters.lock().used -= self.bytes;
    }
}

/// Creates a pool of a device and returns its handle.
pub(crate) fn create(device: usize, limit: u64) -> usize {
    POOLS.insert(Arc::new(Pool::new(device, limit)))
}

/// The pool of a handle.
pub(crate) fn get(handle: usize) -> Result<Arc<Pool>, hipError_t> {
    LazyLock::force(&OF_DEVICE);
    POOLS.get(handle).map_err(|_| hipError_t::hipErrorInvalidValue)
}

/// Destroys a pool. Its allocations stay valid. A device's default pool cannot be destroyed.
pub(crate) fn destroy(handle: usize) -> Result<(), hipError_t> {
    if OF_DEVICE.iter().any(|of| of.default == handle) {
        return Err(hipError_t::hipErrorInvalidValue);
    }
    POOLS.remove(handle).map_err(|_| hipError_t::hipErrorInvalidValue)?;
    for of in OF_DEVICE.iter() {
        let mut current = of.current.lock();
        if *current == handle {
            *current = of.default;
        }
    }
    Ok(())
}

/// The handle of a device's default pool.
pub(crate) fn default_of(device: usize) -> usize {
    OF_DEVICE[device].default
}

/// The pool that hipMallocAsync allocates from.
pub(crate) fn current_of(device: usize) -> Result<Arc<Pool>, hipError_t> {
    get(*OF_DEVICE[device].current.lock())
}

/// Makes a pool the one that hipMallocAsync allocates from.
pub(crate) fn set_current(device: usize, handle: usize) -> Result<(), hipError_t> {
    let pool = get(handle)?;
    if pool.device != device {
        return Err(hipError_t::hipErrorInvalidValue);
    }
    *OF_DEVICE[device].current.lock() = handle;
    Ok(())
}
