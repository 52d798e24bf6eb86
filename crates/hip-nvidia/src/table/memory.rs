//! Allocation of device, managed and host memory, and questions about pointers.
#![allow(non_snake_case, reason = "HIP's names")]

use super::{give, place_is_there};
use crate::context::{self, Outcome, check, driver, enter, status};
use crate::driver::Code;
use crate::handles::stream_of;
use hip_sys::hip::{
    self, hipDeviceptr_t, hipError_t, hipIpcMemHandle_t, hipMemoryAdvise, hipMemoryType,
    hipPointerAttribute_t, hipStream_t,
};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;
/// hipCpuDeviceId, and CU_DEVICE_CPU.
const CPU: c_int = -1;
/// The flags of host memory that CUDA has too: portable, mapped, write-combined.
const HOST_FLAGS: c_uint =
    hip::hipHostMallocPortable | hip::hipHostMallocMapped | hip::hipHostMallocWriteCombined;
/// HIP's host memory is always visible to all devices and mapped.
const HOST_ALWAYS: c_uint = hip::hipHostMallocPortable | hip::hipHostMallocMapped;

/// What the driver knows of an address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MemoryType {
    /// Nothing: pageable memory, or no memory at all.
    Unknown,
    Host,
    Device,
    Managed,
}

/// Of `CU_POINTER_ATTRIBUTE_*`: the kind of memory, both addresses, whether it is managed, the device.
const ATTRIBUTES: [c_uint; 5] = [2, 3, 4, 8, 9];

#[derive(Default)]
struct Answers {
    memory_type: c_uint,
    device_address: u64,
    host_address: u64,
    managed: c_uint,
    ordinal: c_int,
}

fn ask(address: *const c_void) -> Result<Answers, hipError_t> {
    let mut answers = Answers::default();
    let mut attributes = ATTRIBUTES;
    let mut places: [*mut c_void; 5] = [
        (&raw mut answers.memory_type).cast(),
        (&raw mut answers.device_address).cast(),
        (&raw mut answers.host_address).cast(),
        (&raw mut answers.managed).cast(),
        (&raw mut answers.ordinal).cast(),
    ];
    let count = places.len() as c_uint;
    // SAFETY: S1: as many attributes as places, each of the size that the attribute has.
    check(unsafe {
        (driver().cuPointerGetAttributes)(count, attributes.as_mut_ptr(), places.as_mut_ptr(), address as u64)
    })?;
    Ok(answers)
}

impl Answers {
    fn memory_type(&self) -> MemoryType {
        match (self.managed & 0xff, self.memory_type) {
            (0, 1) => MemoryType::Host,
            (0, 2) => MemoryType::Device,
            (0, _) => MemoryType::Unknown,
            _ => MemoryType::Managed,
        }
    }
}

/// What kind of memory an address lies in. A context must be current.
pub(super) fn memory_type(address: *const c_void) -> Result<MemoryType, hipError_t> {
    ask(address).map(|answers| answers.memory_type())
}

/// Allocates on the current device; zero bytes are a null pointer.
unsafe fn allocate(
    place: *mut *mut c_void,
    size: usize,
    call: impl FnOnce(*mut *mut c_void) -> Code,
) -> Outcome {
    place_is_there(place)?;
    enter()?;
    let mut pointer = null_mut();
    if size != 0 {
        check(call(&mut pointer))?;
    }
    // SAFETY: S11: the caller's place for the result.
    unsafe { give(place, pointer) }
}

pub(super) unsafe extern "C" fn hipMalloc(place: *mut *mut c_void, size: usize) -> hipError_t {
    // SAFETY: S1, S11: a live place, of the size of an address; the caller's place for the result.
    status(unsafe { allocate(place, size, |place| (driver().cuMemAlloc)(place.cast(), size)) })
}

/// What only AMD's memory can be is taken as ordinary memory.
pub(super) unsafe extern "C" fn hipExtMallocWithFlags(
    place: *mut *mut c_void,
    size: usize,
    flags: c_uint,
) -> hipError_t {
    let known = [
        hip::hipDeviceMallocDefault,
        hip::hipDeviceMallocFinegrained,
        hip::hipDeviceMallocUncached,
        hip::hipDeviceMallocContiguous,
    ];
    if !known.contains(&flags) {
        return status(Err(VALUE));
    }
    // SAFETY: S11: the caller's place for the result.
    unsafe { hipMalloc(place, size) }
}

pub(super) unsafe extern "C" fn hipMallocManaged(
    place: *mut *mut c_void,
    size: usize,
    flags: c_uint,
) -> hipError_t {
    if size == 0 || ![hip::hipMemAttachGlobal, hip::hipMemAttachHost].contains(&flags) {
        return status(Err(VALUE));
    }
    let fits = || {
        enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: S1: live places.
        check(unsafe { (driver().cuMemGetInfo)(&mut free, &mut total) })?;
        // More managed memory than the card has free can hang the card.
        if size > free { Err(hipError_t::hipErrorOutOfMemory) } else { Ok(()) }
    };
    // SAFETY: S1, S11: as in hipMalloc.
    status(fits().and_then(|()| unsafe {
        allocate(place, size, |place| (driver().cuMemAllocManaged)(place.cast(), size, flags))
    }))
}

pub(super) unsafe extern "C" fn hipFree(pointer: *mut c_void) -> hipError_t {
    status((|| {
        enter()?;
        if pointer.is_null() {
            return Ok(());
        }
        match memory_type(pointer)? {
            MemoryType::Device | MemoryType::Managed => {
                // SAFETY: S11: the driver knows the address.
                check(unsafe { (driver().cuMemFree)(pointer as u64) })
            }
            _ => Err(VALUE),
        }
    })())
}

pub(super) unsafe extern "C" fn hipHostMalloc(
    place: *mut *mut c_void,
    size: usize,
    flags: c_uint,
) -> hipError_t {
    let both = hip::hipHostMallocCoherent | hip::hipHostMallocNonCoherent;
    let known = HOST_FLAGS | hip::hipHostMallocNumaUser | both;
    if flags & !known != 0 || flags & both == both {
        return status(Err(VALUE));
    }
    let flags = flags & HOST_FLAGS | HOST_ALWAYS;
    // SAFETY: S1, S11: as in hipMalloc.
    status(unsafe { allocate(place, size, |place| (driver().cuMemHostAlloc)(place, size, flags)) })
}

pub(super) unsafe extern "C" fn hipHostFree(pointer: *mut c_void) -> hipError_t {
    status((|| {
        enter()?;
        if pointer.is_null() {
            return Ok(());
        }
        if memory_type(pointer)? != MemoryType::Host {
            return Err(VALUE);
        }
        // SAFETY: S11: the driver knows the address and refuses what it did not allocate.
        check(unsafe { (driver().cuMemFreeHost)(pointer) })
    })())
}

pub(super) unsafe extern "C" fn hipHostRegister(
    pointer: *mut c_void,
    size: usize,
    flags: c_uint,
) -> hipError_t {
    let known = hip::hipHostRegisterPortable
        | hip::hipHostRegisterMapped
        | hip::hipHostRegisterIoMemory
        | hip::hipHostRegisterReadOnly;
    if pointer.is_null() || size == 0 || flags & !known != 0 {
        return status(Err(VALUE));
    }
    let flags = flags | HOST_ALWAYS;
    // SAFETY: S11: the memory is the caller's for as long as it stays registered.
    status(enter().and_then(|_| check(unsafe { (driver().cuMemHostRegister)(pointer, size, flags) })))
}

pub(super) unsafe extern "C" fn hipHostUnregister(pointer: *mut c_void) -> hipError_t {
    status((|| {
        if pointer.is_null() {
            return Err(VALUE);
        }
        enter()?;
        if memory_type(pointer)? == MemoryType::Unknown {
            return Err(hipError_t::hipErrorHostMemoryNotRegistered);
        }
        // SAFETY: S11: the driver knows the address and refuses what was not registered.
        match check(unsafe { (driver().cuMemHostUnregister)(pointer) }) {
            // An address inside a registered range, or of pinned memory.
            Err(VALUE) => Err(hipError_t::hipErrorHostMemoryNotRegistered),
            outcome => outcome,
        }
    })())
}

pub(super) unsafe extern "C" fn hipHostGetDevicePointer(
    place: *mut *mut c_void,
    pointer: *mut c_void,
    flags: c_uint,
) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        if flags != 0 || pointer.is_null() {
            return Err(VALUE);
        }
        enter()?;
        // SAFETY: S1, S11: a place of the size of an address; the driver knows which memory is mapped.
        check(unsafe { (driver().cuMemHostGetDevicePointer)(place.cast(), pointer, 0) })
    })())
}

pub(super) unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t {
    status((|| {
        place_is_there(free)?;
        place_is_there(total)?;
        enter()?;
        // SAFETY: S11: the caller's places.
        check(unsafe { (driver().cuMemGetInfo)(free, total) })
    })())
}

pub(super) unsafe extern "C" fn hipPointerGetAttributes(
    place: *mut hipPointerAttribute_t,
    pointer: *const c_void,
) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        if pointer.is_null() {
            return Err(VALUE);
        }
        enter()?;
        let answers = ask(pointer)?;
        let type_ = match answers.memory_type() {
            MemoryType::Unknown => hipMemoryType::hipMemoryTypeUnregistered,
            MemoryType::Host => hipMemoryType::hipMemoryTypeHost,
            MemoryType::Device => hipMemoryType::hipMemoryTypeDevice,
            MemoryType::Managed => hipMemoryType::hipMemoryTypeManaged,
        };
        let attributes = if type_ == hipMemoryType::hipMemoryTypeUnregistered {
            hipPointerAttribute_t { device: -2, ..Default::default() }
        } else {
            hipPointerAttribute_t {
                type_,
                device: answers.ordinal,
                devicePointer: answers.device_address as *mut c_void,
                hostPointer: answers.host_address as *mut c_void,
                isManaged: c_int::from(type_ == hipMemoryType::hipMemoryTypeManaged),
                allocationFlags: 0,
            }
        };
        // SAFETY: S11: the caller's place for the result.
        unsafe { give(place, attributes) }
    })())
}

pub(super) unsafe extern "C" fn hipMemGetAddressRange(
    base: *mut hipDeviceptr_t,
    size: *mut usize,
    pointer: hipDeviceptr_t,
) -> hipError_t {
    status((|| {
        if base.is_null() && size.is_null() {
            return Err(VALUE);
        }
        enter()?;
        // SAFETY: S11: the caller's places, of the size of an address; either may be null for the driver too.
        check(unsafe { (driver().cuMemGetAddressRange)(base.cast(), size, pointer as u64) })
    })())
}

/// The driver's number of a place that memory can be moved to.
fn number_of(place: c_int) -> Result<c_int, hipError_t> {
    if place == CPU { Ok(CPU) } else { context::get(place).map(|device| device.handle) }
}

fn managed(pointer: *const c_void, count: usize) -> Outcome {
    if pointer.is_null() || count == 0 || memory_type(pointer)? != MemoryType::Managed {
        return Err(VALUE);
    }
    Ok(())
}

pub(super) unsafe extern "C" fn hipMemPrefetchAsync(
    pointer: *const c_void,
    count: usize,
    place: c_int,
    stream: hipStream_t,
) -> hipError_t {
    status((|| {
        let (stream, _) = stream_of(stream)?;
        let place = number_of(place)?;
        managed(pointer, count)?;
        // SAFETY: S2: managed memory, whose range the driver checks.
        check(unsafe { (driver().cuMemPrefetchAsync)(pointer as u64, count, place, stream) })
    })())
}

pub(super) unsafe extern "C" fn hipMemAdvise(
    pointer: *const c_void,
    count: usize,
    advice: hipMemoryAdvise,
    place: c_int,
) -> hipError_t {
    status((|| {
        enter()?;
        if !matches!(advice.0, 1..=6 | 100 | 101) {
            return Err(VALUE);
        }
        let place = number_of(place)?;
        managed(pointer, count)?;
        // Coarse grain is a property of AMD's memory.
        if advice.0 >= 100 {
            return Ok(());
        }
        // SAFETY: S2: managed memory, whose range the driver checks.
        check(unsafe { (driver().cuMemAdvise)(pointer as u64, count, advice.0, place) })
    })())
}

pub(super) unsafe extern "C" fn hipIpcGetMemHandle(
    place: *mut hipIpcMemHandle_t,
    pointer: *mut c_void,
) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        enter()?;
        // SAFETY: S11: the caller's place; the driver checks the address.
        check(unsafe { (driver().cuIpcGetMemHandle)(place, pointer as u64) })
    })())
}

pub(super) unsafe extern "C" fn hipIpcOpenMemHandle(
    place: *mut *mut c_void,
    handle: hipIpcMemHandle_t,
    flags: c_uint,
) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        enter()?;
        // SAFETY: S11: the caller's place, of the size of an address; the driver checks the handle.
        check(unsafe { (driver().cuIpcOpenMemHandle)(place.cast(), handle, flags) })
    })())
}

pub(super) unsafe extern "C" fn hipIpcCloseMemHandle(pointer: *mut c_void) -> hipError_t {
    // SAFETY: S11: the driver checks the address.
    status(enter().and_then(|_| check(unsafe { (driver().cuIpcCloseMemHandle)(pointer as u64) })))
}
