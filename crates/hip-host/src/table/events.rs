//! Events.
#![allow(non_snake_case, reason = "HIP's names")]

use super::give;
use super::streams::{absent, stream_of};
use crate::adversary;
use crate::check;
use crate::context::{current, status};
use crate::device;
use crate::event::{Event, Moment, Recorded};
use crate::graph::capture;
use crate::work::Work;
use hip_sys::hip::{
    hipError_t, hipEvent_t, hipEventBlockingSync, hipEventDisableSystemFence, hipEventDisableTiming,
    hipEventInterprocess, hipStream_t,
};
use hip_sys::provider::Handles;
use std::ffi::c_uint;
use std::sync::{Arc, LazyLock};

const HANDLE: hipError_t = hipError_t::hipErrorInvalidHandle;
const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;
/// hipEventReleaseToDevice and hipEventReleaseToSystem.
const RELEASE_TO: c_uint = 0x4000_0000 | 0x8000_0000;

static EVENTS: LazyLock<Handles<Event>> = LazyLock::new(|| Handles::new(2));

/// The event of a handle.
pub(super) fn event_of(handle: hipEvent_t) -> Result<Arc<Event>, hipError_t> {
    EVENTS.get(handle as usize).map_err(absent)
}

pub(super) unsafe extern "C" fn hipEventCreateWithFlags(out: *mut hipEvent_t, flags: c_uint) -> hipError_t {
    status((|| {
        let known = hipEventBlockingSync
            | hipEventDisableTiming
            | hipEventInterprocess
            | hipEventDisableSystemFence
            | RELEASE_TO;
        let timed = flags & hipEventDisableTiming == 0;
        let between_processes = flags & hipEventInterprocess != 0;
        if out.is_null() || flags & !known != 0 || flags & RELEASE_TO == RELEASE_TO {
            return Err(VALUE);
        }
        if between_processes {
            return Err(if timed { VALUE } else { hipError_t::hipErrorNotSupported });
        }
        let device = current();
        device.healthy()?;
        let handle = EVENTS.insert(Arc::new(Event::new(device.ordinal, timed)));
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, handle as hipEvent_t) }
    })())
}

pub(super) unsafe extern "C" fn hipEventDestroy(event: hipEvent_t) -> hipError_t {
    status(EVENTS.remove(event as usize).map(drop).map_err(absent))
}

pub(super) unsafe extern "C" fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t {
    status((|| {
        let (event, stream) = (event_of(event)?, stream_of(stream)?);
        if event.device != stream.device {
            return Err(HANDLE);
        }
        stream.device().healthy()?;
        if capture::record(&event, &stream)? {
            return Ok(());
        }
        let moment = Arc::new(Moment::default());
        if let Some(point) = stream.submit(Work::Record(Arc::clone(&moment)), Vec::new())? {
            event.set(Recorded { point, moment });
        }
        Ok(())
    })())
}

pub(super) unsafe extern "C" fn hipEventSynchronize(event: hipEvent_t) -> hipError_t {
    status(event_of(event).and_then(|event| {
        capture::forbid_event(&event)?;
        if let Some(recorded) = event.recorded() {
            recorded.point.wait();
        }
        device::all()[event.device].healthy()
    }))
}

pub(super) unsafe extern "C" fn hipEventQuery(event: hipEvent_t) -> hipError_t {
    status(event_of(event).and_then(|event| {
        capture::forbid_event(&event)?;
        device::all()[event.device].healthy()?;
        let Some(recorded) = event.recorded() else { return Ok(()) };
        if let Some(adversary) = adversary::get() {
            adversary.poll(std::slice::from_ref(&recorded.point));
        }
        if recorded.point.reached() { Ok(()) } else { Err(hipError_t::hipErrorNotReady) }
    }))
}

pub(super) unsafe extern "C" fn hipEventElapsedTime(
    milliseconds: *mut f32,
    start: hipEvent_t,
    stop: hipEvent_t,
) -> hipError_t {
    status((|| {
        if milliseconds.is_null() {
            return Err(VALUE);
        }
        let events = [event_of(start)?, event_of(stop)?];
        if events.iter().any(|event| !event.timed) || events[0].device != events[1].device {
            return Err(HANDLE);
        }
        device::all()[events[0].device].healthy()?;
        let recorded = |event: &Event| event.recorded().ok_or(HANDLE);
        let (start, stop) = (recorded(&events[0])?, recorded(&events[1])?);
        let (Some(from), Some(to)) = (start.moment.time(), stop.moment.time()) else {
            return Err(hipError_t::hipErrorNotReady);
        };
        // Both have a time, so both points have been passed, even if the streams' counters lag behind. The
        // caller learns this now.
        check::passed(start.point.stamp.as_ref());
        check::passed(stop.point.stamp.as_ref());
        let elapsed = match to.checked_duration_since(from) {
            Some(forward) => forward.as_secs_f64(),
            None => -from.duration_since(to).as_secs_f64(),
        };
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(milliseconds, (elapsed * 1e3) as f32) }
    })())
}
