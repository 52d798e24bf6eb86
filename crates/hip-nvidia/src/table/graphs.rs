//! Stream capture, graphs and user objects. Modes, types of nodes, flags and results have CUDA's numbers.
#![allow(non_snake_case, reason = "HIP's names")]

use super::{give, place_is_there};
use crate::context::{Device, Outcome, check, current, driver, enter, status};
use crate::driver::{Graph, GraphNode};
use crate::handles::{EXECS, GRAPHS, Object, USER_OBJECTS, exec_of, graph_of, stream_of, user_object_of};
use cudarc::driver::sys::CUgraphExecUpdateResultInfo_st;
use hip_sys::hip::*;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{c_uint, c_ulonglong, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::{Arc, LazyLock};

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;

/// Handles of graphs that are still being captured and were asked about, by the driver's address.
static CAPTURING: LazyLock<Mutex<HashMap<usize, usize>>> = LazyLock::new(Mutex::default);

/// The handle of a graph whose capture goes on.
fn handle_of(raw: Graph, device: &'static Device) -> usize {
    let insert = || GRAPHS.insert(Arc::new(Object { raw, device, extra: () }));
    *CAPTURING.lock().entry(raw as usize).or_insert_with(insert)
}

pub(super) unsafe extern "C" fn hipStreamBeginCapture(
    stream: hipStream_t,
    mode: hipStreamCaptureMode,
) -> hipError_t {
    status(stream_of(stream).and_then(|(stream, _)| {
        if mode.0 > hipStreamCaptureMode::hipStreamCaptureModeRelaxed.0 {
            return Err(VALUE);
        }
        // SAFETY: S11: a live stream.
        check(unsafe { (driver().cuStreamBeginCapture)(stream, mode.0) })
    }))
}

pub(super) unsafe extern "C" fn hipStreamEndCapture(
    stream: hipStream_t,
    place: *mut hipGraph_t,
) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        let (stream, device) = stream_of(stream)?;
        let mut raw = null_mut();
        // SAFETY: S1, S11: a live stream and a live place.
        check(unsafe { (driver().cuStreamEndCapture)(stream, &mut raw) })?;
        let known = CAPTURING.lock().remove(&(raw as usize));
        let handle = known.unwrap_or_else(|| GRAPHS.insert(Arc::new(Object { raw, device, extra: () })));
        // SAFETY: S11: the caller's place for the result.
        unsafe { give(place, handle as hipGraph_t) }
    })())
}

pub(super) unsafe extern "C" fn hipStreamIsCapturing(
    stream: hipStream_t,
    place: *mut hipStreamCaptureStatus,
) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        let (stream, _) = stream_of(stream)?;
        let mut answer = 0;
        // SAFETY: S1, S11: a live stream and a live place.
        check(unsafe { (driver().cuStreamIsCapturing)(stream, &mut answer) })?;
        // SAFETY: S11: the caller's place for the result.
        unsafe { give(place, hipStreamCaptureStatus(answer)) }
    })())
}

/// All places but the first may be null.
pub(super) unsafe extern "C" fn hipStreamGetCaptureInfo_v2(
    stream: hipStream_t,
    place: *mut hipStreamCaptureStatus,
    id: *mut c_ulonglong,
    graph: *mut hipGraph_t,
    dependencies: *mut *const hipGraphNode_t,
    count: *mut usize,
) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        let (stream, device) = stream_of(stream)?;
        let (mut answer, mut raw) = (0, null_mut());
        let raw_place = if graph.is_null() { null_mut() } else { &raw mut raw };
        // SAFETY: S1, S11: a live stream, live places, and the caller's.
        check(unsafe {
            (driver().cuStreamGetCaptureInfo)(stream, &mut answer, id, raw_place, dependencies.cast(), count)
        })?;
        // SAFETY: S11: the caller's places for the results.
        unsafe {
            if !raw.is_null() {
                give(graph, handle_of(raw, device) as hipGraph_t)?;
            }
            give(place, hipStreamCaptureStatus(answer))
        }
    })())
}

pub(super) unsafe extern "C" fn hipThreadExchangeStreamCaptureMode(
    mode: *mut hipStreamCaptureMode,
) -> hipError_t {
    status((|| {
        place_is_there(mode)?;
        enter()?;
        // SAFETY: S11: the caller's place, which holds a number.
        check(unsafe { (driver().cuThreadExchangeStreamCaptureMode)(mode.cast()) })
    })())
}

pub(super) unsafe extern "C" fn hipGraphCreate(place: *mut hipGraph_t, flags: c_uint) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        let device = enter()?;
        let mut raw = null_mut();
        // SAFETY: S1: a live place.
        check(unsafe { (driver().cuGraphCreate)(&mut raw, flags) })?;
        let handle = GRAPHS.insert(Arc::new(Object { raw, device, extra: () }));
        // SAFETY: S11: the caller's place for the result.
        unsafe { give(place, handle as hipGraph_t) }
    })())
}

pub(super) unsafe extern "C" fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t {
    status(GRAPHS.remove(graph as usize).map_err(|_| VALUE).and_then(|graph| {
        graph.device.enter()?;
        // SAFETY: S11: it was live, and its handle is gone.
        check(unsafe { (driver().cuGraphDestroy)(graph.raw) })
    }))
}

pub(super) unsafe extern "C" fn hipGraphInstantiateWithFlags(
    place: *mut hipGraphExec_t,
    graph: hipGraph_t,
    flags: c_ulonglong,
) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        let graph = graph_of(graph)?;
        let mut raw = null_mut();
        // SAFETY: S1, S11: a live place and a live graph.
        check(unsafe { (driver().cuGraphInstantiateWithFlags)(&mut raw, graph.raw, flags) })?;
        let handle = EXECS.insert(Arc::new(Object { raw, device: graph.device, extra: () }));
        // SAFETY: S11: the caller's place for the result.
        unsafe { give(place, handle as hipGraphExec_t) }
    })())
}

fn on_stream(
    exec: hipGraphExec_t,
    stream: hipStream_t,
    call: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_uint,
) -> Outcome {
    let exec = exec_of(exec)?;
    let (stream, _) = stream_of(stream)?;
    // SAFETY: S11: both are live.
    check(unsafe { call(exec.raw, stream) })
}

pub(super) unsafe extern "C" fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t {
    status(current().and_then(|_| on_stream(exec, stream, driver().cuGraphLaunch)))
}

pub(super) unsafe extern "C" fn hipGraphUpload(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t {
    status(current().and_then(|_| on_stream(exec, stream, driver().cuGraphUpload)))
}

pub(super) unsafe extern "C" fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t {
    status(EXECS.remove(exec as usize).map_err(|_| VALUE).and_then(|exec| {
        exec.device.enter()?;
        // SAFETY: S11: it was live, and its handle is gone.
        check(unsafe { (driver().cuGraphExecDestroy)(exec.raw) })
    }))
}

pub(super) unsafe extern "C" fn hipGraphExecUpdate(
    exec: hipGraphExec_t,
    graph: hipGraph_t,
    node: *mut hipGraphNode_t,
    result: *mut hipGraphExecUpdateResult,
) -> hipError_t {
    status((|| {
        if node.is_null() || result.is_null() {
            return Err(VALUE);
        }
        let (exec, graph) = (exec_of(exec)?, graph_of(graph)?);
        // A result that this version of the types does not know must not become one of their values.
        let mut info = MaybeUninit::<CUgraphExecUpdateResultInfo_st>::zeroed();
        // SAFETY: S1, S11: both are live, and the place too.
        let outcome = check(unsafe { (driver().cuGraphExecUpdate)(exec.raw, graph.raw, info.as_mut_ptr()) });
        // SAFETY: S15: zeroed, and written by the driver; read as numbers and addresses. The places are the caller's.
        unsafe {
            let info = info.as_ptr();
            let code = (&raw const (*info).result).cast::<c_uint>().read();
            let at = (&raw const (*info).errorNode).cast::<hipGraphNode_t>().read();
            give(node, at)?;
            give(result, hipGraphExecUpdateResult(code))?;
        }
        outcome
    })())
}

pub(super) unsafe extern "C" fn hipGraphGetNodes(
    graph: hipGraph_t,
    nodes: *mut hipGraphNode_t,
    count: *mut usize,
) -> hipError_t {
    status((|| {
        place_is_there(count)?;
        let graph = graph_of(graph)?;
        // SAFETY: S11: a live graph; the caller's array has room for as many nodes as its count says.
        check(unsafe { (driver().cuGraphGetNodes)(graph.raw, nodes.cast::<GraphNode>(), count) })
    })())
}

pub(super) unsafe extern "C" fn hipGraphNodeGetType(
    node: hipGraphNode_t,
    place: *mut hipGraphNodeType,
) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        if node.is_null() {
            return Err(VALUE);
        }
        enter()?;
        let mut answer = 0;
        // SAFETY: S1, S11: a live place; the node is the caller's word, of a graph that lives.
        check(unsafe { (driver().cuGraphNodeGetType)(node.cast(), &mut answer) })?;
        // SAFETY: S11: the caller's place for the result.
        unsafe { give(place, hipGraphNodeType(answer)) }
    })())
}

pub(super) unsafe extern "C" fn hipUserObjectCreate(
    place: *mut hipUserObject_t,
    data: *mut c_void,
    destroy: hipHostFn_t,
    references: c_uint,
    flags: c_uint,
) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        if data.is_null() || destroy.is_none() {
            return Err(VALUE);
        }
        let device = enter()?;
        let mut raw = null_mut();
        // SAFETY: S1, S11: a live place; the destructor and its argument are the program's word.
        check(unsafe { (driver().cuUserObjectCreate)(&mut raw, data, destroy, references, flags) })?;
        let handle = USER_OBJECTS.insert(Arc::new(Object { raw, device, extra: () }));
        // SAFETY: S11: the caller's place for the result.
        unsafe { give(place, handle as hipUserObject_t) }
    })())
}

pub(super) unsafe extern "C" fn hipGraphRetainUserObject(
    graph: hipGraph_t,
    object: hipUserObject_t,
    count: c_uint,
    flags: c_uint,
) -> hipError_t {
    status((|| {
        let (graph, object) = (graph_of(graph)?, user_object_of(object)?);
        // SAFETY: S11: both are live.
        check(unsafe { (driver().cuGraphRetainUserObject)(graph.raw, object.raw, count, flags) })
    })())
}
