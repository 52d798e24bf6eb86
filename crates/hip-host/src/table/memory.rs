//! Allocation of device, managed and host memory, and queries of pointers.
#![allow(non_snake_case, reason = "HIP's names")]

use super::give;
use super::streams::stream_of;
use crate::check;
use crate::context::{Outcome, current, status};
use crate::device;
use crate::graph::capture;
use crate::memory::{self, Kind, Range};
use hip_sys::hip::{
    self, hipDeviceptr_t, hipError_t, hipMemoryAdvise, hipMemoryType, hipPointerAttribute_t, hipStream_t,
};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;
/// hipCpuDeviceId.
const CPU: c_int = -1;

/// Allocates on the current device; zero bytes give a null pointer.
unsafe fn allocate(out: *mut *mut c_void, size: usize, kind: Kind, flags: c_uint) -> Outcome {
    if out.is_null() {
        return Err(VALUE);
    }
    capture::forbid_unsafe()?;
    let device = current();
    device.healthy()?;
    let pointer = if size == 0 { null_mut() } else { memory::allocate(device, kind, size, flags, None)? };
    check::allocated(pointer as usize, size);
    // SAFETY: S11: the caller's output pointer.
    unsafe { give(out, pointer) }
}

pub(super) unsafe extern "C" fn hipMalloc(out: *mut *mut c_void, size: usize) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { allocate(out, size, Kind::Device, 0) })
}

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
    status(unsafe { allocate(out, size, Kind::Device, flags) })
}

pub(super) unsafe extern "C" fn hipMallocManaged(
    out: *mut *mut c_void,
    size: usize,
    flags: c_uint,
) -> hipError_t {
    if size == 0 || ![hip::hipMemAttachGlobal, hip::hipMemAttachHost].contains(&flags) {
        return status(Err(VALUE));
    }
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { allocate(out, size, Kind::Managed, flags) })
}

/// Frees the allocation at the pointer after the work of its device; null is ignored.
fn free(pointer: *mut c_void, kinds: &[Kind]) -> Outcome {
    capture::forbid_unsafe()?;
    if pointer.is_null() {
        return Ok(());
    }
    let range =
        memory::find_base(pointer as usize).filter(|range| kinds.contains(&range.kind)).ok_or(VALUE)?;
    // Host memory may be in use by either device.
    for device in device::all() {
        if device.ordinal == range.device || range.kind == Kind::Host {
            // A fault is reported by other calls; the memory is freed all the same.
            let _ = device.synchronize();
        }
    }
    check::freed(range.base, range.len, if range.kind == Kind::Host { "hipHostFree" } else { "hipFree" });
    memory::remove(pointer as usize, kinds).map(drop).ok_or(VALUE)
}

pub(super) unsafe extern "C" fn hipFree(pointer: *mut c_void) -> hipError_t {
    status(free(pointer, &[Kind::Device, Kind::Managed]))
}

pub(super) unsafe extern "C" fn hipHostFree(pointer: *mut c_void) -> hipError_t {
    status(free(pointer, &[Kind::Host]))
}

pub(super) unsafe extern "C" fn hipHostMalloc(
    out: *mut *mut c_void,
    size: usize,
    flags: c_uint,
) -> hipError_t {
    let known = hip::hipHostMallocPortable
        | hip::hipHostMallocMapped
        | hip::hipHostMallocWriteCombined
        | hip::hipHostMallocNumaUser
        | hip::hipHostMallocCoherent
        | hip::hipHostMallocNonCoherent;
    let both = hip::hipHostMallocCoherent | hip::hipHostMallocNonCoherent;
    if flags & !known != 0 || flags & both == both {
        return status(Err(VALUE));
    }
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { allocate(out, size, Kind::Host, flags) })
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
    let (base, kind, device) = (pointer as usize, Kind::Registered, current());
    status(capture::forbid_unsafe().and_then(|()| {
        device.healthy()?;
        memory::register(Range { base, len: size, kind, device: device.ordinal, flags })?;
        check::allocated(base, size);
        Ok(())
    }))
}

pub(super) unsafe extern "C" fn hipHostUnregister(pointer: *mut c_void) -> hipError_t {
    status((|| {
        capture::forbid_unsafe()?;
        if pointer.is_null() {
            return Err(VALUE);
        }
        let not_registered = hipError_t::hipErrorHostMemoryNotRegistered;
        let registered = |range: &Range| range.kind == Kind::Registered;
        memory::find_base(pointer as usize).filter(registered).ok_or(not_registered)?;
        for device in device::all() {
            let _ = device.synchronize();
        }
        memory::remove(pointer as usize, &[Kind::Registered]).map(drop).ok_or(not_registered)
    })())
}

pub(super) unsafe extern "C" fn hipHostGetDevicePointer(
    out: *mut *mut c_void,
    pointer: *mut c_void,
    flags: c_uint,
) -> hipError_t {
    let range = memory::find(pointer as usize);
    let host = range.filter(|range| matches!(range.kind, Kind::Host | Kind::Registered | Kind::Managed));
    if flags != 0 || pointer.is_null() || host.is_none() {
        return status(Err(VALUE));
    }
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { give(out, pointer) })
}

pub(super) unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t {
    let device = current();
    if let Err(fault) = device.healthy() {
        return status(Err(fault));
    }
    let memory = &device.memory;
    // SAFETY: S11: the caller's output pointers; if the first fails the second stays unchanged.
    status(unsafe { give(free, memory.free() as usize).and_then(|()| give(total, memory.total as usize)) })
}

pub(super) unsafe extern "C" fn hipPointerGetAttributes(
    out: *mut hipPointerAttribute_t,
    pointer: *const c_void,
) -> hipError_t {
    if pointer.is_null() {
        return status(Err(VALUE));
    }
    let pointer = pointer.cast_mut();
    let attributes = match memory::find(pointer as usize) {
        None => hipPointerAttribute_t { device: -2, ..Default::default() },
        Some(range) => {
            let type_ = match range.kind {
                Kind::Device | Kind::Variable => hipMemoryType::hipMemoryTypeDevice,
                Kind::Managed => hipMemoryType::hipMemoryTypeManaged,
                Kind::Host | Kind::Registered => hipMemoryType::hipMemoryTypeHost,
            };
            let on_host = type_ != hipMemoryType::hipMemoryTypeDevice;
            hipPointerAttribute_t {
                type_,
                device: range.device as c_int,
                devicePointer: pointer,
                hostPointer: if on_host { pointer } else { null_mut() },
                isManaged: c_int::from(range.kind == Kind::Managed),
                allocationFlags: range.flags,
            }
        }
    };
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { give(out, attributes) })
}

pub(super) unsafe extern "C" fn hipMemGetAddressRange(
    base: *mut hipDeviceptr_t,
    size: *mut usize,
    pointer: hipDeviceptr_t,
) -> hipError_t {
    if base.is_null() && size.is_null() {
        return status(Err(VALUE));
    }
    let range = memory::find(pointer as usize).ok_or(hipError_t::hipErrorNotFound);
    // SAFETY: S11: the caller's output pointers; one of them may be null.
    status(range.map(|range| unsafe {
        let _ = give(base, range.base as *mut c_void);
        let _ = give(size, range.len);
    }))
}

/// Checks that the bytes are managed memory and that the location exists.
fn managed(pointer: *const c_void, count: usize, location: c_int) -> Outcome {
    if pointer.is_null() || count == 0 {
        return Err(VALUE);
    }
    if location != CPU {
        device::get(location)?;
    }
    let range = memory::resolve(pointer as usize, count)?;
    if range.is_some_and(|range| range.kind == Kind::Managed) { Ok(()) } else { Err(VALUE) }
}

/// All devices share the host's memory, so nothing moves.
pub(super) unsafe extern "C" fn hipMemPrefetchAsync(
    pointer: *const c_void,
    count: usize,
    location: c_int,
    stream: hipStream_t,
) -> hipError_t {
    status(stream_of(stream).and_then(|stream| {
        capture::forbid_in(&stream)?;
        stream.device().healthy()?;
        managed(pointer, count, location)
    }))
}

pub(super) unsafe extern "C" fn hipMemAdvise(
    pointer: *const c_void,
    count: usize,
    advice: hipMemoryAdvise,
    location: c_int,
) -> hipError_t {
    let known = matches!(advice.0, 1..=6 | 100 | 101);
    status(if known { managed(pointer, count, location) } else { Err(VALUE) })
}
