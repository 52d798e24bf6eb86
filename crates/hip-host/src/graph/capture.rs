//! Stream capture: while a stream is captured, operations submitted to it become nodes of a graph.
//!
//! `Stream::submit` calls `take` for every operation, so no entry point can forget to. Entry points that
//! wait, or that could disturb a capture, call one of the `forbid` functions first. An illegal call
//! invalidates the captures concerned.

use super::Graph;
use crate::check;
use crate::context::Outcome;
use crate::event::Event;
use crate::stream::Stream;
use crate::work::Work;
use hip_sys::hip::{hipError_t, hipStreamCaptureMode, hipStreamCaptureStatus};
use parking_lot::{Mutex, MutexGuard};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

const UNSUPPORTED: hipError_t = hipError_t::hipErrorStreamCaptureUnsupported;
const INVALIDATED: hipError_t = hipError_t::hipErrorStreamCaptureInvalidated;
const IMPLICIT: hipError_t = hipError_t::hipErrorStreamCaptureImplicit;
const ILLEGAL: hipError_t = hipError_t::hipErrorIllegalState;

/// A capture that has begun and not ended.
struct Capture {
    id: u64,
    mode: hipStreamCaptureMode,
    /// The thread that began it.
    thread: ThreadId,
    graph: Arc<Graph>,
    graph_handle: usize,
    /// The participating streams. The capture began with the first and ends with it.
    members: Vec<Member>,
    invalid: bool,
}

/// A stream that takes part in a capture.
struct Member {
    stream: Arc<Stream>,
    /// Indices of the nodes that the stream's next node depends on.
    front: Vec<usize>,
    /// Their handles, in memory that callers may read.
    handles: Box<[usize]>,
}

/// An event recorded in a capture: which capture, and the nodes that it comes after.
pub(crate) struct Mark {
    capture: u64,
    front: Vec<usize>,
}

/// The state of a stream's capture.
pub(crate) struct Info {
    pub(crate) status: hipStreamCaptureStatus,
    pub(crate) id: u64,
    pub(crate) graph: usize,
    /// Handles of the nodes that the stream's next node depends on; valid until the stream's next operation.
    pub(crate) dependencies: *const usize,
    pub(crate) count: usize,
}

struct All {
    captures: Vec<Capture>,
    ids: u64,
}

static ALL: Mutex<All> = Mutex::new(All { captures: Vec::new(), ids: 0 });
/// The number of captures. Usually it is 0, and then no thread takes the lock.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static MODE: Cell<hipStreamCaptureMode> = const { Cell::new(hipStreamCaptureMode::hipStreamCaptureModeGlobal) };
}

impl Member {
    fn new(stream: &Arc<Stream>) -> Self {
        Self { stream: Arc::clone(stream), front: Vec::new(), handles: Box::default() }
    }

    fn follow(&mut self, graph: &Graph, front: Vec<usize>) {
        self.handles = graph.handles(&front);
        self.front = front;
    }
}

impl Capture {
    fn member(&mut self, stream: &Arc<Stream>) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| Arc::ptr_eq(&member.stream, stream))
    }

    fn began_here(&self) -> bool {
        self.thread == thread::current().id()
    }

    fn is(&self, mode: hipStreamCaptureMode) -> bool {
        self.mode == mode
    }

    /// Whether work on this null stream would have to wait for one of the streams.
    fn holds_up(&self, null: &Stream) -> bool {
        self.members.iter().any(|member| member.stream.blocking && member.stream.device == null.device)
    }
}

/// Locks the captures; `None` if there are none.
fn lock() -> Option<MutexGuard<'static, All>> {
    if ACTIVE.load(Ordering::Acquire) == 0 { None } else { Some(ALL.lock()) }
}

impl All {
    /// The capture that a stream takes part in, and its index.
    fn of(&mut self, stream: &Arc<Stream>) -> Option<(usize, &mut Capture)> {
        let mut all = self.captures.iter_mut().enumerate();
        all.find_map(|(index, capture)| capture.member(stream).is_some().then_some((index, capture)))
    }

    fn of_mark(&mut self, mark: &Mark) -> Option<&mut Capture> {
        self.captures.iter_mut().find(|capture| capture.id == mark.capture)
    }

    /// Removes a capture. The caller must release the lock before it drops the result.
    fn remove(&mut self, index: usize) -> Capture {
        ACTIVE.fetch_sub(1, Ordering::AcqRel);
        self.captures.remove(index)
    }

    /// Invalidates the captures that a condition holds for; an error if there are any.
    fn invalidate(&mut self, error: hipError_t, concerned: impl Fn(&Capture) -> bool) -> Outcome {
        let mut outcome = Ok(());
        for capture in self.captures.iter_mut().filter(|capture| concerned(capture)) {
            capture.invalid = true;
            outcome = Err(error);
        }
        outcome
    }

    /// The null stream must not get work that would wait for a captured stream.
    fn check_null(&mut self, stream: &Stream) -> Outcome {
        if stream.is_null { self.invalidate(IMPLICIT, |capture| capture.holds_up(stream)) } else { Ok(()) }
    }

    /// Checks a call that is unsafe during a capture. It invalidates the thread's own captures, unless they
    /// are relaxed, and captures of any thread in global mode.
    fn check_unsafe(&mut self) -> Outcome {
        let mode = MODE.get();
        if mode == hipStreamCaptureMode::hipStreamCaptureModeRelaxed {
            return Ok(());
        }
        let all_threads = mode == hipStreamCaptureMode::hipStreamCaptureModeGlobal;
        self.invalidate(UNSUPPORTED, |capture| {
            let own = capture.began_here() && !capture.is(hipStreamCaptureMode::hipStreamCaptureModeRelaxed);
            own || all_threads && capture.is(hipStreamCaptureMode::hipStreamCaptureModeGlobal)
        })
    }
}

/// Makes an operation a graph node if the stream is captured; otherwise returns it.
pub(crate) fn take(stream: &Arc<Stream>, work: Work) -> Result<Option<Work>, hipError_t> {
    let Some(mut all) = lock() else { return Ok(Some(work)) };
    // Refused work is dropped after the lock is released: dropping the last reference to a graph calls a
    // destructor of the program.
    let Some((_, capture)) = all.of(stream) else {
        all.check_null(stream)?;
        return Ok(Some(work));
    };
    if capture.invalid {
        return Err(INVALIDATED);
    }
    let announced = check::announced(stream, &work);
    let graph = Arc::clone(&capture.graph);
    if let Some(member) = capture.member(stream) {
        match graph.add(stream.device(), work, member.front.clone(), announced) {
            Ok(index) => member.follow(&graph, vec![index]),
            Err(refused) => {
                capture.invalid = true;
                return Err(refused);
            }
        }
    }
    Ok(None)
}

/// Whether the stream takes part in a capture.
pub(crate) fn captured(stream: &Arc<Stream>) -> bool {
    lock().is_some_and(|mut all| all.of(stream).is_some())
}

/// Records an event in a captured stream: the event then stands for the nodes so far. Returns false if the
/// stream is not captured.
pub(crate) fn record(event: &Event, stream: &Arc<Stream>) -> Result<bool, hipError_t> {
    let Some(mut all) = lock() else { return Ok(false) };
    let Some((_, capture)) = all.of(stream) else { return Ok(false) };
    if capture.invalid {
        return Err(INVALIDATED);
    }
    let id = capture.id;
    let front = capture.member(stream).map(|member| member.front.clone()).unwrap_or_default();
    event.mark(Some(Mark { capture: id, front }));
    Ok(true)
}

/// Makes a stream wait for an event, as far as captures are concerned. A stream that waits for an event of a
/// capture joins the capture. Returns false if neither is captured.
pub(crate) fn wait(stream: &Arc<Stream>, event: &Event) -> Result<bool, hipError_t> {
    let Some(mut all) = lock() else { return Ok(false) };
    let ours = all.of(stream).map(|(_, capture)| (capture.id, capture.invalid));
    let mark = event.marked();
    let Some(theirs) = mark.as_ref().and_then(|mark| all.of_mark(mark)) else {
        let Some((id, invalid)) = ours else { return all.check_null(stream).map(|()| false) };
        if invalid {
            return Err(INVALIDATED);
        }
        // Work outside the capture cannot become part of the graph. An event that was never recorded has no
        // effect.
        return match event.recorded() {
            None => Ok(true),
            Some(_) => all
                .invalidate(hipError_t::hipErrorStreamCaptureIsolation, |capture| capture.id == id)
                .map(|()| true),
        };
    };
    if theirs.invalid || ours.is_some_and(|(_, invalid)| invalid) {
        return Err(INVALIDATED);
    }
    let their_id = theirs.id;
    if stream.is_null {
        return all.invalidate(IMPLICIT, |capture| capture.id == their_id).map(|()| true);
    }
    if let Some((id, _)) = ours.filter(|(id, _)| *id != their_id) {
        let merge = hipError_t::hipErrorStreamCaptureMerge;
        return all.invalidate(merge, |capture| [id, their_id].contains(&capture.id)).map(|()| true);
    }
    let graph = Arc::clone(&theirs.graph);
    if theirs.member(stream).is_none() {
        theirs.members.push(Member::new(stream));
    }
    if let (Some(member), Some(mark)) = (theirs.member(stream), mark.as_ref()) {
        let mut front = member.front.clone();
        front.extend(mark.front.iter().filter(|index| !member.front.contains(index)));
        member.follow(&graph, front);
    }
    Ok(true)
}

/// Begins a capture.
pub(crate) fn begin(stream: &Arc<Stream>, mode: hipStreamCaptureMode) -> Outcome {
    let mut all = ALL.lock();
    if all.of(stream).is_some() {
        return Err(ILLEGAL);
    }
    all.ids += 1;
    let graph_handle = super::create();
    let (id, thread, graph) = (all.ids, thread::current().id(), super::get(graph_handle)?);
    let members = vec![Member::new(stream)];
    all.captures.push(Capture { id, mode, thread, graph, graph_handle, members, invalid: false });
    ACTIVE.fetch_add(1, Ordering::AcqRel);
    Ok(())
}

/// Ends a capture and returns the graph's handle. In an error, `over` says whether the capture has ended all
/// the same.
pub(crate) fn end(stream: &Arc<Stream>) -> Result<usize, Refused> {
    let stays = |error| Refused { error, over: false };
    let mut all = lock().ok_or(stays(ILLEGAL))?;
    let (index, capture) = all.of(stream).ok_or(stays(ILLEGAL))?;
    if !Arc::ptr_eq(&capture.members[0].stream, stream) {
        return Err(stays(hipError_t::hipErrorStreamCaptureUnmatched));
    }
    if !capture.began_here() && !capture.is(hipStreamCaptureMode::hipStreamCaptureModeRelaxed) {
        return Err(stays(hipError_t::hipErrorStreamCaptureWrongThread));
    }
    let capture = all.remove(index);
    drop(all);
    let error = if capture.invalid {
        INVALIDATED
    } else if !capture.graph.all_lead_to(&capture.members[0].front) {
        hipError_t::hipErrorStreamCaptureUnjoined
    } else {
        return Ok(capture.graph_handle);
    };
    let _ = super::destroy(capture.graph_handle);
    Err(Refused { error, over: true })
}

/// Why a capture returned no graph.
pub(crate) struct Refused {
    pub(crate) error: hipError_t,
    pub(crate) over: bool,
}

/// Whether the graph of that handle belongs to an active capture.
pub(crate) fn writes(graph: usize) -> bool {
    lock().is_some_and(|all| all.captures.iter().any(|capture| capture.graph_handle == graph))
}

/// The state of the stream's capture. For a null stream that may not be used during a capture this is an
/// error; it leaves the capture valid, since a query does no harm.
pub(crate) fn info(stream: &Arc<Stream>) -> Result<Option<Info>, hipError_t> {
    let Some(mut all) = lock() else { return Ok(None) };
    if stream.is_null {
        let held_up = all.captures.iter().any(|capture| capture.holds_up(stream));
        return if held_up { Err(IMPLICIT) } else { Ok(None) };
    }
    let Some((_, capture)) = all.of(stream) else { return Ok(None) };
    let status = match capture.invalid {
        false => hipStreamCaptureStatus::hipStreamCaptureStatusActive,
        true => hipStreamCaptureStatus::hipStreamCaptureStatusInvalidated,
    };
    let (id, graph) = (capture.id, capture.graph_handle);
    let member = capture.member(stream);
    Ok(member.map(|member| {
        let (dependencies, count) = (member.handles.as_ptr(), member.handles.len());
        Info { status, id, graph, dependencies, count }
    }))
}

/// Replaces the mode of this thread and returns the old one.
pub(crate) fn exchange_mode(mode: hipStreamCaptureMode) -> hipStreamCaptureMode {
    MODE.replace(mode)
}

/// Call before waiting for a stream or querying its progress.
pub(crate) fn forbid_wait(stream: &Arc<Stream>) -> Outcome {
    let Some(mut all) = lock() else { return Ok(()) };
    if let Some((_, capture)) = all.of(stream) {
        capture.invalid = true;
        return Err(UNSUPPORTED);
    }
    all.check_null(stream)?;
    all.check_unsafe()
}

/// Call before waiting for an event or querying it.
pub(crate) fn forbid_event(event: &Event) -> Outcome {
    let Some(mut all) = lock() else { return Ok(()) };
    if let Some(capture) = event.marked().as_ref().and_then(|mark| all.of_mark(mark)) {
        capture.invalid = true;
        return Err(hipError_t::hipErrorCapturedEvent);
    }
    all.check_unsafe()
}

/// Call before work that may wait implicitly, such as allocating memory.
pub(crate) fn forbid_unsafe() -> Outcome {
    lock().map_or(Ok(()), |mut all| all.check_unsafe())
}

/// Call before waiting for the whole device: no capture of any mode and thread permits it.
pub(crate) fn forbid_device_wait() -> Outcome {
    lock().map_or(Ok(()), |mut all| all.invalidate(UNSUPPORTED, |_| true))
}

/// Call before a copy or fill on the null stream that waits: no capture permits it.
pub(crate) fn forbid_blocking_copy() -> Outcome {
    lock().map_or(Ok(()), |mut all| all.invalidate(IMPLICIT, |_| true))
}

/// Call before an operation that cannot become a node.
pub(crate) fn forbid_in(stream: &Arc<Stream>) -> Outcome {
    let Some(mut all) = lock() else { return Ok(()) };
    let Some((_, capture)) = all.of(stream) else { return all.check_null(stream) };
    capture.invalid = true;
    Err(UNSUPPORTED)
}

/// Notes that a stream was destroyed. Its capture ends if the stream began it; otherwise the stream only
/// leaves the capture.
pub(crate) fn forget(stream: &Arc<Stream>) {
    let Some(mut all) = lock() else { return };
    let Some((index, capture)) = all.of(stream) else { return };
    if Arc::ptr_eq(&capture.members[0].stream, stream) {
        let capture = all.remove(index);
        drop(all);
        let _ = super::destroy(capture.graph_handle);
    } else {
        capture.members.retain(|member| !Arc::ptr_eq(&member.stream, stream));
    }
}

/// Notes that a device was reset: captures on its streams end.
pub(crate) fn forget_device(device: usize) {
    let Some(mut all) = lock() else { return };
    let mut over = Vec::new();
    let mut index = 0;
    while index < all.captures.len() {
        if all.captures[index].members.iter().any(|member| member.stream.device == device) {
            over.push(all.remove(index));
        } else {
            index += 1;
        }
    }
    drop(all);
    for capture in over {
        let _ = super::destroy(capture.graph_handle);
    }
}
