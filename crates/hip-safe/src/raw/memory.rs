//! Copies between devices, managed memory, and memory of other processes.

use super::{Result, call, status};
use crate::handle::Handle;
use hip_sys::Platform;
use hip_sys::hip::*;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

/// The one flag that there is for opening another process' memory; the bindings have no name for it.
const LAZY_PEER_ACCESS: c_uint = 1;

/// A copy from `from`'s device to `to`'s, each an address and an ordinal.
pub(crate) unsafe fn memcpy_peer_async(
    p: &Platform,
    to: (*mut c_void, c_int),
    from: (*const c_void, c_int),
    bytes: usize,
    stream: hipStream_t,
) -> Result<()> {
    // SAFETY: S1, S2: the caller vouches for both ranges and the stream.
    call!(p, hipMemcpyPeerAsync(to.0, to.1, from.0, from.1, bytes, stream))
}

/// Memory of the driver's own pool, which may be used once the null stream has come so far.
pub(crate) unsafe fn malloc_async(p: &Platform, bytes: usize) -> Result<Handle<c_void>> {
    let mut address = null_mut();
    // SAFETY: S1, S3: the out-pointer is live; the caller made the device current; null is its default stream.
    call!(p, hipMallocAsync(&mut address, bytes, null_mut()))?;
    Ok(Handle::new(address))
}

/// Gives memory of [`malloc_async`] back.
pub(crate) unsafe fn free_async(p: &Platform, address: Handle<c_void>) -> Result<()> {
    // SAFETY: S1, S3, S4: the caller owns the allocation and nothing uses it any more.
    call!(p, hipFreeAsync(address.raw(), null_mut()))
}

pub(crate) unsafe fn malloc_managed(p: &Platform, bytes: usize) -> Result<Handle<c_void>> {
    let mut address = null_mut();
    // SAFETY: S1, S3: the out-pointer is live; the caller made the device current.
    call!(p, hipMallocManaged(&mut address, bytes, hipMemAttachGlobal))?;
    Ok(Handle::new(address))
}

/// What C calls the host where it asks for a device.
pub(crate) const HOST: c_int = -1;

/// A device, or the host, in the form that the later functions take.
fn location(device: c_int) -> hipMemLocation {
    let type_ = match device {
        HOST => hipMemLocationType::hipMemLocationTypeHost,
        _ => hipMemLocationType::hipMemLocationTypeDevice,
    };
    hipMemLocation { type_, id: device }
}

/// Moves managed memory to a device, or to the host: by the later function where the library has it.
pub(crate) unsafe fn prefetch_async(
    p: &Platform,
    address: *const c_void,
    bytes: usize,
    device: c_int,
    stream: hipStream_t,
) -> Result<()> {
    match p.hip().hipMemPrefetchAsync_v2.get() {
        Ok(prefetch) => {
            // SAFETY: S1, S2: the caller vouches for the range and the stream; there are no flags.
            status(p, "hipMemPrefetchAsync_v2", unsafe {
                prefetch(address, bytes, location(device), 0, stream)
            })
        }
        // SAFETY: S1, S2: the caller vouches for the range and the stream.
        Err(_) => call!(p, hipMemPrefetchAsync(address, bytes, device, stream)),
    }
}

/// Says how managed memory will be used, and where: by the later function where the library has it, which is what the headers of HIP
/// 10.2 mean by `hipMemAdvise`.
pub(crate) unsafe fn advise(
    p: &Platform,
    address: *const c_void,
    bytes: usize,
    advice: hipMemoryAdvise,
    device: c_int,
) -> Result<()> {
    match p.hip().hipMemAdvise_v2.get() {
        Ok(advise) => {
            // SAFETY: S1, S2: the caller vouches for the range.
            status(p, "hipMemAdvise_v2", unsafe { advise(address, bytes, advice, location(device)) })
        }
        // SAFETY: S1, S2: the caller vouches for the range.
        Err(_) => call!(p, hipMemAdvise(address, bytes, advice, device)),
    }
}

/// The first byte of the allocation that an address lies in.
pub(crate) unsafe fn allocation_base(p: &Platform, address: *mut c_void) -> Result<Handle<c_void>> {
    let (mut base, mut bytes) = (null_mut(), 0);
    // SAFETY: S1, S2: the address lies in a live allocation; both out-pointers are live.
    call!(p, hipMemGetAddressRange(&mut base, &mut bytes, address))?;
    Ok(Handle::new(base))
}

pub(crate) unsafe fn ipc_get(p: &Platform, base: Handle<c_void>) -> Result<hipIpcMemHandle_t> {
    let mut handle = hipIpcMemHandle_t::default();
    // SAFETY: S1, S2: a live allocation's first byte; the out-pointer is live.
    call!(p, hipIpcGetMemHandle(&mut handle, base.raw()))?;
    Ok(handle)
}

pub(crate) unsafe fn ipc_open(p: &Platform, handle: hipIpcMemHandle_t) -> Result<Handle<c_void>> {
    let mut base = null_mut();
    // SAFETY: S1, S3: the out-pointer is live; the caller vouches for the handle and made the device current.
    call!(p, hipIpcOpenMemHandle(&mut base, handle, LAZY_PEER_ACCESS))?;
    Ok(Handle::new(base))
}

pub(crate) unsafe fn ipc_close(p: &Platform, base: Handle<c_void>) -> Result<()> {
    // SAFETY: S1, S4: it was opened, and nothing uses it any more.
    call!(p, hipIpcCloseMemHandle(base.raw()))
}
