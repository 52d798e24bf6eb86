//! Stream capture.
#![allow(non_snake_case, reason = "HIP's names")]

use super::give;
use super::streams::{is_legacy, stream_of};
use crate::context::{Outcome, status};
use crate::graph::capture;
use hip_sys::hip::{
    hipError_t, hipGraph_t, hipGraphNode_t, hipStream_t, hipStreamCaptureMode, hipStreamCaptureStatus,
};
use std::ffi::c_ulonglong;
use std::ptr::null_mut;

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;

fn check_mode(mode: hipStreamCaptureMode) -> Outcome {
    if mode.0 <= hipStreamCaptureMode::hipStreamCaptureModeRelaxed.0 { Ok(()) } else { Err(VALUE) }
}

pub(super) unsafe extern "C" fn hipStreamBeginCapture(
    stream: hipStream_t,
    mode: hipStreamCaptureMode,
) -> hipError_t {
    status((|| {
        if is_legacy(stream) {
            return Err(hipError_t::hipErrorStreamCaptureUnsupported);
        }
        let stream = stream_of(stream)?;
        check_mode(mode)?;
        stream.device().healthy()?;
        capture::begin(&stream, mode)
    })())
}

/// If the capture has ended without a graph, the graph returned is null.
pub(super) unsafe extern "C" fn hipStreamEndCapture(stream: hipStream_t, out: *mut hipGraph_t) -> hipError_t {
    status((|| {
        if out.is_null() {
            return Err(VALUE);
        }
        if is_legacy(stream) {
            return Err(hipError_t::hipErrorIllegalState);
        }
        let (graph, outcome) = match capture::end(&stream_of(stream)?) {
            Ok(graph) => (graph as hipGraph_t, Ok(())),
            Err(refused) if refused.over => (null_mut(), Err(refused.error)),
            Err(refused) => return Err(refused.error),
        };
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, graph) }?;
        outcome
    })())
}

pub(super) unsafe extern "C" fn hipStreamIsCapturing(
    stream: hipStream_t,
    out: *mut hipStreamCaptureStatus,
) -> hipError_t {
    // SAFETY: S11: the caller's output pointer; the others are omitted.
    unsafe { hipStreamGetCaptureInfo_v2(stream, out, null_mut(), null_mut(), null_mut(), null_mut()) }
}

/// Only the first output pointer is required. The others are filled while the capture is active.
pub(super) unsafe extern "C" fn hipStreamGetCaptureInfo_v2(
    stream: hipStream_t,
    out: *mut hipStreamCaptureStatus,
    id: *mut c_ulonglong,
    graph: *mut hipGraph_t,
    dependencies: *mut *const hipGraphNode_t,
    count: *mut usize,
) -> hipError_t {
    status((|| {
        if out.is_null() {
            return Err(VALUE);
        }
        let info = capture::info(&stream_of(stream)?)?;
        let none = hipStreamCaptureStatus::hipStreamCaptureStatusNone;
        let answer = info.as_ref().map_or(none, |info| info.status);
        // SAFETY: S11: the caller's output pointers, of which all but the first may be null.
        unsafe {
            give(out, answer)?;
            let active = answer == hipStreamCaptureStatus::hipStreamCaptureStatusActive;
            if let Some(info) = info.filter(|_| active) {
                let _ = give(id, info.id);
                let _ = give(graph, info.graph as hipGraph_t);
                let _ = give(dependencies, info.dependencies.cast());
                let _ = give(count, info.count);
            }
        }
        Ok(())
    })())
}

pub(super) unsafe extern "C" fn hipThreadExchangeStreamCaptureMode(
    mode: *mut hipStreamCaptureMode,
) -> hipError_t {
    if mode.is_null() {
        return status(Err(VALUE));
    }
    // SAFETY: S11: the caller's mode, which is read and written.
    status(unsafe { check_mode(*mode).map(|()| *mode = capture::exchange_mode(*mode)) })
}
