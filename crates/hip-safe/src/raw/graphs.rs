//! HIP's functions for captures and graphs.

use super::{Failure, Result, status};
use crate::handle::Handle;
use hip_sys::hip::*;
use hip_sys::{Platform, PlatformKind};
use std::ptr::null_mut;

/// An executable graph refused an update.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) failure: Failure,
    pub(crate) reason: hipGraphExecUpdateResult,
}

/// Calls a function of the table by its C name and reads its status.
macro_rules! call {
    ($platform:expr, $name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: S1: each use says why its arguments are what the C function asks for.
        status($platform, stringify!($name), unsafe { ($platform.hip().$name)($($argument),*) })
    };
}

/// Begins a capture in relaxed mode, which forbids no call. This crate refuses calls that would disturb the capture.
pub(crate) unsafe fn stream_begin_capture(p: &Platform, stream: hipStream_t) -> Result<()> {
    // SAFETY: S1: the stream is live, the mode one that the function knows.
    call!(p, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeRelaxed))
}

pub(crate) unsafe fn stream_end_capture(p: &Platform, stream: hipStream_t) -> Result<Handle<ihipGraph>> {
    let mut graph = null_mut();
    // SAFETY: S1: the stream is live, and so is the out-pointer.
    call!(p, hipStreamEndCapture(stream, &mut graph))?;
    Ok(Handle::new(graph))
}

/// Whether the stream captures, including a capture that is invalidated.
pub(crate) unsafe fn stream_is_capturing(p: &Platform, stream: hipStream_t) -> Result<bool> {
    let mut answer = hipStreamCaptureStatus::hipStreamCaptureStatusNone;
    // SAFETY: S1: the stream is live, and so is the out-pointer.
    call!(p, hipStreamIsCapturing(stream, &mut answer))?;
    Ok(answer != hipStreamCaptureStatus::hipStreamCaptureStatusNone)
}

pub(crate) unsafe fn graph_destroy(p: &Platform, graph: Handle<ihipGraph>) -> Result<()> {
    // SAFETY: S1, S4: the caller owns the graph and gives it up.
    call!(p, hipGraphDestroy(graph.raw()))
}

pub(crate) unsafe fn graph_nodes(p: &Platform, graph: Handle<ihipGraph>) -> Result<Vec<hipGraphNode_t>> {
    let mut count = 0;
    // SAFETY: S1: the graph is live, and so is the out-pointer; without an array for the nodes only their number is written.
    call!(p, hipGraphGetNodes(graph.raw(), null_mut(), &mut count))?;
    let mut nodes = vec![null_mut(); count];
    if count > 0 {
        // SAFETY: S1: the graph is live, and there is room for as many nodes as the count says.
        call!(p, hipGraphGetNodes(graph.raw(), nodes.as_mut_ptr(), &mut count))?;
        nodes.truncate(count);
    }
    Ok(nodes)
}

/// Whether a node allocates memory or frees it.
pub(crate) unsafe fn node_is_of_memory(p: &Platform, node: hipGraphNode_t) -> Result<bool> {
    let version = p.version();
    if p.kind == PlatformKind::Amd && (version.major, version.minor) < (5, 3) {
        // There were none, and these numbers meant copies.
        return Ok(false);
    }
    let mut answer = hipGraphNodeType::hipGraphNodeTypeEmpty;
    // SAFETY: S1: the node's graph is live, and so is the out-pointer.
    call!(p, hipGraphNodeGetType(node, &mut answer))?;
    let of_memory = [hipGraphNodeType::hipGraphNodeTypeMemAlloc, hipGraphNodeType::hipGraphNodeTypeMemFree];
    Ok(of_memory.contains(&answer))
}

pub(crate) unsafe fn graph_instantiate(
    p: &Platform,
    graph: Handle<ihipGraph>,
) -> Result<Handle<hipGraphExec>> {
    let mut exec = null_mut();
    // SAFETY: S1, S3: the graph is live, and so is the out-pointer; the caller made the device current.
    call!(p, hipGraphInstantiateWithFlags(&mut exec, graph.raw(), 0))?;
    Ok(Handle::new(exec))
}

pub(crate) unsafe fn graph_launch(
    p: &Platform,
    exec: Handle<hipGraphExec>,
    stream: hipStream_t,
) -> Result<()> {
    // SAFETY: S1: both are live.
    call!(p, hipGraphLaunch(exec.raw(), stream))
}

/// What the second result says goes with the first one's failure only.
pub(crate) unsafe fn graph_exec_update(
    p: &Platform,
    exec: Handle<hipGraphExec>,
    graph: Handle<ihipGraph>,
) -> std::result::Result<(), Refused> {
    let (mut node, mut reason) = (null_mut(), hipGraphExecUpdateResult::hipGraphExecUpdateSuccess);
    // SAFETY: S1: both are live, and so are the out-pointers.
    let answer = call!(p, hipGraphExecUpdate(exec.raw(), graph.raw(), &mut node, &mut reason));
    answer.map_err(|failure| Refused { failure, reason })
}

pub(crate) unsafe fn graph_exec_destroy(p: &Platform, exec: Handle<hipGraphExec>) -> Result<()> {
    // SAFETY: S1, S4: the caller owns it and gives it up; its launches are complete.
    call!(p, hipGraphExecDestroy(exec.raw()))
}
