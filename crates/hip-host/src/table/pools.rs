//! Stream-ordered allocation.
#![allow(non_snake_case, reason = "HIP's names")]

use super::give;
use super::streams::stream_of;
use crate::adversary;
use crate::check;
use crate::context::{Outcome, status};
use crate::device;
use crate::graph::capture;
use crate::guard;
use crate::memory::{self, Kind};
use crate::pool::{self, Pool};
use crate::stream::Stream;
use crate::work::{Fill, Released, Work};
use hip_sys::hip::{
    hipError_t, hipMemAllocationHandleType, hipMemAllocationType, hipMemLocationType, hipMemPool_t,
    hipMemPoolAttr, hipMemPoolProps, hipStream_t,
};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;

/// Allocates at once. Memory whose release is queued still counts as used, so if the device is full this
/// waits for it once.
unsafe fn allocate(out: *mut *mut c_void, size: usize, pool: &Arc<Pool>, stream: &Arc<Stream>) -> Outcome {
    if out.is_null() {
        return Err(VALUE);
    }
    capture::forbid_in(stream)?;
    let device = &device::all()[pool.device];
    stream.device().healthy()?;
    device.healthy()?;
    let attempt = || {
        let charge = pool.charge(size as u64)?;
        memory::allocate(device, Kind::Device, size, 0, Some(charge))
    };
    if let Some(pointer) = reuse(size, pool, stream) {
        // SAFETY: S11: the caller's output pointer.
        return unsafe { give(out, pointer) };
    }
    let pointer = match size {
        0 => null_mut(),
        _ => attempt().or_else(|_| {
            stream.device().synchronize()?;
            attempt()
        })?,
    };
    check::allocated_on(stream, pointer as usize, size, false);
    // SAFETY: S11: the caller's output pointer.
    unsafe { give(out, pointer) }
}

/// With an adversary: takes memory that the stream has still to free, as a caching pool would. Earlier
/// operations of the stream run before the new owner's work; between them the memory is filled with a
/// pattern.
fn reuse(size: usize, pool: &Arc<Pool>, stream: &Arc<Stream>) -> Option<*mut c_void> {
    let adversary = adversary::get()?;
    if guard::least_alignment().is_some() {
        // Freed memory must stay unused in guard mode; otherwise a use after free would not be detected.
        return None;
    }
    let released = adversary.reuse(stream, size, pool)?;
    let pointer = memory::put_back(released.take()?);
    check::allocated_on(stream, pointer as usize, size, true);
    let (to, value, side) = (pointer.cast(), adversary.pattern().into(), released.range);
    if stream.submit(Work::Fill(Fill { to, value, size: 1, count: size, side }), Vec::new()).is_err() {
        // Another thread has begun a capture. The stream frees the memory as originally asked.
        memory::begin_free(pointer as usize).into_iter().for_each(|allocation| released.hold(allocation));
        return None;
    }
    Some(pointer)
}

pub(super) unsafe extern "C" fn hipMallocAsync(
    out: *mut *mut c_void,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    status(stream_of(stream).and_then(|stream| {
        let pool = pool::current_of(stream.device)?;
        // SAFETY: S11: the caller's output pointer.
        unsafe { allocate(out, size, &pool, &stream) }
    }))
}

pub(super) unsafe extern "C" fn hipMallocFromPoolAsync(
    out: *mut *mut c_void,
    size: usize,
    pool: hipMemPool_t,
    stream: hipStream_t,
) -> hipError_t {
    status(stream_of(stream).and_then(|stream| {
        let pool = pool::get(pool as usize)?;
        // SAFETY: S11: the caller's output pointer.
        unsafe { allocate(out, size, &pool, &stream) }
    }))
}

/// The pointer becomes unknown at once; the memory stays until the stream reaches the release.
pub(super) unsafe extern "C" fn hipFreeAsync(pointer: *mut c_void, stream: hipStream_t) -> hipError_t {
    status(stream_of(stream).and_then(|stream| {
        capture::forbid_in(&stream)?;
        release(&stream, pointer as usize)
    }))
}

/// Asks the stream to free memory. If it refuses, because a capture has begun meanwhile, the state is
/// unchanged.
fn release(stream: &Arc<Stream>, base: usize) -> Outcome {
    let released = Released::new(memory::begin_free(base).ok_or(VALUE)?);
    if let Some(adversary) = adversary::get() {
        adversary.released(stream, &released);
    }
    let submitted = stream.submit(Work::Release(Arc::clone(&released)), Vec::new());
    if submitted.is_err()
        && let Some(allocation) = released.take()
    {
        memory::put_back(allocation);
    }
    submitted.map(drop)
}

pub(super) unsafe extern "C" fn hipMemPoolCreate(
    out: *mut hipMemPool_t,
    properties: *const hipMemPoolProps,
) -> hipError_t {
    status((|| {
        if out.is_null() || properties.is_null() {
            return Err(VALUE);
        }
        // SAFETY: S11: the caller's properties.
        let properties = unsafe { &*properties };
        let pinned = properties.allocType == hipMemAllocationType::hipMemAllocationTypePinned;
        let private = properties.handleTypes == hipMemAllocationHandleType::hipMemHandleTypeNone;
        let on_device = properties.location.type_ == hipMemLocationType::hipMemLocationTypeDevice;
        if !pinned || !private || !on_device {
            return Err(VALUE);
        }
        let device = device::get(properties.location.id).map_err(|_| VALUE)?;
        let handle = pool::create(device.ordinal, properties.maxSize as u64);
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, handle as hipMemPool_t) }
    })())
}

pub(super) unsafe extern "C" fn hipMemPoolDestroy(pool: hipMemPool_t) -> hipError_t {
    status(pool::destroy(pool as usize))
}

/// Pools cache nothing, so there is nothing to trim.
pub(super) unsafe extern "C" fn hipMemPoolTrimTo(pool: hipMemPool_t, _bytes: usize) -> hipError_t {
    status(pool::get(pool as usize).map(drop))
}

/// Index of a reuse attribute in the settings.
fn reuse_index(attribute: hipMemPoolAttr) -> Option<usize> {
    (1..=3).contains(&attribute.0).then(|| attribute.0 as usize - 1)
}

pub(super) unsafe extern "C" fn hipMemPoolSetAttribute(
    pool: hipMemPool_t,
    attribute: hipMemPoolAttr,
    value: *mut c_void,
) -> hipError_t {
    status((|| {
        let pool = pool::get(pool as usize)?;
        if value.is_null() {
            return Err(VALUE);
        }
        if let Some(index) = reuse_index(attribute) {
            // SAFETY: S11: such attributes are ints.
            pool.settings.lock().reuse[index] = unsafe { *value.cast::<c_int>() };
            return Ok(());
        }
        // SAFETY: S11: the others are 64-bit numbers.
        let value = unsafe { *value.cast::<u64>() };
        match attribute {
            hipMemPoolAttr::hipMemPoolAttrReleaseThreshold => pool.settings.lock().threshold = value,
            hipMemPoolAttr::hipMemPoolAttrReservedMemHigh | hipMemPoolAttr::hipMemPoolAttrUsedMemHigh
                if value == 0 =>
            {
                pool.reset_high();
            }
            _ => return Err(VALUE),
        }
        Ok(())
    })())
}

pub(super) unsafe extern "C" fn hipMemPoolGetAttribute(
    pool: hipMemPool_t,
    attribute: hipMemPoolAttr,
    value: *mut c_void,
) -> hipError_t {
    status((|| {
        let pool = pool::get(pool as usize)?;
        let (settings, counters) = (*pool.settings.lock(), pool.counters());
        if let Some(index) = reuse_index(attribute) {
            // SAFETY: S11: such attributes are ints.
            return unsafe { give(value.cast(), settings.reuse[index]) };
        }
        let answer = match attribute {
            hipMemPoolAttr::hipMemPoolAttrReleaseThreshold => settings.threshold,
            hipMemPoolAttr::hipMemPoolAttrReservedMemCurrent
            | hipMemPoolAttr::hipMemPoolAttrUsedMemCurrent => counters.used,
            hipMemPoolAttr::hipMemPoolAttrReservedMemHigh | hipMemPoolAttr::hipMemPoolAttrUsedMemHigh => {
                counters.used_high
            }
            _ => return Err(VALUE),
        };
        // SAFETY: S11: the others are 64-bit numbers.
        unsafe { give(value.cast(), answer) }
    })())
}

pub(super) unsafe extern "C" fn hipDeviceGetDefaultMemPool(
    out: *mut hipMemPool_t,
    device: c_int,
) -> hipError_t {
    status(device::get(device).and_then(|device| {
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, pool::default_of(device.ordinal) as hipMemPool_t) }
    }))
}

pub(super) unsafe extern "C" fn hipDeviceSetMemPool(device: c_int, pool: hipMemPool_t) -> hipError_t {
    status(device::get(device).and_then(|device| pool::set_current(device.ordinal, pool as usize)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hip_sys::hip::{hipStreamCaptureMode, hipStreamNonBlocking};

    #[test]
    fn memory_that_a_stream_may_not_free_stays() {
        let device = &device::all()[0];
        let stream = Stream::create(device, hipStreamNonBlocking, 0);
        let base = memory::allocate(device, Kind::Device, 64, 0, None).expect("memory") as usize;
        capture::begin(&stream, hipStreamCaptureMode::hipStreamCaptureModeRelaxed).expect("a new stream");
        assert_eq!(release(&stream, base), Err(hipError_t::hipErrorStreamCaptureUnsupported));
        assert_eq!(memory::find_base(base).map(|range| range.len), Some(64));
        capture::forget(&stream);
        assert_eq!(release(&stream, base), Ok(()));
        assert!(memory::find_base(base).is_none());
        crate::stream::wait_for_all(&stream.pending());
    }
}
