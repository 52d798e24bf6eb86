//! Graphs and executable graphs.
#![allow(non_snake_case, reason = "HIP's names")]

use super::give;
use super::streams::stream_of;
use crate::context::status;
use crate::graph::{self, exec};
use hip_sys::hip::{
    hipError_t, hipGraph_t, hipGraphExec_t, hipGraphExecUpdateResult, hipGraphNode_t, hipGraphNodeType,
    hipStream_t,
};
use std::ffi::{c_uint, c_ulonglong};
use std::ptr::null_mut;

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;
/// None, hipGraphInstantiateFlagAutoFreeOnLaunch and hipGraphInstantiateFlagUseNodePriority. The flags have
/// no effect here, since no node allocates and nodes run one after the other.
const INSTANTIATE_FLAGS: [c_ulonglong; 3] = [0, 1, 8];

pub(super) unsafe extern "C" fn hipGraphCreate(out: *mut hipGraph_t, flags: c_uint) -> hipError_t {
    if out.is_null() || flags != 0 {
        return status(Err(VALUE));
    }
    // SAFETY: S11: the caller's output pointer.
    status(unsafe { give(out, graph::create() as hipGraph_t) })
}

pub(super) unsafe extern "C" fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t {
    status(graph::destroy(graph as usize))
}

pub(super) unsafe extern "C" fn hipGraphInstantiateWithFlags(
    out: *mut hipGraphExec_t,
    graph: hipGraph_t,
    flags: c_ulonglong,
) -> hipError_t {
    status((|| {
        if out.is_null() || !INSTANTIATE_FLAGS.contains(&flags) || graph::capture::writes(graph as usize) {
            return Err(VALUE);
        }
        let exec = exec::instantiate(&*graph::get(graph as usize)?);
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, exec as hipGraphExec_t) }
    })())
}

pub(super) unsafe extern "C" fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t {
    status((|| {
        let exec = exec::get(exec as usize)?;
        let stream = stream_of(stream)?;
        stream.device().healthy()?;
        exec.launch(&stream)
    })())
}

/// Nothing needs to be uploaded.
pub(super) unsafe extern "C" fn hipGraphUpload(exec: hipGraphExec_t, stream: hipStream_t) -> hipError_t {
    status(exec::get(exec as usize).and_then(|_| stream_of(stream)?.device().healthy()))
}

/// Queued launches still run.
pub(super) unsafe extern "C" fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t {
    status(exec::destroy(exec as usize))
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
        let (exec, graph) = (exec::get(exec as usize)?, graph::get(graph as usize)?);
        let (culprit, why, outcome) = match exec.update(&graph) {
            Ok(()) => (None, hipGraphExecUpdateResult::hipGraphExecUpdateSuccess, Ok(())),
            Err((culprit, why)) => (culprit, why, Err(hipError_t::hipErrorGraphExecUpdateFailure)),
        };
        let culprit = culprit.map_or(null_mut(), |handle| handle as hipGraphNode_t);
        // SAFETY: S11: the caller's output pointers.
        unsafe { give(node, culprit).and_then(|()| give(result, why)) }?;
        outcome
    })())
}

/// With a null node array, stores the number of nodes. Otherwise fills as many entries as the caller says
/// there are, the surplus with null, and stores how many nodes were written.
pub(super) unsafe extern "C" fn hipGraphGetNodes(
    graph: hipGraph_t,
    out: *mut hipGraphNode_t,
    count: *mut usize,
) -> hipError_t {
    status((|| {
        let graph = graph::get(graph as usize)?;
        if count.is_null() {
            return Err(VALUE);
        }
        let nodes = graph.nodes();
        if out.is_null() {
            // SAFETY: S11: the caller's output pointer.
            return unsafe { give(count, nodes.len()) };
        }
        // SAFETY: S11: the caller's count, and an array of that length.
        unsafe {
            for index in 0..*count {
                let node = nodes.get(index).map_or(null_mut(), |node| node.handle as hipGraphNode_t);
                out.add(index).write(node);
            }
            give(count, nodes.len().min(*count))
        }
    })())
}

pub(super) unsafe extern "C" fn hipGraphNodeGetType(
    node: hipGraphNode_t,
    out: *mut hipGraphNodeType,
) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(graph::node_type(node as usize).and_then(|kind| unsafe { give(out, kind) }))
}
