//! Stream capture. This file records which thread began which capture, because CUDA's driver invalidates a
//! capture whose end is called on the wrong stream or thread, and HIP does not. Modes and statuses have
//! CUDA's numbers.
#![allow(non_snake_case, reason = "HIP's names")]

use super::graphs::{forget_graph, remember_node};
use super::{check_not_null, give};
use crate::context::{Device, Outcome, check, driver, enter, status};
use crate::driver::{Graph, Stream};
use crate::handles::{GRAPHS, Object, stream_of};
use hip_sys::hip::*;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{c_uint, c_ulonglong};
use std::ptr::{null, null_mut};
use std::sync::{Arc, LazyLock};
use std::thread::{self, ThreadId};

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;
const RELAXED: c_uint = hipStreamCaptureMode::hipStreamCaptureModeRelaxed.0;
const ACTIVE: c_uint = hipStreamCaptureStatus::hipStreamCaptureStatusActive.0;
/// hipStreamPerThread, which denotes a different stream in each thread.
const PER_THREAD: usize = 2;

/// An active capture.
struct Capture {
    /// The driver's number for it.
    id: c_ulonglong,
    thread: ThreadId,
    mode: c_uint,
    /// The stream that it began on, as the driver's handle.
    stream: DriverStream,
    /// The device of the stream, by ordinal.
    device: usize,
    /// The handle of its graph, if a call has already asked for it.
    graph: Option<usize>,
}

struct DriverStream(Stream);
// SAFETY: S8: a driver's handle may be used from any thread.
unsafe impl Send for DriverStream {}

/// Identifies the stream that a capture began on: hipStreamPerThread denotes a different stream in each
/// thread and on each device.
type Origin = (usize, Option<(ThreadId, usize)>);

static CAPTURES: LazyLock<Mutex<HashMap<Origin, Capture>>> = LazyLock::new(Mutex::default);

fn origin(stream: hipStream_t, device: &Device) -> Origin {
    let stream = stream as usize;
    (stream, (stream == PER_THREAD).then(|| (thread::current().id(), device.ordinal)))
}

/// Whether the handle is that of a graph whose capture is active.
pub(super) fn is_unfinished(graph: hipGraph_t) -> bool {
    CAPTURES.lock().values().any(|capture| capture.graph == Some(graph as usize))
}

/// An error if the handle is that of a graph whose capture was invalidated: the driver may have destroyed
/// that graph already.
pub(super) fn check_unfinished(graph: hipGraph_t) -> Outcome {
    let captures = CAPTURES.lock();
    let mut all = captures.iter();
    let Some((origin, capture)) = all.find(|(_, capture)| capture.graph == Some(graph as usize)) else {
        return Ok(());
    };
    // A per-thread stream of another thread cannot be named here.
    if origin.1.is_some_and(|(thread, _)| thread != thread::current().id()) {
        return Err(VALUE);
    }
    match info(capture.stream.0) {
        Ok(info) if info.status == ACTIVE && info.id == capture.id => Ok(()),
        Ok(_) | Err(_) => {
            forget_graph(graph as usize);
            Err(VALUE)
        }
    }
}

/// Whether work submitted to the stream becomes part of a graph.
pub(super) fn is_capturing(stream: Stream) -> bool {
    let mut answer = 0;
    // SAFETY: S1, S11: a live stream and a live output pointer.
    let code = unsafe { (driver().cuStreamIsCapturing)(stream, &mut answer) };
    code == 0 && answer == ACTIVE
}

/// Notes that the stream is destroyed, and with it a capture that began on it.
pub(super) fn forget_stream(stream: hipStream_t, device: &Device) {
    if let Some(graph) = CAPTURES.lock().remove(&origin(stream, device)).and_then(|capture| capture.graph) {
        forget_graph(graph);
    }
}

/// Notes that the context of the device is destroyed, and with it every capture there.
pub(super) fn forget_device(ordinal: usize) {
    CAPTURES.lock().retain(|_, capture| capture.device != ordinal);
}

/// The driver's state of a stream's capture: the status, the capture's number, its graph, and the nodes that
/// the next node depends on.
struct Info {
    status: c_uint,
    id: c_ulonglong,
    graph: Graph,
    nodes: *const hipGraphNode_t,
    count: usize,
}

fn info(stream: Stream) -> Result<Info, hipError_t> {
    let mut info = Info { status: 0, id: 0, graph: null_mut(), nodes: null(), count: 0 };
    let Info { status, id, graph, nodes, count } = &mut info;
    // SAFETY: S1, S11: a live stream and live output pointers.
    check(unsafe {
        (driver().cuStreamGetCaptureInfo)(stream, status, id, graph, (&raw mut *nodes).cast(), count)
    })?;
    Ok(info)
}

pub(super) unsafe extern "C" fn hipStreamBeginCapture(
    stream: hipStream_t,
    mode: hipStreamCaptureMode,
) -> hipError_t {
    status(stream_of(stream).and_then(|(raw, device)| {
        if mode.0 > RELAXED {
            return Err(VALUE);
        }
        let mut captures = CAPTURES.lock();
        // SAFETY: S11: a live stream.
        check(unsafe { (driver().cuStreamBeginCapture)(raw, mode.0) })?;
        let (id, thread) = (info(raw)?.id, thread::current().id());
        let began_on = DriverStream(raw);
        let capture =
            Capture { id, thread, mode: mode.0, stream: began_on, device: device.ordinal, graph: None };
        captures.insert(origin(stream, device), capture);
        Ok(())
    }))
}

pub(super) unsafe extern "C" fn hipStreamEndCapture(stream: hipStream_t, out: *mut hipGraph_t) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        let (raw_stream, device) = stream_of(stream)?;
        let mut captures = CAPTURES.lock();
        match captures.get(&origin(stream, device)) {
            Some(capture) if capture.mode != RELAXED && capture.thread != thread::current().id() => {
                return Err(hipError_t::hipErrorStreamCaptureWrongThread);
            }
            None if is_capturing(raw_stream) => return Err(hipError_t::hipErrorStreamCaptureUnmatched),
            Some(_) | None => {}
        }
        let mut raw = null_mut();
        // SAFETY: S1, S11: a live stream and a live output pointer.
        let outcome = check(unsafe { (driver().cuStreamEndCapture)(raw_stream, &mut raw) });
        let known = captures.remove(&origin(stream, device)).and_then(|capture| capture.graph);
        let handle = match (outcome, known) {
            (Ok(()), Some(handle)) => handle,
            (Ok(()), None) => GRAPHS.insert(Arc::new(Object { raw, device, extra: () })),
            // A failed capture destroys its graph.
            (Err(_), Some(handle)) => {
                forget_graph(handle);
                0
            }
            (Err(_), None) => 0,
        };
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, handle as hipGraph_t) }?;
        outcome
    })())
}

pub(super) unsafe extern "C" fn hipStreamIsCapturing(
    stream: hipStream_t,
    out: *mut hipStreamCaptureStatus,
) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        let (stream, _) = stream_of(stream)?;
        let mut answer = 0;
        // SAFETY: S1, S11: a live stream and a live output pointer.
        check(unsafe { (driver().cuStreamIsCapturing)(stream, &mut answer) })?;
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, hipStreamCaptureStatus(answer)) }
    })())
}

/// The handle of an active capture's graph.
fn handle_of(info: &Info, device: &'static Device) -> Result<usize, hipError_t> {
    let mut captures = CAPTURES.lock();
    let capture = captures.values_mut().find(|capture| capture.id == info.id);
    // The capture was begun by the program's own calls of the driver, which also end it, so a handle of ours
    // could become stale.
    let capture = capture.ok_or(hipError_t::hipErrorStreamCaptureUnmatched)?;
    let insert = || GRAPHS.insert(Arc::new(Object { raw: info.graph, device, extra: () }));
    Ok(*capture.graph.get_or_insert_with(insert))
}

/// All output pointers but the first may be null.
pub(super) unsafe extern "C" fn hipStreamGetCaptureInfo_v2(
    stream: hipStream_t,
    out: *mut hipStreamCaptureStatus,
    id: *mut c_ulonglong,
    graph: *mut hipGraph_t,
    dependencies: *mut *const hipGraphNode_t,
    count: *mut usize,
) -> hipError_t {
    /// # Safety
    /// `out` is null or writable.
    unsafe fn give_if_asked<T>(out: *mut T, value: T) {
        if !out.is_null() {
            // SAFETY: S11: the caller's output pointer.
            unsafe { out.write(value) };
        }
    }
    status((|| {
        check_not_null(out)?;
        let (stream, device) = stream_of(stream)?;
        let info = info(stream)?;
        // SAFETY: S11: the caller's output pointers; the nodes stay in the driver's memory until the stream's
        // next operation.
        unsafe {
            if info.status == ACTIVE {
                let handle = handle_of(&info, device)?;
                for index in 0..info.count {
                    remember_node(*info.nodes.add(index), handle);
                }
                give_if_asked(id, info.id);
                give_if_asked(graph, handle as hipGraph_t);
                give_if_asked(dependencies, info.nodes);
                give_if_asked(count, info.count);
            }
            give(out, hipStreamCaptureStatus(info.status))
        }
    })())
}

pub(super) unsafe extern "C" fn hipThreadExchangeStreamCaptureMode(
    mode: *mut hipStreamCaptureMode,
) -> hipError_t {
    status((|| {
        check_not_null(mode)?;
        // SAFETY: S11: the caller's pointer to a mode.
        if unsafe { mode.cast::<c_uint>().read() } > RELAXED {
            return Err(VALUE);
        }
        enter()?;
        // SAFETY: S11: as above.
        check(unsafe { (driver().cuThreadExchangeStreamCaptureMode)(mode.cast()) })
    })())
}
