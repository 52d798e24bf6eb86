//! Allocation of device, managed and host memory, and queries of pointers.
#![allow(non_snake_case, reason = "HIP's names")]

use super::{check_not_null, give};
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
/// The flags of host memory that CUDA also has: portable, mapped, write-combined.
const HOST_FLAGS: c_uint =
    hip::hipHostMallocPortable | hip::hipHostMallocMapped | hip::hipHostMallocWriteCombined;
/// HIP's host memory is always visible to all devices and mapped.
const HOST_ALWAYS: c_uint = hip::hipHostMallocPortable | hip::hipHostMallocMapped;

/// The kind of memory at an address, according to the driver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MemoryType {
    /// Not known to the driver: pageable memory, or unmapped.
    Unknown,
    Host,
    Device,
    Managed,
}

/// `CU_POINTER_ATTRIBUTE_*` numbers: memory type, device and host address, whether it is managed, device
/// ordinal.
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
    let mut outputs: [*mut c_void; 5] = [
        (&raw mut answers.memory_type).cast(),
        (&raw mut answers.device_address).cast(),
        (&raw mut answers.host_address).cast(),
        (&raw mut answers.managed).cast(),
        (&raw mut answers.ordinal).cast(),
    ];
    let count = outputs.len() as c_uint;
    // SAFETY: S1: as many output pointers as attributes, each to a value of the attribute's size.
    check(unsafe {
        (driver().cuPointerGetAttributes)(
            count,
            attributes.as_mut_ptr(),
            outputs.as_mut_ptr(),
            address as u64,
        )
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

/// The kind of memory at an address. A context must be current.
pub(super) fn memory_type(address: *const c_void) -> Result<MemoryType, hipError_t> {
    ask(address).map(|answers| answers.memory_type())
}

/// Allocates on the current device; zero bytes give a null pointer.
unsafe fn allocate(
    out: *mut *mut c_void,
    size: usize,
    call: impl FnOnce(*mut *mut c_void) -> Code,
) -> Outcome {
    check_not_null(out)?;
    enter()?;
    let mut pointer = null_mut();
    if size != 0 {
        check(call(&mut pointer))?;
    }
    // SAFETY: S11: the caller's output pointer.
    unsafe { give(out, pointer) }
}

pub(super) unsafe extern "C" fn hipMalloc(out: *mut *mut c_void, size: usize) -> hipError_t {
    // SAFETY: S1, S11: a live output pointer, to a value of the size of an address; the caller's output
    // pointer.
    status(unsafe { allocate(out, size, |out| (driver().cuMemAlloc)(out.cast(), size)) })
}

/// Memory kinds that only AMD has are allocated as ordinary memory.
pub(super) unsafe extern "C" fn hipExtMallocWithFlags(
    out: *mut *mut c_void,
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
    // SAFETY: S11: the caller's output pointer.
    unsafe { hipMalloc(out, size) }
}

pub(super) unsafe extern "C" fn hipMallocManaged(
    out: *mut *mut c_void,
    size: usize,
    flags: c_uint,
) -> hipError_t {
    if size == 0 || ![hip::hipMemAttachGlobal, hip::hipMemAttachHost].contains(&flags) {
        return status(Err(VALUE));
    }
    let fits = || {
        enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: S1: live output pointers.
        check(unsafe { (driver().cuMemGetInfo)(&mut free, &mut total) })?;
        // Allocating more managed memory than the card has free can hang the card.
        if size > free { Err(hipError_t::hipErrorOutOfMemory) } else { Ok(()) }
    };
    // SAFETY: S1, S11: as in hipMalloc.
    status(fits().and_then(|()| unsafe {
        allocate(out, size, |out| (driver().cuMemAllocManaged)(out.cast(), size, flags))
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
    out: *mut *mut c_void,
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
    status(unsafe { allocate(out, size, |out| (driver().cuMemHostAlloc)(out, size, flags)) })
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
    // SAFETY: S11: the caller keeps the memory alive as long as it is registered.
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
    out: *mut *mut c_void,
    pointer: *mut c_void,
    flags: c_uint,
) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        if flags != 0 || pointer.is_null() {
            return Err(VALUE);
        }
        enter()?;
        // SAFETY: S1, S11: an output pointer to a value of the size of an address; the driver knows which
        // memory is mapped.
        check(unsafe { (driver().cuMemHostGetDevicePointer)(out.cast(), pointer, 0) })
    })())
}

pub(super) unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t {
    status((|| {
        check_not_null(free)?;
        check_not_null(total)?;
        enter()?;
        // SAFETY: S11: the caller's output pointers.
        check(unsafe { (driver().cuMemGetInfo)(free, total) })
    })())
}

pub(super) unsafe extern "C" fn hipPointerGetAttributes(
    out: *mut hipPointerAttribute_t,
    pointer: *const c_void,
) -> hipError_t {
    status((|| {
        check_not_null(out)?;
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
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, attributes) }
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
        // SAFETY: S11: the caller's output pointers, to values of the size of an address; the driver accepts
        // null for either.
        check(unsafe { (driver().cuMemGetAddressRange)(base.cast(), size, pointer as u64) })
    })())
}

/// The driver's number of a location that memory can migrate to.
fn number_of(location: c_int) -> Result<c_int, hipError_t> {
    if location == CPU { Ok(CPU) } else { context::get(location).map(|device| device.handle) }
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
    location: c_int,
    stream: hipStream_t,
) -> hipError_t {
    status((|| {
        let (stream, _) = stream_of(stream)?;
        let location = number_of(location)?;
        managed(pointer, count)?;
        // SAFETY: S2: managed memory, whose range the driver checks.
        check(unsafe { (driver().cuMemPrefetchAsync)(pointer as u64, count, location, stream) })
    })())
}

pub(super) unsafe extern "C" fn hipMemAdvise(
    pointer: *const c_void,
    count: usize,
    advice: hipMemoryAdvise,
    location: c_int,
) -> hipError_t {
    status((|| {
        enter()?;
        if !matches!(advice.0, 1..=6 | 100 | 101) {
            return Err(VALUE);
        }
        let location = number_of(location)?;
        managed(pointer, count)?;
        // Coarse-grained coherence is a property of AMD's memory only.
        if advice.0 >= 100 {
            return Ok(());
        }
        // SAFETY: S2: managed memory, whose range the driver checks.
        check(unsafe { (driver().cuMemAdvise)(pointer as u64, count, advice.0, location) })
    })())
}

pub(super) unsafe extern "C" fn hipIpcGetMemHandle(
    out: *mut hipIpcMemHandle_t,
    pointer: *mut c_void,
) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        enter()?;
        // SAFETY: S11: the caller's output pointer; the driver checks the address.
        check(unsafe { (driver().cuIpcGetMemHandle)(out, pointer as u64) })
    })())
}

pub(super) unsafe extern "C" fn hipIpcOpenMemHandle(
    out: *mut *mut c_void,
    handle: hipIpcMemHandle_t,
    flags: c_uint,
) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        enter()?;
        // SAFETY: S11: the caller's output pointer, to a value of the size of an address; the driver checks
        // the handle.
        check(unsafe { (driver().cuIpcOpenMemHandle)(out.cast(), handle, flags) })
    })())
}

pub(super) unsafe extern "C" fn hipIpcCloseMemHandle(pointer: *mut c_void) -> hipError_t {
    // SAFETY: S11: the driver checks the address.
    status(enter().and_then(|_| check(unsafe { (driver().cuIpcCloseMemHandle)(pointer as u64) })))
}
