//! Stream-ordered allocation. The attributes' numbers and the properties' layout are CUDA's.
#![allow(non_snake_case, reason = "HIP's names")]

use super::{check_not_null, give};
use crate::context::{self, Device, Outcome, check, driver, enter, status};
use crate::driver::Pool;
use crate::handles::{Object, POOLS, pool_of, stream_of};
use hip_sys::hip::{
    hipError_t, hipMemAllocationHandleType, hipMemAllocationType, hipMemLocationType, hipMemPool_t,
    hipMemPoolAttr, hipMemPoolProps, hipStream_t,
};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, LazyLock};

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;

/// Handles of the devices' default pools, by ordinal.
static DEFAULTS: LazyLock<Mutex<HashMap<usize, usize>>> = LazyLock::new(Mutex::default);

unsafe fn allocate(out: *mut *mut c_void, size: usize, stream: hipStream_t, pool: Option<Pool>) -> Outcome {
    check_not_null(out)?;
    let (stream, _) = stream_of(stream)?;
    let mut address = 0;
    if size != 0 {
        // SAFETY: S1, S11: a live output pointer, a live stream and a live pool.
        check(unsafe {
            match pool {
                None => (driver().cuMemAllocAsync)(&mut address, size, stream),
                Some(pool) => (driver().cuMemAllocFromPoolAsync)(&mut address, size, pool, stream),
            }
        })?;
    }
    // SAFETY: S11: the caller's output pointer.
    unsafe { give(out, address as *mut c_void) }
}

pub(super) unsafe extern "C" fn hipMallocAsync(
    out: *mut *mut c_void,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { allocate(out, size, stream, None) })
}

pub(super) unsafe extern "C" fn hipMallocFromPoolAsync(
    out: *mut *mut c_void,
    size: usize,
    pool: hipMemPool_t,
    stream: hipStream_t,
) -> hipError_t {
    status(pool_of(pool).and_then(|pool| {
        // SAFETY: S11: the caller's output pointer.
        unsafe { allocate(out, size, stream, Some(pool.raw)) }
    }))
}

pub(super) unsafe extern "C" fn hipFreeAsync(pointer: *mut c_void, stream: hipStream_t) -> hipError_t {
    status(stream_of(stream).and_then(|(stream, _)| {
        if pointer.is_null() {
            return Err(VALUE);
        }
        // SAFETY: S11: the driver refuses what it did not allocate.
        check(unsafe { (driver().cuMemFreeAsync)(pointer as u64, stream) })
    }))
}

pub(super) unsafe extern "C" fn hipMemPoolCreate(
    out: *mut hipMemPool_t,
    properties: *const hipMemPoolProps,
) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        if properties.is_null() {
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
        let device = context::get(properties.location.id).map_err(|_| VALUE)?.enter()?;
        let mut raw = null_mut();
        // SAFETY: S1, S14: a live output pointer; HIP's properties have CUDA's layout and numbers.
        check(unsafe { (driver().cuMemPoolCreate)(&mut raw, properties) })?;
        let handle = POOLS.insert(Arc::new(Object { raw, device, extra: () }));
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, handle as hipMemPool_t) }
    })())
}

pub(super) unsafe extern "C" fn hipMemPoolDestroy(pool: hipMemPool_t) -> hipError_t {
    status(pool_of(pool).and_then(|object| {
        if DEFAULTS.lock().values().any(|default| *default == pool as usize) {
            return Err(VALUE);
        }
        POOLS.remove(pool as usize).map_err(|_| VALUE)?;
        // SAFETY: S11: it was live and its handle is removed.
        check(unsafe { (driver().cuMemPoolDestroy)(object.raw) })
    }))
}

pub(super) unsafe extern "C" fn hipMemPoolTrimTo(pool: hipMemPool_t, bytes: usize) -> hipError_t {
    // SAFETY: S11: a live pool.
    status(pool_of(pool).and_then(|pool| check(unsafe { (driver().cuMemPoolTrimTo)(pool.raw, bytes) })))
}

/// Checks that there is such an attribute and that the value pointer is not null.
fn attribute_and_value(attribute: hipMemPoolAttr, value: *mut c_void) -> Outcome {
    if (1..=8).contains(&attribute.0) && !value.is_null() { Ok(()) } else { Err(VALUE) }
}

pub(super) unsafe extern "C" fn hipMemPoolSetAttribute(
    pool: hipMemPool_t,
    attribute: hipMemPoolAttr,
    value: *mut c_void,
) -> hipError_t {
    status(pool_of(pool).and_then(|pool| {
        attribute_and_value(attribute, value)?;
        // SAFETY: S11: a live pool and the caller's value, of the attribute's size.
        check(unsafe { (driver().cuMemPoolSetAttribute)(pool.raw, attribute.0, value) })
    }))
}

pub(super) unsafe extern "C" fn hipMemPoolGetAttribute(
    pool: hipMemPool_t,
    attribute: hipMemPoolAttr,
    value: *mut c_void,
) -> hipError_t {
    status(pool_of(pool).and_then(|pool| {
        attribute_and_value(attribute, value)?;
        // SAFETY: S11: a live pool and the caller's output pointer, to a value of the attribute's size.
        check(unsafe { (driver().cuMemPoolGetAttribute)(pool.raw, attribute.0, value) })
    }))
}

fn default_of(device: &'static Device) -> Result<usize, hipError_t> {
    let mut defaults = DEFAULTS.lock();
    if let Some(handle) = defaults.get(&device.ordinal) {
        return Ok(*handle);
    }
    let mut raw = null_mut();
    // SAFETY: S1: a live output pointer.
    check(unsafe { (driver().cuDeviceGetDefaultMemPool)(&mut raw, device.handle) })?;
    let handle = POOLS.insert(Arc::new(Object { raw, device, extra: () }));
    defaults.insert(device.ordinal, handle);
    Ok(handle)
}

pub(super) unsafe extern "C" fn hipDeviceGetDefaultMemPool(
    out: *mut hipMemPool_t,
    device: c_int,
) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        enter()?;
        let handle = default_of(context::get(device)?)?;
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, handle as hipMemPool_t) }
    })())
}

pub(super) unsafe extern "C" fn hipDeviceSetMemPool(device: c_int, pool: hipMemPool_t) -> hipError_t {
    status((|| {
        let device = context::get(device)?;
        let pool = pool_of(pool)?;
        // SAFETY: S11: a live pool; the driver refuses another device's.
        check(unsafe { (driver().cuDeviceSetMemPool)(device.handle, pool.raw) })
    })())
}
