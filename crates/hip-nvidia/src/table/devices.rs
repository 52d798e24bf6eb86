//! Initialisation, devices, their limits and their access to each other.
#![allow(non_snake_case, reason = "HIP's names")]

use super::{VERSION, captures, check_not_null, give};
use crate::context::{self, check, cuda, current, driver, enter, set_current, status};
use crate::handles::forget_device;
use hip_sys::hip::{hipDevice_t, hipDeviceP2PAttr, hipError_t, hipLimit_t, hipUUID};
use std::ffi::{c_char, c_int, c_uint};

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;

pub(super) unsafe extern "C" fn hipInit(flags: c_uint) -> hipError_t {
    status(if flags == 0 { current().map(drop) } else { Err(VALUE) })
}

pub(super) unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { give(version, VERSION) })
}

/// The driver's own version, in CUDA's format.
pub(super) unsafe extern "C" fn hipDriverGetVersion(version: *mut c_int) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { give(version, cuda().version) })
}

pub(super) unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { give(count, cuda().count() as c_int) }.and_then(|()| current().map(drop)))
}

pub(super) unsafe extern "C" fn hipGetDevice(ordinal: *mut c_int) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(current().and_then(|device| unsafe { give(ordinal, device.ordinal as c_int) }))
}

pub(super) unsafe extern "C" fn hipSetDevice(ordinal: c_int) -> hipError_t {
    status(set_current(ordinal))
}

pub(super) unsafe extern "C" fn hipDeviceGet(device: *mut hipDevice_t, ordinal: c_int) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(context::get(ordinal).and_then(|_| unsafe { give(device, ordinal) }))
}

pub(super) unsafe extern "C" fn hipDeviceGetName(
    name: *mut c_char,
    room: c_int,
    device: hipDevice_t,
) -> hipError_t {
    status((|| {
        let device = context::get(device)?;
        if name.is_null() || room <= 0 {
            return Err(VALUE);
        }
        // SAFETY: S11: the caller's buffer has `room` bytes.
        check(unsafe { (driver().cuDeviceGetName)(name, room, device.handle) })
    })())
}

pub(super) unsafe extern "C" fn hipDeviceGetUuid(out: *mut hipUUID, device: hipDevice_t) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        let device = context::get(device)?;
        // SAFETY: S11: the caller's output pointer, to 16 bytes.
        check(unsafe { (driver().cuDeviceGetUuid)(out.cast(), device.handle) })
    })())
}

pub(super) unsafe extern "C" fn hipDeviceGetPCIBusId(
    out: *mut c_char,
    room: c_int,
    device: c_int,
) -> hipError_t {
    status((|| {
        let device = context::get(device)?;
        // "0000:00:00.0" and its zero byte.
        if out.is_null() || room < 13 {
            return Err(VALUE);
        }
        // SAFETY: S11: the caller's buffer has `room` bytes.
        check(unsafe { (driver().cuDeviceGetPCIBusId)(out, room, device.handle) })
    })())
}

pub(super) unsafe extern "C" fn hipDeviceGetByPCIBusId(
    device: *mut c_int,
    address: *const c_char,
) -> hipError_t {
    status((|| {
        check_not_null(device)?;
        if address.is_null() {
            return Err(VALUE);
        }
        current()?;
        let mut handle = 0;
        // SAFETY: S1, S11: a live output pointer and the caller's C string.
        check(unsafe { (driver().cuDeviceGetByPCIBusId)(&mut handle, address) })?;
        let ordinal = cuda().ordinal_of(handle).ok_or(hipError_t::hipErrorInvalidDevice)?;
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(device, ordinal as c_int) }
    })())
}

pub(super) unsafe extern "C" fn hipDeviceTotalMem(bytes: *mut usize, device: hipDevice_t) -> hipError_t {
    status((|| {
        check_not_null(bytes)?;
        let device = context::get(device)?;
        // SAFETY: S11: the caller's output pointer.
        check(unsafe { (driver().cuDeviceTotalMem)(bytes, device.handle) })
    })())
}

pub(super) unsafe extern "C" fn hipDeviceSynchronize() -> hipError_t {
    // SAFETY: S1: the context is current.
    status(enter().and_then(|_| check(unsafe { (driver().cuCtxSynchronize)() })))
}

/// Destroys everything that was created on the device, including handles, and clears a fault.
pub(super) unsafe extern "C" fn hipDeviceReset() -> hipError_t {
    status(current().and_then(|device| {
        captures::forget_device(device.ordinal);
        forget_device(device.ordinal);
        device.reset()
    }))
}

/// Checks a limit. Its numbers are CUDA's: stack size, printf buffer, heap.
fn is_limit(limit: hipLimit_t) -> Result<c_uint, hipError_t> {
    if limit.0 <= hipLimit_t::hipLimitMallocHeapSize.0 {
        Ok(limit.0)
    } else {
        Err(hipError_t::hipErrorUnsupportedLimit)
    }
}

pub(super) unsafe extern "C" fn hipDeviceGetLimit(value: *mut usize, limit: hipLimit_t) -> hipError_t {
    status((|| {
        check_not_null(value)?;
        let limit = is_limit(limit)?;
        enter()?;
        // SAFETY: S11: the caller's output pointer.
        check(unsafe { (driver().cuCtxGetLimit)(value, limit) })
    })())
}

pub(super) unsafe extern "C" fn hipDeviceSetLimit(limit: hipLimit_t, value: usize) -> hipError_t {
    status((|| {
        let limit = is_limit(limit)?;
        enter()?;
        // SAFETY: S1: numbers only.
        check(unsafe { (driver().cuCtxSetLimit)(limit, value) })
    })())
}

pub(super) unsafe extern "C" fn hipDeviceCanAccessPeer(
    answer: *mut c_int,
    device: c_int,
    peer: c_int,
) -> hipError_t {
    status((|| {
        check_not_null(answer)?;
        let (device, peer) = (context::get(device)?, context::get(peer)?);
        // SAFETY: S11: the caller's output pointer.
        check(unsafe { (driver().cuDeviceCanAccessPeer)(answer, device.handle, peer.handle) })
    })())
}

pub(super) unsafe extern "C" fn hipDeviceEnablePeerAccess(peer: c_int, flags: c_uint) -> hipError_t {
    status((|| {
        if flags != 0 {
            return Err(VALUE);
        }
        let (device, peer) = (enter()?, context::get(peer)?);
        if device.ordinal == peer.ordinal {
            return Err(hipError_t::hipErrorInvalidDevice);
        }
        // SAFETY: S1: a context that stays retained.
        check(unsafe { (driver().cuCtxEnablePeerAccess)(peer.context()?, 0) })
    })())
}

pub(super) unsafe extern "C" fn hipDeviceDisablePeerAccess(peer: c_int) -> hipError_t {
    status((|| {
        let (device, peer) = (enter()?, context::get(peer)?);
        if device.ordinal == peer.ordinal {
            return Err(hipError_t::hipErrorInvalidDevice);
        }
        // SAFETY: S1: a context that stays retained.
        check(unsafe { (driver().cuCtxDisablePeerAccess)(peer.context()?) })
    })())
}

/// HIP's attributes start at 0, CUDA's at 1.
pub(super) unsafe extern "C" fn hipDeviceGetP2PAttribute(
    value: *mut c_int,
    attribute: hipDeviceP2PAttr,
    from: c_int,
    to: c_int,
) -> hipError_t {
    status((|| {
        check_not_null(value)?;
        let (from, to) = (context::get(from)?, context::get(to)?);
        if from.ordinal == to.ordinal {
            return Err(hipError_t::hipErrorInvalidDevice);
        }
        if attribute.0 > hipDeviceP2PAttr::hipDevP2PAttrHipArrayAccessSupported.0 {
            return Err(VALUE);
        }
        // SAFETY: S11: the caller's output pointer.
        check(unsafe { (driver().cuDeviceGetP2PAttribute)(value, attribute.0 + 1, from.handle, to.handle) })
    })())
}
