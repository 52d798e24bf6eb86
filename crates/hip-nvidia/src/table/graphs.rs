//! Graphs and user objects. Types of nodes, flags and results have CUDA's numbers.
#![allow(non_snake_case, reason = "HIP's names")]

use super::captures::{check_unfinished, is_unfinished};
use super::{give, place_is_there};
use crate::context::{Outcome, check, current, driver, enter, status};
use crate::driver::GraphNode;
use crate::handles::{EXECS, GRAPHS, Object, USER_OBJECTS, exec_of, graph_of, stream_of};
use cudarc::driver::sys::CUgraphExecUpdateResultInfo_st;
use hip_sys::hip::*;
use hip_sys::provider::Absent;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::{Arc, LazyLock};

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;

/// hipGraphUserObjectMove: the program's references become the graph's.
const MOVE: c_uint = 1;

/// The graph that each node is of, for the nodes that the program was told of: the driver would follow a stale one.
static NODES: LazyLock<Mutex<HashMap<usize, usize>>> = LazyLock::new(Mutex::default);

/// The program is told of a node of the graph with that handle.
pub(super) fn remember_node(node: hipGraphNode_t, graph: usize) {
    NODES.lock().insert(node as usize, graph);
}

/// The driver's graph is gone: so are the handle and the nodes.
pub(super) fn forget_graph(handle: usize) {
    forget_nodes(handle);
    // A reset of the device may have ended it already.
    let _ = GRAPHS.remove(handle);
}

fn forget_nodes(graph: usize) {
    NODES.lock().retain(|_, of| *of != graph);
}

/// The graph of a handle: a whole one, or that of a capture which goes on and is not spoilt.
fn usable(graph: hipGraph_t) -> Result<Arc<Object>, hipError_t> {
    let object = graph_of(graph)?;
    check_unfinished(graph)?;
    Ok(object)
}

/// The graph of a handle, if its capture has ended.
fn finished(graph: hipGraph_t) -> Result<Arc<Object>, hipError_t> {
    if is_unfinished(graph) { Err(VALUE) } else { graph_of(graph) }
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
    status((|| {
        if is_unfinished(graph) {
            return Err(VALUE);
        }
        let object = GRAPHS.remove(graph as usize).map_err(|absent| match absent {
            Absent::Unknown => VALUE,
            Absent::Destroyed => hipError_t::hipErrorIllegalState,
        })?;
        forget_nodes(graph as usize);
        object.device.enter()?;
        // SAFETY: S11: it was live, and its handle is gone.
        check(unsafe { (driver().cuGraphDestroy)(object.raw) })
    })())
}

pub(super) unsafe extern "C" fn hipGraphInstantiateWithFlags(
    place: *mut hipGraphExec_t,
    graph: hipGraph_t,
    flags: c_ulonglong,
) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        let graph = finished(graph)?;
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
        let (exec, whole) = (exec_of(exec)?, finished(graph)?);
        // A result that this version of the types does not know must not become one of their values.
        let mut info = MaybeUninit::<CUgraphExecUpdateResultInfo_st>::zeroed();
        // SAFETY: S1, S11: both are live, and the place too.
        let outcome = check(unsafe { (driver().cuGraphExecUpdate)(exec.raw, whole.raw, info.as_mut_ptr()) });
        // SAFETY: S15: zeroed, and written by the driver; read as numbers and addresses. The places are the caller's.
        unsafe {
            let info = info.as_ptr();
            let code = (&raw const (*info).result).cast::<c_uint>().read();
            let at = (&raw const (*info).errorNode).cast::<hipGraphNode_t>().read();
            if !at.is_null() {
                remember_node(at, graph as usize);
            }
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
        let object = usable(graph)?;
        // SAFETY: S11: a live graph; the caller's array has room for as many nodes as its count says, which the driver makes
        // the number of nodes written.
        unsafe {
            // Without an array the count need not hold anything.
            let room = if nodes.is_null() { 0 } else { *count };
            check((driver().cuGraphGetNodes)(object.raw, nodes.cast::<GraphNode>(), count))?;
            (0..room.min(*count)).for_each(|index| remember_node(*nodes.add(index), graph as usize));
        }
        Ok(())
    })())
}

pub(super) unsafe extern "C" fn hipGraphNodeGetType(
    node: hipGraphNode_t,
    place: *mut hipGraphNodeType,
) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        let graph_of_node = || NODES.lock().get(&(node as usize)).copied().ok_or(VALUE);
        usable(graph_of_node()? as hipGraph_t)?;
        // A spoilt capture has taken its nodes with it.
        graph_of_node()?;
        let mut answer = 0;
        // SAFETY: S1, S11: a live place and a node of a live graph.
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
        if destroy.is_none() || references > c_int::MAX as c_uint {
            return Err(VALUE);
        }
        let device = enter()?;
        let mut raw = null_mut();
        // SAFETY: S1, S11: a live place; the destructor and its argument are the program's word.
        check(unsafe { (driver().cuUserObjectCreate)(&mut raw, data, destroy, references, flags) })?;
        let handle = USER_OBJECTS.insert(Arc::new(Object { raw, device, extra: Mutex::new(references) }));
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
        let graph = usable(graph)?;
        let user_object = USER_OBJECTS.get(object as usize).map_err(|_| VALUE)?;
        let mut own = user_object.extra.lock();
        let moved = if flags == MOVE { count } else { 0 };
        let left = own.checked_sub(moved).ok_or(VALUE)?;
        // SAFETY: S11: both are live: the program has a reference to the object.
        check(unsafe { (driver().cuGraphRetainUserObject)(graph.raw, user_object.raw, count, flags) })?;
        *own = left;
        if left == 0 {
            // From here on the object ends with a graph, and the handle leads nowhere.
            let _ = USER_OBJECTS.remove(object as usize);
        }
        Ok(())
    })())
}
