//! What is asked of devices and set on them, and the access of one to another.

use super::{Result, call, status};
use hip_sys::hip::*;
use hip_sys::{Platform, Unsupported};
use std::ffi::{c_char, c_int};

pub(crate) unsafe fn can_access_peer(p: &Platform, device: c_int, peer: c_int) -> Result<bool> {
    let mut can = 0;
    // SAFETY: S1: the out-pointer is live; any ordinals may be asked about.
    call!(p, hipDeviceCanAccessPeer(&mut can, device, peer))?;
    Ok(can != 0)
}

/// Lets the current device access the other one's memory.
pub(crate) unsafe fn enable_peer_access(p: &Platform, peer: c_int) -> Result<()> {
    // SAFETY: S1, S3: numbers only; the caller made the device current.
    call!(p, hipDeviceEnablePeerAccess(peer, 0))
}

pub(crate) unsafe fn disable_peer_access(p: &Platform, peer: c_int) -> Result<()> {
    // SAFETY: S1, S3: numbers only; the caller made the device current.
    call!(p, hipDeviceDisablePeerAccess(peer))
}

pub(crate) unsafe fn uuid(p: &Platform, ordinal: c_int) -> Result<hipUUID> {
    let (mut device, mut uuid) = (0, hipUUID::default());
    // SAFETY: S1: the out-pointer is live.
    call!(p, hipDeviceGet(&mut device, ordinal))?;
    // SAFETY: S1: the out-pointer is live.
    call!(p, hipDeviceGetUuid(&mut uuid, device))?;
    Ok(uuid)
}

pub(crate) unsafe fn pci_bus_id(p: &Platform, ordinal: c_int) -> Result<[c_char; 64]> {
    let mut text = [0; 64];
    // SAFETY: S1: the length is the array's.
    call!(p, hipDeviceGetPCIBusId(text.as_mut_ptr(), 64, ordinal))?;
    Ok(text)
}

/// A limit of the current device.
pub(crate) unsafe fn limit(p: &Platform, limit: hipLimit_t) -> Result<usize> {
    let mut value = 0;
    // SAFETY: S1, S3: the out-pointer is live; the caller made the device current.
    call!(p, hipDeviceGetLimit(&mut value, limit))?;
    Ok(value)
}

/// The function for [`set_limit`].
pub(crate) fn limit_setter(p: &Platform) -> std::result::Result<hipDeviceSetLimit_fn, Unsupported> {
    p.hip().hipDeviceSetLimit.get()
}

/// Sets a limit of the current device.
pub(crate) unsafe fn set_limit(
    p: &Platform,
    setter: hipDeviceSetLimit_fn,
    limit: hipLimit_t,
    value: usize,
) -> Result<()> {
    // SAFETY: S1, S3: numbers only; the caller made the device current.
    status(p, "hipDeviceSetLimit", unsafe { setter(limit, value) })
}
