//! Initialisation, devices, their limits and their access to each other.
#![allow(non_snake_case, reason = "HIP's names")]

use super::{VERSION, give};
use crate::check;
use crate::context::{Outcome, current, set_current, status};
use crate::graph::capture;
use crate::{device, memory};
use hip_sys::hip::{hipDevice_t, hipDeviceP2PAttr, hipError_t, hipLimit_t, hipUUID};
use std::ffi::{CStr, c_char, c_int, c_uint};

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;

pub(super) unsafe extern "C" fn hipInit(flags: c_uint) -> hipError_t {
    status(if flags == 0 { Ok(()) } else { Err(VALUE) })
}

pub(super) unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { give(version, VERSION) })
}

pub(super) unsafe extern "C" fn hipDriverGetVersion(version: *mut c_int) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { give(version, VERSION) })
}

pub(super) unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { give(count, device::COUNT as c_int) })
}

pub(super) unsafe extern "C" fn hipGetDevice(ordinal: *mut c_int) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { give(ordinal, current().ordinal as c_int) })
}

pub(super) unsafe extern "C" fn hipSetDevice(ordinal: c_int) -> hipError_t {
    status(set_current(ordinal))
}

pub(super) unsafe extern "C" fn hipDeviceGet(device: *mut hipDevice_t, ordinal: c_int) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(device::get(ordinal).and_then(|_| unsafe { give(device, ordinal) }))
}

/// Writes a string with its zero byte, truncated to the size of the buffer.
unsafe fn give_text(out: *mut c_char, capacity: c_int, text: &CStr) -> Outcome {
    let capacity =
        usize::try_from(capacity).ok().filter(|capacity| *capacity > 0 && !out.is_null()).ok_or(VALUE)?;
    let bytes = text.to_bytes();
    let count = bytes.len().min(capacity - 1);
    // SAFETY: S11: the caller's buffer has `capacity` bytes.
    unsafe {
        out.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), count);
        out.add(count).write(0);
    }
    Ok(())
}

pub(super) unsafe extern "C" fn hipDeviceGetName(
    name: *mut c_char,
    capacity: c_int,
    device: hipDevice_t,
) -> hipError_t {
    let names = [c"hip-host (wave 32)", c"hip-host (wave 64)"];
    // SAFETY: S11: the caller's buffer.
    status(device::get(device).and_then(|device| unsafe { give_text(name, capacity, names[device.ordinal]) }))
}

/// The UUID of a device.
pub(super) fn uuid(ordinal: usize) -> hipUUID {
    let mut bytes = b"hip-host-device0".map(|byte| byte as c_char);
    bytes[15] += ordinal as c_char;
    hipUUID { bytes }
}

pub(super) unsafe extern "C" fn hipDeviceGetUuid(out: *mut hipUUID, device: hipDevice_t) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(device::get(device).and_then(|device| unsafe { give(out, uuid(device.ordinal)) }))
}

/// Bus number of the first device, in a range that real machines do not use.
pub(super) const BUS: usize = 0xf0;
const ADDRESSES: [&CStr; device::COUNT] = [c"0000:f0:00.0", c"0000:f1:00.0"];

pub(super) unsafe extern "C" fn hipDeviceGetPCIBusId(
    out: *mut c_char,
    capacity: c_int,
    device: c_int,
) -> hipError_t {
    status(device::get(device).and_then(|device| {
        let address = ADDRESSES[device.ordinal];
        if capacity <= address.count_bytes() as c_int {
            return Err(VALUE);
        }
        // SAFETY: S11: the caller's buffer.
        unsafe { give_text(out, capacity, address) }
    }))
}

pub(super) unsafe extern "C" fn hipDeviceGetByPCIBusId(
    device: *mut c_int,
    address: *const c_char,
) -> hipError_t {
    if device.is_null() || address.is_null() {
        return status(Err(VALUE));
    }
    // SAFETY: S11: the caller's C string and output pointer.
    status(unsafe {
        let asked = CStr::from_ptr(address).to_bytes().to_ascii_lowercase();
        let ordinal = ADDRESSES.iter().position(|address| address.to_bytes() == asked);
        ordinal.ok_or(hipError_t::hipErrorInvalidDevice).and_then(|ordinal| give(device, ordinal as c_int))
    })
}

pub(super) unsafe extern "C" fn hipDeviceTotalMem(bytes: *mut usize, device: hipDevice_t) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(device::get(device).and_then(|device| unsafe { give(bytes, device.memory.total as usize) }))
}

pub(super) unsafe extern "C" fn hipDeviceSynchronize() -> hipError_t {
    status(capture::forbid_device_wait().and_then(|()| current().synchronize()))
}

/// Waits for the device, frees its allocations and clears a fault. Streams and events stay valid.
pub(super) unsafe extern "C" fn hipDeviceReset() -> hipError_t {
    let device = current();
    capture::forget_device(device.ordinal);
    let _ = device.synchronize();
    for allocation in memory::remove_all(device.ordinal) {
        check::freed(allocation.range.base, allocation.range.len, "hipDeviceReset");
    }
    *device.peer_enabled.lock() = false;
    device.heal();
    status(Ok(()))
}

/// The message of the fault that broke a device, zero-terminated and truncated to the size of the buffer.
/// Returns the length of the whole message, or 0 if the device is healthy.
pub(crate) unsafe extern "C" fn last_fault(device: c_int, out: *mut c_char, capacity: usize) -> usize {
    let Ok(device) = device::get(device) else { return 0 };
    let cause = device.cause();
    if !out.is_null() && capacity > 0 {
        let count = cause.len().min(capacity - 1);
        // SAFETY: S11: the caller's buffer has `capacity` bytes.
        unsafe {
            out.cast::<u8>().copy_from_nonoverlapping(cause.as_ptr(), count);
            out.add(count).write(0);
        }
    }
    cause.len()
}

pub(super) unsafe extern "C" fn hipDeviceGetLimit(value: *mut usize, limit: hipLimit_t) -> hipError_t {
    let limits = *current().limits.lock();
    let found = limits.get(limit.0 as usize).ok_or(hipError_t::hipErrorUnsupportedLimit);
    // SAFETY: S11: the caller's output pointer.
    status(found.and_then(|found| unsafe { give(value, *found) }))
}

pub(super) unsafe extern "C" fn hipDeviceSetLimit(limit: hipLimit_t, value: usize) -> hipError_t {
    let mut limits = current().limits.lock();
    let limit = limits.get_mut(limit.0 as usize).ok_or(hipError_t::hipErrorUnsupportedLimit);
    status(limit.map(|limit| *limit = value))
}

pub(super) unsafe extern "C" fn hipDeviceCanAccessPeer(
    can: *mut c_int,
    device: c_int,
    peer: c_int,
) -> hipError_t {
    let pair = device::get(device).and_then(|device| Ok((device, device::get(peer)?)));
    // SAFETY: S11: the caller's output pointer.
    status(pair.and_then(|(a, b)| unsafe { give(can, c_int::from(a.ordinal != b.ordinal)) }))
}

/// Enables or disables the current device's access to another. All devices share the host's memory, so this
/// only records the state.
fn set_peer(peer: c_int, enable: bool, already: hipError_t) -> Outcome {
    let (device, peer) = (current(), device::get(peer)?);
    if device.ordinal == peer.ordinal {
        return Err(hipError_t::hipErrorInvalidDevice);
    }
    let mut enabled = device.peer_enabled.lock();
    if *enabled == enable {
        return Err(already);
    }
    *enabled = enable;
    Ok(())
}

pub(super) unsafe extern "C" fn hipDeviceEnablePeerAccess(peer: c_int, flags: c_uint) -> hipError_t {
    if flags != 0 {
        return status(Err(VALUE));
    }
    status(set_peer(peer, true, hipError_t::hipErrorPeerAccessAlreadyEnabled))
}

pub(super) unsafe extern "C" fn hipDeviceDisablePeerAccess(peer: c_int) -> hipError_t {
    status(set_peer(peer, false, hipError_t::hipErrorPeerAccessNotEnabled))
}

pub(super) unsafe extern "C" fn hipDeviceGetP2PAttribute(
    value: *mut c_int,
    attribute: hipDeviceP2PAttr,
    from: c_int,
    to: c_int,
) -> hipError_t {
    status((|| {
        if device::get(from)?.ordinal == device::get(to)?.ordinal {
            return Err(hipError_t::hipErrorInvalidDevice);
        }
        let answer = match attribute {
            hipDeviceP2PAttr::hipDevP2PAttrPerformanceRank
            | hipDeviceP2PAttr::hipDevP2PAttrHipArrayAccessSupported => 0,
            hipDeviceP2PAttr::hipDevP2PAttrAccessSupported
            | hipDeviceP2PAttr::hipDevP2PAttrNativeAtomicSupported => 1,
            _ => return Err(VALUE),
        };
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(value, answer) }
    })())
}
