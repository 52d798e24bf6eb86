//! Streams.
#![allow(non_snake_case, reason = "HIP's names")]

use super::events::event_of;
use super::give;
use crate::adversary;
use crate::check;
use crate::context::{current, status};
use crate::device;
use crate::graph::capture;
use crate::stream::{self, Point, Stream};
use crate::work::{HostCall, Work};
use hip_sys::hip::{
    hipError_t, hipEvent_t, hipHostFn_t, hipStream_t, hipStreamDefault, hipStreamNonBlocking,
};
use hip_sys::provider::{Absent, Handles};
use std::cell::RefCell;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Arc, LazyLock};

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;
/// The least and the most urgent priority.
const PRIORITIES: (c_int, c_int) = (1, -1);
/// hipStreamLegacy and hipStreamPerThread.
const LEGACY: usize = 1;
const PER_THREAD: usize = 2;

static STREAMS: LazyLock<Handles<Stream>> = LazyLock::new(|| Handles::new(1));

/// The streams that hipStreamPerThread denotes in a thread, by device.
struct OfThread([Option<Arc<Stream>>; device::COUNT]);

impl Drop for OfThread {
    fn drop(&mut self) {
        self.0.iter().flatten().for_each(capture::forget);
    }
}

thread_local! {
    static OF_THREAD: RefCell<OfThread> = const { RefCell::new(OfThread([None, None])) };
}

/// The error for an invalid handle.
pub(super) fn absent(absent: Absent) -> hipError_t {
    match absent {
        Absent::Unknown => hipError_t::hipErrorInvalidHandle,
        Absent::Destroyed => hipError_t::hipErrorContextIsDestroyed,
    }
}

/// Whether a handle denotes the null stream.
pub(super) fn is_legacy(handle: hipStream_t) -> bool {
    [0, LEGACY].contains(&(handle as usize))
}

/// The stream that a handle denotes in the calling thread.
pub(crate) fn stream_of(handle: hipStream_t) -> Result<Arc<Stream>, hipError_t> {
    match handle as usize {
        0 | LEGACY => Ok(Arc::clone(&current().null)),
        PER_THREAD => {
            let found = OF_THREAD.try_with(|streams| {
                let device = current();
                let create = || Stream::create(device, hipStreamDefault, 0);
                Arc::clone(streams.borrow_mut().0[device.ordinal].get_or_insert_with(create))
            });
            // A thread that is exiting has released them.
            found.map_err(|_| hipError_t::hipErrorInvalidHandle)
        }
        handle => STREAMS.get(handle).map_err(absent),
    }
}

unsafe fn create(out: *mut hipStream_t, flags: c_uint, priority: c_int) -> hipError_t {
    if out.is_null() || ![hipStreamDefault, hipStreamNonBlocking].contains(&flags) {
        return status(Err(VALUE));
    }
    let device = current();
    if let Err(fault) = device.healthy() {
        return status(Err(fault));
    }
    let stream = Stream::create(device, flags, priority.clamp(PRIORITIES.1, PRIORITIES.0));
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { give(out, STREAMS.insert(stream) as hipStream_t) })
}

pub(super) unsafe extern "C" fn hipStreamCreateWithFlags(out: *mut hipStream_t, flags: c_uint) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    unsafe { create(out, flags, 0) }
}

pub(super) unsafe extern "C" fn hipStreamCreateWithPriority(
    out: *mut hipStream_t,
    flags: c_uint,
    priority: c_int,
) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    unsafe { create(out, flags, priority) }
}

/// Accepts any mask: the operating system decides which cores run a kernel.
pub(super) unsafe extern "C" fn hipExtStreamCreateWithCUMask(
    out: *mut hipStream_t,
    words: u32,
    mask: *const u32,
) -> hipError_t {
    if words == 0 || mask.is_null() {
        return status(Err(VALUE));
    }
    // SAFETY: S11: the caller's output pointer.
    unsafe { create(out, hipStreamDefault, 0) }
}

/// Destroys the handle. Queued operations still run.
pub(super) unsafe extern "C" fn hipStreamDestroy(stream: hipStream_t) -> hipError_t {
    status(STREAMS.remove(stream as usize).map(|stream| capture::forget(&stream)).map_err(absent))
}

pub(super) unsafe extern "C" fn hipStreamSynchronize(stream: hipStream_t) -> hipError_t {
    status(stream_of(stream).and_then(|stream| {
        capture::forbid_wait(&stream)?;
        let known = check::of_stream(&stream);
        stream::wait_for_all(&stream.pending());
        check::learn(known);
        stream.device().healthy()
    }))
}

pub(super) unsafe extern "C" fn hipStreamQuery(stream: hipStream_t) -> hipError_t {
    status(stream_of(stream).and_then(|stream| {
        capture::forbid_wait(&stream)?;
        stream.device().healthy()?;
        let known = check::of_stream(&stream);
        let pending = stream.pending();
        if let Some(adversary) = adversary::get() {
            adversary.poll(&pending);
        }
        if pending.iter().all(Point::reached) {
            check::learn(known);
            return Ok(());
        }
        Err(hipError_t::hipErrorNotReady)
    }))
}

pub(super) unsafe extern "C" fn hipStreamWaitEvent(
    stream: hipStream_t,
    event: hipEvent_t,
    flags: c_uint,
) -> hipError_t {
    status((|| {
        let (event, stream) = (event_of(event)?, stream_of(stream)?);
        if flags != 0 {
            return Err(VALUE);
        }
        stream.device().healthy()?;
        if capture::wait(&stream, &event)? {
            return Ok(());
        }
        // An event that was never recorded is not waited for.
        if let Some(recorded) = event.recorded() {
            stream.submit(Work::Nothing, vec![recorded.point])?;
        }
        Ok(())
    })())
}

pub(super) unsafe extern "C" fn hipStreamGetFlags(stream: hipStream_t, flags: *mut c_uint) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(stream_of(stream).and_then(|stream| unsafe { give(flags, stream.flags) }))
}

pub(super) unsafe extern "C" fn hipStreamGetPriority(
    stream: hipStream_t,
    priority: *mut c_int,
) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(stream_of(stream).and_then(|stream| unsafe { give(priority, stream.priority) }))
}

/// Either output pointer may be null.
pub(super) unsafe extern "C" fn hipDeviceGetStreamPriorityRange(
    least: *mut c_int,
    greatest: *mut c_int,
) -> hipError_t {
    // SAFETY: S11: the caller's output pointers.
    unsafe {
        let _ = give(least, PRIORITIES.0);
        let _ = give(greatest, PRIORITIES.1);
    }
    status(Ok(()))
}

pub(super) unsafe extern "C" fn hipLaunchHostFunc(
    stream: hipStream_t,
    function: hipHostFn_t,
    data: *mut c_void,
) -> hipError_t {
    status(stream_of(stream).and_then(|stream| {
        if function.is_none() {
            return Err(VALUE);
        }
        stream.device().healthy()?;
        stream.submit(Work::Host(HostCall { function, data }), Vec::new()).map(drop)
    }))
}
