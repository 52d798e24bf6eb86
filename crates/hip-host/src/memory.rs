//! The registry of all memory ranges that HIP knows: those allocated here, and registered host memory.

use crate::adversary;
use crate::context::Outcome;
use crate::device::{self, Charge, Device};
use crate::guard::{self, Pages, bytes};
use crate::pool::PoolCharge;
use hip_sys::hip::hipError_t;
use parking_lot::{Mutex, RwLock};
use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Alignment of our allocations, in bytes.
const ALIGNMENT: usize = 256;

/// The kind of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Memory of a device.
    Device,
    /// Memory of a device that the host may access too.
    Managed,
    /// Host memory from hipHostMalloc.
    Host,
    /// Host memory that the program owns and registered.
    Registered,
    /// A variable of a module.
    Variable,
}

/// Properties of a range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(crate) base: usize,
    pub(crate) len: usize,
    pub(crate) kind: Kind,
    pub(crate) device: usize,
    pub(crate) flags: u32,
}

impl Range {
    /// A range of `len` bytes from an address, for computing positions only.
    pub(crate) fn of(base: usize, len: usize) -> Self {
        Self { base, len, kind: Kind::Device, device: 0, flags: 0 }
    }

    /// Whether it is device memory.
    pub(crate) fn is_of_device(&self) -> bool {
        matches!(self.kind, Kind::Device | Kind::Managed | Kind::Variable)
    }

    fn contains(&self, address: usize) -> bool {
        address >= self.base && address - self.base < self.len
    }

    /// Where an address is relative to this range: "inside", "0 bytes past the end of", "4 bytes before the
    /// start of".
    pub(crate) fn describe_address(&self, address: usize) -> String {
        if self.contains(address) {
            return "inside".to_owned();
        }
        match address.checked_sub(self.base + self.len) {
            Some(past) => format!("{} past the end of", bytes(past)),
            None => format!("{} before the start of", bytes(self.base - address)),
        }
    }
}

/// How messages name a range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identity {
    /// Unique in the process, counted from 1.
    number: u64,
    kind: Kind,
    device: usize,
}

impl Identity {
    fn next(kind: Kind, device: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed), kind, device }
    }

    #[cfg(test)]
    pub(crate) fn of_test(device: usize) -> Self {
        Self::next(Kind::Device, device)
    }

    pub(crate) fn device(&self) -> &'static Device {
        &device::all()[self.device]
    }

    /// "allocation 12 (1,024 bytes of device 0)".
    pub(crate) fn describe(&self, len: usize) -> String {
        let (number, device, len) = (self.number, self.device, bytes(len));
        match self.kind {
            Kind::Device => format!("allocation {number} ({len} of device {device})"),
            Kind::Managed => format!("allocation {number} ({len} of device {device}, managed)"),
            Kind::Host => format!("allocation {number} ({len} of pinned host memory)"),
            Kind::Registered => format!("registration {number} ({len} of the program's memory)"),
            Kind::Variable => format!("variable {number} ({len} of a module)"),
        }
    }
}

/// A range and the resources it owns. Dropping it frees the memory.
pub(crate) struct Allocation {
    pub(crate) range: Range,
    identity: Identity,
    _memory: Option<Memory>,
    _charge: Option<Charge>,
    pub(crate) pool: Option<PoolCharge>,
}

#[expect(dead_code, reason = "owns what it names")]
enum Memory {
    Heap(Heap),
    Guarded(Pages),
}

impl Memory {
    /// Allocates memory for `len` bytes, at least one, and returns its base address.
    fn of(len: usize, identity: Identity) -> Option<(Self, usize)> {
        if let Some(least) = guard::least_alignment() {
            let pages = Pages::map(len, least, identity)?;
            let base = pages.base();
            return Some((Self::Guarded(pages), base));
        }
        let layout = Layout::from_size_align(len, ALIGNMENT).ok()?;
        // SAFETY: S15: callers never ask for zero bytes; the contents are not read here.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return None;
        }
        // SAFETY: S15: just allocated with that length.
        unsafe { adversary::scribble(start, len) };
        Some((Self::Heap(Heap { start, layout }), start as usize))
    }
}

struct Heap {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: S8: owned memory, which no one uses through this value.
unsafe impl Send for Heap {}
// SAFETY: S8: as above.
unsafe impl Sync for Heap {}

impl Drop for Heap {
    fn drop(&mut self) {
        if is_kept() {
            return;
        }
        // SAFETY: S4: allocated with this layout; its owner waited for the work that uses it.
        unsafe {
            adversary::scribble(self.start, self.layout.size());
            dealloc(self.start, self.layout);
        }
    }
}

static KEPT: AtomicBool = AtomicBool::new(false);

/// From now on no memory is given back: a Rust kernel was left before its end, and OS threads that it started may still
/// use its arguments.
pub(crate) fn keep() {
    KEPT.store(true, Ordering::Release);
}

/// Whether memory is kept although its owner has freed it.
pub(crate) fn is_kept() -> bool {
    KEPT.load(Ordering::Acquire)
}

static RANGES: RwLock<BTreeMap<usize, Allocation>> = RwLock::new(BTreeMap::new());
/// Length of each range, by base, that a stream has still to free. Calls may no longer name such a range, but
/// operations queued earlier use it. A range moves between `RANGES` and this map only while `RANGES` is
/// locked for writing.
static PENDING_FREES: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// Allocates memory of a device, or host memory, which counts against no budget. The contents are arbitrary.
pub(crate) fn allocate(
    device: &'static Device,
    kind: Kind,
    len: usize,
    flags: u32,
    pool: Option<PoolCharge>,
) -> Result<*mut c_void, hipError_t> {
    let full = hipError_t::hipErrorOutOfMemory;
    let charge = match kind {
        Kind::Device | Kind::Managed => Some(device.memory.take(len as u64).ok_or(full)?),
        Kind::Host | Kind::Registered | Kind::Variable => None,
    };
    let identity = Identity::next(kind, device.ordinal);
    let (memory, base) = Memory::of(len, identity).ok_or(full)?;
    let range = Range { base, len, kind, device: device.ordinal, flags };
    let allocation = Allocation { range, identity, _memory: Some(memory), _charge: charge, pool };
    RANGES.write().insert(range.base, allocation);
    Ok(base as *mut c_void)
}

/// Puts an allocation back into the registry.
pub(crate) fn put_back(allocation: Allocation) -> *mut c_void {
    let base = allocation.range.base;
    let mut ranges = RANGES.write();
    ranges.insert(base, allocation);
    PENDING_FREES.lock().remove(&base);
    base as *mut c_void
}

/// Registers a range that was not allocated here. It must not overlap a known one.
pub(crate) fn register(range: Range) -> Outcome {
    let end = range.base.checked_add(range.len).ok_or(hipError_t::hipErrorInvalidValue)?;
    let mut ranges = RANGES.write();
    let before = ranges.range(..end).next_back();
    if before.is_some_and(|(base, known)| base + known.range.len > range.base) {
        return Err(hipError_t::hipErrorHostMemoryAlreadyRegistered);
    }
    let identity = Identity::next(range.kind, range.device);
    ranges.insert(range.base, Allocation { range, identity, _memory: None, _charge: None, pool: None });
    Ok(())
}

/// The range that an address lies in.
pub(crate) fn find(address: usize) -> Option<Range> {
    let ranges = RANGES.read();
    let (_, allocation) = ranges.range(..=address).next_back()?;
    let range = allocation.range;
    (address - range.base < range.len).then_some(range)
}

/// The range that starts at an address.
pub(crate) fn find_base(address: usize) -> Option<Range> {
    RANGES.read().get(&address).map(|allocation| allocation.range)
}

/// Whether a range is unchanged: still in the registry, or not yet freed by the stream that is going to.
pub(crate) fn alive(range: &Range) -> bool {
    let known = find_base(range.base).map(|now| now.len);
    let len = known.or_else(|| PENDING_FREES.lock().get(&range.base).copied());
    len == Some(range.len)
}

/// Takes device memory out of the registry for a stream to free later. It stays alive until `finish_free`.
pub(crate) fn begin_free(address: usize) -> Option<Allocation> {
    let mut ranges = RANGES.write();
    let known = ranges.get(&address)?;
    if !matches!(known.range.kind, Kind::Device | Kind::Managed) {
        return None;
    }
    PENDING_FREES.lock().insert(address, known.range.len);
    ranges.remove(&address)
}

/// Notes that a stream frees the memory now; the caller drops the allocation next.
pub(crate) fn finish_free(range: &Range) {
    PENDING_FREES.lock().remove(&range.base);
}

/// Takes the range that starts at an address out of the registry, if it has one of the kinds.
pub(crate) fn remove(address: usize, kinds: &[Kind]) -> Option<Allocation> {
    let mut ranges = RANGES.write();
    let known = ranges.get(&address)?;
    if !kinds.contains(&known.range.kind) {
        return None;
    }
    ranges.remove(&address)
}

/// Takes all ranges that were allocated on a device out of the registry.
pub(crate) fn remove_all(device: usize) -> Vec<Allocation> {
    let mut ranges = RANGES.write();
    let ours = |range: &Range| range.device == device && matches!(range.kind, Kind::Device | Kind::Managed);
    let bases: Vec<usize> = ranges.values().filter(|a| ours(&a.range)).map(|a| a.range.base).collect();
    bases.iter().filter_map(|base| ranges.remove(base)).collect()
}

/// Messages mention an allocation that is at most this many bytes away.
const NEAR: usize = 1 << 20;

/// Describes an address that a kernel must not use.
pub(crate) fn describe(address: usize) -> String {
    if let Some(freed) = guard::describe_freed(address) {
        return freed;
    }
    let ranges = RANGES.read();
    let before = ranges.range(..=address).next_back();
    let behind = ranges.range(address..).next();
    let distance = |allocation: &Allocation| {
        let Range { base, len, .. } = allocation.range;
        if address >= base { address.saturating_sub(base + len) } else { base - address }
    };
    let near = before.into_iter().chain(behind).map(|(_, allocation)| allocation);
    let nearest = near.min_by_key(|allocation| distance(allocation)).filter(|a| distance(a) < NEAR);
    let Some(allocation) = nearest else { return "no memory is there, and no allocation near it".to_owned() };
    let (range, name) = (allocation.range, allocation.identity.describe(allocation.range.len));
    if range.contains(address) {
        return format!("inside {name}, whose pages may not be used so: has the program unmapped them?");
    }
    let hint = if guard::least_alignment().is_some() {
        ""
    } else {
        ", the nearest one; HIPSTACK_HOST_GUARD=1 finds the first wrong access"
    };
    format!("{} {name}{hint}", range.describe_address(address))
}

/// Checks that `len` bytes from an address are inside one range. Returns `None` for host memory that HIP does
/// not know.
pub(crate) fn resolve(address: usize, len: usize) -> Result<Option<Range>, hipError_t> {
    let Some(range) = find(address) else { return Ok(None) };
    let left = range.len - (address - range.base);
    if len > left { Err(hipError_t::hipErrorInvalidValue) } else { Ok(Some(range)) }
}
