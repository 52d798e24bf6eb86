//! Graphs and user objects. Node types, flags and results have CUDA's numbers.
#![allow(non_snake_case, reason = "HIP's names")]

use super::captures::{check_unfinished, is_unfinished};
use super::{check_not_null, give};
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

/// For each node that the program has received, its graph. The driver would dereference a stale node.
static NODES: LazyLock<Mutex<HashMap<usize, usize>>> = LazyLock::new(Mutex::default);

/// Notes that the program receives a node of the graph with that handle.
pub(super) fn remember_node(node: hipGraphNode_t, graph: usize) {
    NODES.lock().insert(node as usize, graph);
}

/// Notes that the driver's graph is destroyed: the handle and the nodes become invalid.
pub(super) fn forget_graph(handle: usize) {
    forget_nodes(handle);
    // A reset of the device may have removed it already.
    let _ = GRAPHS.remove(handle);
}

fn forget_nodes(graph: usize) {
    NODES.lock().retain(|_, of| *of != graph);
}

/// The graph of a handle: a finished one, or that of an active capture that is not invalidated.
fn usable(graph: hipGraph_t) -> Result<Arc<Object>, hipError_t> {
    let object = graph_of(graph)?;
    check_unfinished(graph)?;
    Ok(object)
}

/// The graph of a handle, if its capture has ended.
fn finished(graph: hipGraph_t) -> Result<Arc<Object>, hipError_t> {
    if is_unfinished(graph) { Err(VALUE) } else { graph_of(graph) }
}

pub(super) unsafe extern "C" fn hipGraphCreate(out: *mut hipGraph_t, flags: c_uint) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        let device = enter()?;
        let mut raw = null_mut();
        // SAFETY: S1: a live output pointer.
        check(unsafe { (driver().cuGraphCreate)(&mut raw, flags) })?;
        let handle = GRAPHS.insert(Arc::new(Object { raw, device, extra: () }));
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, handle as hipGraph_t) }
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
        // SAFETY: S11: it was live and its handle is removed.
        check(unsafe { (driver().cuGraphDestroy)(object.raw) })
    })())
}

pub(super) unsafe extern "C" fn hipGraphInstantiateWithFlags(
    out: *mut hipGraphExec_t,
    graph: hipGraph_t,
    flags: c_ulonglong,
) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        let graph = finished(graph)?;
        let mut raw = null_mut();
        // SAFETY: S1, S11: a live output pointer and a live graph.
        check(unsafe { (driver().cuGraphInstantiateWithFlags)(&mut raw, graph.raw, flags) })?;
        let handle = EXECS.insert(Arc::new(Object { raw, device: graph.device, extra: () }));
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, handle as hipGraphExec_t) }
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
        // SAFETY: S11: it was live and its handle is removed.
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
        // A result that this version of the types does not have must not be read as an enum value.
        let mut info = MaybeUninit::<CUgraphExecUpdateResultInfo_st>::zeroed();
        // SAFETY: S1, S11: both are live, and so is the output buffer.
        let outcome = check(unsafe { (driver().cuGraphExecUpdate)(exec.raw, whole.raw, info.as_mut_ptr()) });
        // SAFETY: S15: zeroed, and written by the driver; read as numbers and addresses. The output pointers
        // are the caller's.
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
        check_not_null(count)?;
        let object = usable(graph)?;
        // SAFETY: S11: a live graph; the caller's array has as many entries as its count says; the driver
        // stores the number of nodes written in the count.
        unsafe {
            // Without an array the count may be uninitialised.
            let room = if nodes.is_null() { 0 } else { *count };
            check((driver().cuGraphGetNodes)(object.raw, nodes.cast::<GraphNode>(), count))?;
            (0..room.min(*count)).for_each(|index| remember_node(*nodes.add(index), graph as usize));
        }
        Ok(())
    })())
}

pub(super) unsafe extern "C" fn hipGraphNodeGetType(
    node: hipGraphNode_t,
    out: *mut hipGraphNodeType,
) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        let graph_of_node = || NODES.lock().get(&(node as usize)).copied().ok_or(VALUE);
        usable(graph_of_node()? as hipGraph_t)?;
        // Asked again, because an invalidated capture has destroyed its nodes.
        graph_of_node()?;
        let mut answer = 0;
        // SAFETY: S1, S11: a live output pointer and a node of a live graph.
        check(unsafe { (driver().cuGraphNodeGetType)(node.cast(), &mut answer) })?;
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, hipGraphNodeType(answer)) }
    })())
}

pub(super) unsafe extern "C" fn hipUserObjectCreate(
    out: *mut hipUserObject_t,
    data: *mut c_void,
    destroy: hipHostFn_t,
    references: c_uint,
    flags: c_uint,
) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        if destroy.is_none() || references > c_int::MAX as c_uint {
            return Err(VALUE);
        }
        let device = enter()?;
        let mut raw = null_mut();
        // SAFETY: S1, S11: a live output pointer; the program guarantees the destructor and its argument.
        check(unsafe { (driver().cuUserObjectCreate)(&mut raw, data, destroy, references, flags) })?;
        let handle = USER_OBJECTS.insert(Arc::new(Object { raw, device, extra: Mutex::new(references) }));
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, handle as hipUserObject_t) }
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
            // From here on only graphs hold references, and the handle becomes invalid.
            let _ = USER_OBJECTS.remove(object as usize);
        }
        Ok(())
    })())
}
