//! Streams.
#![allow(non_snake_case, reason = "HIP's names")]

use super::captures::forget_stream;
use super::{check_not_null, give};
use crate::context::{Outcome, check, driver, enter, status};
use crate::handles::{STREAMS, Stream, absent, event_of, stream_of};
use hip_sys::hip::{
    hipError_t, hipEvent_t, hipHostFn_t, hipStream_t, hipStreamDefault, hipStreamNonBlocking,
};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;

unsafe fn create(out: *mut hipStream_t, flags: c_uint, priority: c_int) -> Outcome {
    check_not_null(out)?;
    if ![hipStreamDefault, hipStreamNonBlocking].contains(&flags) {
        return Err(VALUE);
    }
    let device = enter()?;
    let mut raw = null_mut();
    // SAFETY: S1: a live output pointer. A priority out of range is clamped by the driver.
    check(unsafe { (driver().cuStreamCreateWithPriority)(&mut raw, flags, priority) })?;
    let handle = STREAMS.insert(Arc::new(Stream { raw, device, extra: () }));
    // SAFETY: S11: the caller's output pointer.
    unsafe { give(out, handle as hipStream_t) }
}

pub(super) unsafe extern "C" fn hipStreamCreateWithFlags(out: *mut hipStream_t, flags: c_uint) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { create(out, flags, 0) })
}

pub(super) unsafe extern "C" fn hipStreamCreateWithPriority(
    out: *mut hipStream_t,
    flags: c_uint,
    priority: c_int,
) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { create(out, flags, priority) })
}

/// CUDA's green contexts bind streams to a number of multiprocessors, not to a mask.
pub(super) unsafe extern "C" fn hipExtStreamCreateWithCUMask(
    out: *mut hipStream_t,
    words: u32,
    mask: *const u32,
) -> hipError_t {
    let bad = out.is_null() || words == 0 || mask.is_null();
    status(Err(if bad { VALUE } else { hipError_t::hipErrorNotSupported }))
}

/// Destroys the handle. Queued operations still run.
pub(super) unsafe extern "C" fn hipStreamDestroy(handle: hipStream_t) -> hipError_t {
    status(STREAMS.remove(handle as usize).map_err(absent).and_then(|stream| {
        stream.device.enter()?;
        forget_stream(handle, stream.device);
        // SAFETY: S11: it was live and its handle is removed.
        check(unsafe { (driver().cuStreamDestroy)(stream.raw) })
    }))
}

pub(super) unsafe extern "C" fn hipStreamSynchronize(stream: hipStream_t) -> hipError_t {
    // SAFETY: S11: a live stream.
    status(stream_of(stream).and_then(|(stream, _)| check(unsafe { (driver().cuStreamSynchronize)(stream) })))
}

pub(super) unsafe extern "C" fn hipStreamQuery(stream: hipStream_t) -> hipError_t {
    // SAFETY: S11: a live stream.
    status(stream_of(stream).and_then(|(stream, _)| check(unsafe { (driver().cuStreamQuery)(stream) })))
}

pub(super) unsafe extern "C" fn hipStreamWaitEvent(
    stream: hipStream_t,
    event: hipEvent_t,
    flags: c_uint,
) -> hipError_t {
    status((|| {
        let event = event_of(event)?;
        let (stream, _) = stream_of(stream)?;
        if flags != 0 {
            return Err(VALUE);
        }
        // SAFETY: S11: both are live.
        check(unsafe { (driver().cuStreamWaitEvent)(stream, event.raw, 0) })
    })())
}

pub(super) unsafe extern "C" fn hipStreamGetFlags(stream: hipStream_t, flags: *mut c_uint) -> hipError_t {
    status(check_not_null(flags).and_then(|()| stream_of(stream)).and_then(|(stream, _)| {
        // SAFETY: S11: a live stream and the caller's output pointer.
        check(unsafe { (driver().cuStreamGetFlags)(stream, flags) })
    }))
}

pub(super) unsafe extern "C" fn hipStreamGetPriority(
    stream: hipStream_t,
    priority: *mut c_int,
) -> hipError_t {
    status(check_not_null(priority).and_then(|()| stream_of(stream)).and_then(|(stream, _)| {
        // SAFETY: S11: a live stream and the caller's output pointer.
        check(unsafe { (driver().cuStreamGetPriority)(stream, priority) })
    }))
}

/// Either output pointer may be null.
pub(super) unsafe extern "C" fn hipDeviceGetStreamPriorityRange(
    least: *mut c_int,
    greatest: *mut c_int,
) -> hipError_t {
    // SAFETY: S11: the caller's output pointers; the driver accepts null.
    status(enter().and_then(|_| check(unsafe { (driver().cuCtxGetStreamPriorityRange)(least, greatest) })))
}

pub(super) unsafe extern "C" fn hipLaunchHostFunc(
    stream: hipStream_t,
    function: hipHostFn_t,
    data: *mut c_void,
) -> hipError_t {
    status(stream_of(stream).and_then(|(stream, _)| {
        if function.is_none() {
            return Err(VALUE);
        }
        // SAFETY: S11: a live stream; the program guarantees the function and its argument.
        check(unsafe { (driver().cuLaunchHostFunc)(stream, function, data) })
    }))
}
