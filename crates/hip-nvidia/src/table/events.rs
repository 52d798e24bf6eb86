//! Events.
#![allow(non_snake_case, reason = "HIP's names")]

use super::{check_not_null, give};
use crate::context::{check, driver, enter, status};
use crate::handles::{EVENTS, Event, EventState, absent, event_of, stream_of};
use hip_sys::hip::{
    hipError_t, hipEvent_t, hipEventBlockingSync, hipEventDisableSystemFence, hipEventDisableTiming,
    hipEventInterprocess, hipStream_t,
};
use std::ffi::c_uint;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const HANDLE: hipError_t = hipError_t::hipErrorInvalidHandle;
const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;
/// hipEventReleaseToDevice and hipEventReleaseToSystem, which only affect AMD's cards.
const RELEASE_TO: c_uint = 0x4000_0000 | 0x8000_0000;
/// The flags that CUDA also has.
const CUDAS: c_uint = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess;

pub(super) unsafe extern "C" fn hipEventCreateWithFlags(out: *mut hipEvent_t, flags: c_uint) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        let known = CUDAS | hipEventDisableSystemFence | RELEASE_TO;
        if flags & !known != 0 || flags & RELEASE_TO == RELEASE_TO {
            return Err(VALUE);
        }
        let device = enter()?;
        let mut raw = null_mut();
        // SAFETY: S1: a live output pointer.
        check(unsafe { (driver().cuEventCreate)(&mut raw, flags & CUDAS) })?;
        let extra =
            EventState { timed: flags & hipEventDisableTiming == 0, recorded: AtomicBool::new(false) };
        let handle = EVENTS.insert(Arc::new(Event { raw, device, extra }));
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, handle as hipEvent_t) }
    })())
}

pub(super) unsafe extern "C" fn hipEventDestroy(event: hipEvent_t) -> hipError_t {
    status(EVENTS.remove(event as usize).map_err(absent).and_then(|event| {
        event.device.enter()?;
        // SAFETY: S11: it was live and its handle is removed.
        check(unsafe { (driver().cuEventDestroy)(event.raw) })
    }))
}

pub(super) unsafe extern "C" fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t {
    status((|| {
        let event = event_of(event)?;
        let (stream, device) = stream_of(stream)?;
        if device.ordinal != event.device.ordinal {
            return Err(HANDLE);
        }
        // SAFETY: S11: both are live.
        check(unsafe { (driver().cuEventRecord)(event.raw, stream) })?;
        event.extra.recorded.store(true, Ordering::Release);
        Ok(())
    })())
}

pub(super) unsafe extern "C" fn hipEventSynchronize(event: hipEvent_t) -> hipError_t {
    // SAFETY: S11: a live event.
    status(event_of(event).and_then(|event| check(unsafe { (driver().cuEventSynchronize)(event.raw) })))
}

pub(super) unsafe extern "C" fn hipEventQuery(event: hipEvent_t) -> hipError_t {
    // SAFETY: S11: a live event.
    status(event_of(event).and_then(|event| check(unsafe { (driver().cuEventQuery)(event.raw) })))
}

pub(super) unsafe extern "C" fn hipEventElapsedTime(
    milliseconds: *mut f32,
    start: hipEvent_t,
    stop: hipEvent_t,
) -> hipError_t {
    status((|| {
        check_not_null(milliseconds)?;
        let (start, stop) = (event_of(start)?, event_of(stop)?);
        let usable = |event: &Event| event.extra.timed && event.extra.recorded.load(Ordering::Acquire);
        if !usable(&start) || !usable(&stop) {
            return Err(HANDLE);
        }
        // SAFETY: S11: both are live, and the output pointer is the caller's.
        check(unsafe { (driver().cuEventElapsedTime)(milliseconds, start.raw, stop.raw) })
    })())
}
