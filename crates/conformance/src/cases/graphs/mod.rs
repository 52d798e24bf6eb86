//! Graphs: capture, errors during a capture, launches, updates, user objects.
//!
//! If a code is not in the behaviour table, the case names its source: hip-tests (HIP's own test suite) or
//! clr (the source of AMD's runtime).

mod capture;
mod execute;
mod fork;
mod handles;
mod illegal;
mod kernel;
mod modes;
mod status;
mod update;
mod user_objects;

use super::prelude::*;
use hip_sys::HipTable;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The files' lists.
pub(crate) const LISTS: &[&[Case]] = &[
    capture::CASES,
    kernel::CASES,
    fork::CASES,
    status::CASES,
    illegal::CASES,
    modes::CASES,
    execute::CASES,
    handles::CASES,
    update::CASES,
    user_objects::CASES,
];

const GLOBAL: hipStreamCaptureMode = hipStreamCaptureMode::hipStreamCaptureModeGlobal;
const THREAD_LOCAL: hipStreamCaptureMode = hipStreamCaptureMode::hipStreamCaptureModeThreadLocal;
const RELAXED: hipStreamCaptureMode = hipStreamCaptureMode::hipStreamCaptureModeRelaxed;
const MODES: [hipStreamCaptureMode; 3] = [GLOBAL, THREAD_LOCAL, RELAXED];

/// The stream of the calling thread.
const PER_THREAD: hipStream_t = 2 as hipStream_t;

const KERNEL: u32 = 0;
const MEMCPY: u32 = 1;
const MEMSET: u32 = 2;
const HOST: u32 = 3;
const CHILD: u32 = 4;
const ALLOCATE: u32 = 10;
const FREE: u32 = 11;

/// A graph that is destroyed when it is dropped.
struct Graph<'b> {
    raw: hipGraph_t,
    hip: &'b HipTable,
}

/// An executable graph that is destroyed when it is dropped.
struct Exec<'b> {
    raw: hipGraphExec_t,
    hip: &'b HipTable,
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        // SAFETY: S4: our own graph, or one that was destroyed already, which the function refuses.
        unsafe { (self.hip.hipGraphDestroy)(self.raw) };
    }
}

impl Drop for Exec<'_> {
    fn drop(&mut self) {
        // SAFETY: S4: our own executable graph.
        unsafe { (self.hip.hipGraphExecDestroy)(self.raw) };
    }
}

/// Begins a capture in global mode.
#[track_caller]
fn begin(b: &Bench, stream: hipStream_t) -> Outcome {
    ok!(b, hipStreamBeginCapture(stream, GLOBAL));
    Ok(())
}

/// Ends a capture, which has to return a graph.
#[track_caller]
fn end(b: &Bench, stream: hipStream_t) -> Result<Graph<'_>, Failure> {
    let mut raw = null_mut();
    ok!(b, hipStreamEndCapture(stream, &mut raw));
    ensure(!raw.is_null(), "a capture that ended well gave no graph")?;
    Ok(Graph { raw, hip: b.hip() })
}

/// Ends an invalidated capture: the code is 901 and there is no graph. The stream is free afterwards.
#[track_caller]
fn end_spoilt(b: &Bench, stream: hipStream_t) -> Outcome {
    let mut raw = dangling();
    expect!(b, hipStreamEndCapture(stream, &mut raw) => CAPTURE_INVALIDATED);
    same("the graph", raw, null_mut())?;
    same("the stream's status afterwards", status(b, stream)?, 0)
}

/// A pointer that a function is expected to replace.
fn dangling<T>() -> *mut T {
    std::ptr::dangling_mut()
}

#[track_caller]
fn instantiate<'b>(b: &'b Bench, graph: &Graph<'_>) -> Result<Exec<'b>, Failure> {
    let mut raw = null_mut();
    ok!(b, hipGraphInstantiateWithFlags(&mut raw, graph.raw, 0));
    Ok(Exec { raw, hip: b.hip() })
}

/// Launches and waits.
#[track_caller]
fn run(b: &Bench, exec: &Exec<'_>, stream: hipStream_t) -> Outcome {
    ok!(b, hipGraphLaunch(exec.raw, stream); hipStreamSynchronize(stream));
    Ok(())
}

/// Instantiates the graph and runs it once.
#[track_caller]
fn run_once(b: &Bench, graph: &Graph<'_>, stream: hipStream_t) -> Outcome {
    run(b, &instantiate(b, graph)?, stream)
}

/// 0: not captured, 1: captured, 2: captured, but the capture is invalidated.
#[track_caller]
fn status(b: &Bench, stream: hipStream_t) -> Result<u32, Failure> {
    let mut status = hipStreamCaptureStatus(9);
    ok!(b, hipStreamIsCapturing(stream, &mut status));
    Ok(status.0)
}

#[track_caller]
fn node_count(b: &Bench, graph: hipGraph_t) -> Result<usize, Failure> {
    let mut count = usize::MAX;
    ok!(b, hipGraphGetNodes(graph, null_mut(), &mut count));
    Ok(count)
}

/// The types of all nodes, sorted.
#[track_caller]
fn node_types(b: &Bench, graph: &Graph<'_>) -> Result<Vec<u32>, Failure> {
    let mut count = node_count(b, graph.raw)?;
    let mut nodes = vec![null_mut(); count];
    if count > 0 {
        ok!(b, hipGraphGetNodes(graph.raw, nodes.as_mut_ptr(), &mut count));
    }
    let types = nodes.iter().map(|node| node_type(b, *node));
    let mut types = types.collect::<Result<Vec<u32>, Failure>>()?;
    types.sort_unstable();
    Ok(types)
}

#[track_caller]
fn node_type(b: &Bench, node: hipGraphNode_t) -> Result<u32, Failure> {
    let mut kind = hipGraphNodeType(99);
    ok!(b, hipGraphNodeGetType(node, &mut kind));
    Ok(kind.0)
}

/// Submits a fill of `count` words to a stream.
#[track_caller]
fn fill(b: &Bench, out: *mut c_void, value: i32, count: usize, stream: hipStream_t) -> Outcome {
    ok!(b, hipMemsetD32Async(out, value, count, stream));
    Ok(())
}

/// Submits a copy of one word to a stream.
#[track_caller]
fn copy_word(b: &Bench, to: *mut c_void, from: *const c_void, stream: hipStream_t) -> Outcome {
    ok!(b, hipMemcpyAsync(to, from, 4, hipMemcpyKind::hipMemcpyDefault, stream));
    Ok(())
}

/// Records the event on one stream and makes the other wait for it.
#[track_caller]
fn link(b: &Bench, event: &Event<'_>, from: hipStream_t, to: hipStream_t) -> Outcome {
    ok!(b, hipEventRecord(event.raw, from); hipStreamWaitEvent(to, event.raw, 0));
    Ok(())
}

/// A log of the host functions called, in order.
struct Journal {
    /// Leaked: a function may still be called after the case.
    entries: &'static Mutex<Vec<u32>>,
}

/// One line of a journal.
struct Line {
    entries: &'static Mutex<Vec<u32>>,
    number: u32,
}

unsafe extern "C" fn write_line(line: *mut c_void) {
    // SAFETY: S11: `Journal::line` made a line that is never freed.
    let line = unsafe { &*line.cast::<Line>() };
    line.entries.lock().unwrap_or_else(PoisonError::into_inner).push(line.number);
}

impl Journal {
    fn new() -> Self {
        Self { entries: Box::leak(Box::default()) }
    }

    /// The argument for a host function that writes the number.
    fn line(&self, number: u32) -> *mut c_void {
        std::ptr::from_mut(Box::leak(Box::new(Line { entries: self.entries, number }))).cast()
    }

    /// Submits a host function that writes the number.
    #[track_caller]
    fn write(&self, b: &Bench, number: u32, stream: hipStream_t) -> Outcome {
        ok!(b, hipLaunchHostFunc(stream, Some(write_line), self.line(number)));
        Ok(())
    }

    fn read(&self) -> Vec<u32> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Counts calls of a destructor.
#[derive(Clone, Copy)]
struct Counter(&'static AtomicU32);

unsafe extern "C" fn count(counter: *mut c_void) {
    // SAFETY: S11: a counter's number, which is never freed.
    unsafe { &*counter.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

impl Counter {
    fn new() -> Self {
        Self(Box::leak(Box::default()))
    }

    fn data(self) -> *mut c_void {
        std::ptr::from_ref(self.0).cast_mut().cast()
    }

    fn get(self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}
