//! Every range of memory that HIP knows: what was allocated here, and host memory that was registered.

use crate::adversary;
use crate::context::Outcome;
use crate::device::{Charge, Device};
use crate::pool::PoolCharge;
use hip_sys::hip::hipError_t;
use parking_lot::RwLock;
use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::ffi::c_void;

/// Alignment of what we allocate, in bytes.
const ALIGNMENT: usize = 256;

/// What a range is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Memory of a device.
    Device,
    /// Memory of a device that the host may use too.
    Managed,
    /// Host memory from hipHostMalloc.
    Host,
    /// Host memory of the program's own.
    Registered,
    /// A variable of a module.
    Variable,
}

/// What is known of a range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(crate) base: usize,
    pub(crate) len: usize,
    pub(crate) kind: Kind,
    pub(crate) device: usize,
    pub(crate) flags: u32,
}

/// A range and what it holds on to. Dropping it gives the memory back.
pub(crate) struct Allocation {
    pub(crate) range: Range,
    _memory: Option<Memory>,
    _charge: Option<Charge>,
    pub(crate) pool: Option<PoolCharge>,
}

struct Memory {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: S8: owned memory, which no one uses through this value.
unsafe impl Send for Memory {}
// SAFETY: S8: as above.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: S4: allocated with this layout; its owner waited for the work that uses it.
        unsafe {
            adversary::scribble(self.start, self.layout.size());
            dealloc(self.start, self.layout);
        }
    }
}

static RANGES: RwLock<BTreeMap<usize, Allocation>> = RwLock::new(BTreeMap::new());

/// Allocates memory of a device, or host memory, which is nobody's budget. The contents are arbitrary.
pub(crate) fn allocate(
    device: &'static Device,
    kind: Kind,
    len: usize,
    flags: u32,
    pool: Option<PoolCharge>,
) -> Result<*mut c_void, hipError_t> {
    let full = hipError_t::hipErrorOutOfMemory;
    let layout = Layout::from_size_align(len, ALIGNMENT).map_err(|_| full)?;
    let charge = match kind {
        Kind::Device | Kind::Managed => Some(device.memory.take(len as u64).ok_or(full)?),
        Kind::Host | Kind::Registered | Kind::Variable => None,
    };
    // SAFETY: S15: callers never ask for zero bytes; the contents are not read here.
    let start = unsafe { alloc(layout) };
    if start.is_null() {
        return Err(full);
    }
    // SAFETY: S15: just allocated with that length.
    unsafe { adversary::scribble(start, len) };
    let range = Range { base: start as usize, len, kind, device: device.ordinal, flags };
    let allocation = Allocation { range, _memory: Some(Memory { start, layout }), _charge: charge, pool };
    RANGES.write().insert(range.base, allocation);
    Ok(start.cast())
}

/// Makes memory known again that was taken out of the registry.
pub(crate) fn put_back(allocation: Allocation) -> *mut c_void {
    let base = allocation.range.base;
    RANGES.write().insert(base, allocation);
    base as *mut c_void
}

/// Makes a range known that is not ours. It must not touch one that is known.
pub(crate) fn register(range: Range) -> Outcome {
    let end = range.base.checked_add(range.len).ok_or(hipError_t::hipErrorInvalidValue)?;
    let mut ranges = RANGES.write();
    let before = ranges.range(..end).next_back();
    if before.is_some_and(|(base, known)| base + known.range.len > range.base) {
        return Err(hipError_t::hipErrorHostMemoryAlreadyRegistered);
    }
    ranges.insert(range.base, Allocation { range, _memory: None, _charge: None, pool: None });
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

/// Takes the range that starts at an address out of the registry, if it is of one of the kinds.
pub(crate) fn remove(address: usize, kinds: &[Kind]) -> Option<Allocation> {
    let mut ranges = RANGES.write();
    let known = ranges.get(&address)?;
    if !kinds.contains(&known.range.kind) {
        return None;
    }
    ranges.remove(&address)
}

/// Takes all ranges of a device out of the registry that were allocated on it.
pub(crate) fn remove_all(device: usize) -> Vec<Allocation> {
    let mut ranges = RANGES.write();
    let ours = |range: &Range| range.device == device && matches!(range.kind, Kind::Device | Kind::Managed);
    let bases: Vec<usize> = ranges.values().filter(|a| ours(&a.range)).map(|a| a.range.base).collect();
    bases.iter().filter_map(|base| ranges.remove(base)).collect()
}

/// Checks that `len` bytes from an address are inside one range. `None`: host memory that HIP does not know.
pub(crate) fn resolve(address: usize, len: usize) -> Result<Option<Range>, hipError_t> {
    let Some(range) = find(address) else { return Ok(None) };
    let left = range.len - (address - range.base);
    if len > left { Err(hipError_t::hipErrorInvalidValue) } else { Ok(Some(range)) }
}
