//! The library's handle: a stream, and the problems that were searched on it.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::answer::{Outcome, answer, give, of_hip, offer};
use super::convolution::Problem;
use super::registry::Registry;
use hip_host::library::Stream;
use hip_sys::hip::hipStream_t;
use hip_sys::miopen::{
    miopenAcceleratorQueue_t, miopenAllocatorFunction, miopenDeallocatorFunction, miopenHandle_t,
    miopenStatus_t,
};
use std::collections::HashSet;
use std::ffi::{CStr, c_char, c_void};

/// The state of a handle.
pub(super) struct Handle {
    stream: usize,
    /// Convolutions for which a find function was called. Only these may run by an algorithm's name.
    pub(super) found: HashSet<Problem>,
}

/// All handles.
pub(super) static HANDLES: Registry<Handle> = Registry::new(0x70);

/// The stream of a handle.
pub(super) fn stream(handle: miopenHandle_t) -> Outcome<hipStream_t> {
    HANDLES.with(handle, |handle| handle.stream as hipStream_t)
}

fn known(stream: hipStream_t) -> Outcome {
    Stream::of(stream).map(drop).map_err(of_hip)
}

pub(super) unsafe extern "C" fn miopenCreate(out: *mut miopenHandle_t) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { HANDLES.create(out, Handle { stream: 0, found: HashSet::new() }) })
}

pub(super) unsafe extern "C" fn miopenCreateWithStream(
    out: *mut miopenHandle_t,
    stream: miopenAcceleratorQueue_t,
) -> miopenStatus_t {
    answer(|| {
        known(stream)?;
        // SAFETY: S11: the caller's output pointer for the handle.
        unsafe { HANDLES.create(out, Handle { stream: stream as usize, found: HashSet::new() }) }
    })
}

pub(super) unsafe extern "C" fn miopenDestroy(handle: miopenHandle_t) -> miopenStatus_t {
    answer(|| HANDLES.destroy(handle))
}

pub(super) unsafe extern "C" fn miopenSetStream(
    handle: miopenHandle_t,
    stream: miopenAcceleratorQueue_t,
) -> miopenStatus_t {
    answer(|| {
        known(stream)?;
        HANDLES.with(handle, |handle| handle.stream = stream as usize)
    })
}

pub(super) unsafe extern "C" fn miopenGetStream(
    handle: miopenHandle_t,
    out: *mut miopenAcceleratorQueue_t,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the stream.
    answer(|| unsafe { give(out, stream(handle)?) })
}

/// The library takes temporary memory from the process, so it never calls these functions.
pub(super) unsafe extern "C" fn miopenSetAllocator(
    handle: miopenHandle_t,
    _: miopenAllocatorFunction,
    _: miopenDeallocatorFunction,
    _: *mut c_void,
) -> miopenStatus_t {
    answer(|| stream(handle).map(drop))
}

pub(super) unsafe extern "C" fn miopenEnableProfiling(handle: miopenHandle_t, _: bool) -> miopenStatus_t {
    answer(|| stream(handle).map(drop))
}

/// Calls return before their work starts, so there is no time to report: 0.
pub(super) unsafe extern "C" fn miopenGetKernelTime(handle: miopenHandle_t, out: *mut f32) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        // SAFETY: S11: the caller's output pointer for the time.
        unsafe { give(out, 0.0) }
    })
}

pub(super) unsafe extern "C" fn miopenGetVersion(
    major: *mut usize,
    minor: *mut usize,
    patch: *mut usize,
) -> miopenStatus_t {
    let version = super::VERSION;
    answer(|| {
        // SAFETY: S11: the caller's output pointers for the numbers.
        unsafe {
            offer(major, version.major as usize);
            offer(minor, version.minor as usize);
            offer(patch, version.patch as usize);
        }
        Ok(())
    })
}

pub(super) unsafe extern "C" fn miopenGetErrorString(error: miopenStatus_t) -> *const c_char {
    const NAMES: [&CStr; 11] = [
        c"miopenStatusSuccess",
        c"miopenStatusNotInitialized",
        c"miopenStatusInvalidValue",
        c"miopenStatusBadParm",
        c"miopenStatusAllocFailed",
        c"miopenStatusInternalError",
        c"miopenStatusNotImplemented",
        c"miopenStatusUnknownError",
        c"miopenStatusUnsupportedOp",
        c"miopenStatusGpuOperationsSkipped",
        c"miopenStatusVersionMismatch",
    ];
    NAMES.get(error.0 as usize).copied().unwrap_or(c"Unknown error status").as_ptr()
}
