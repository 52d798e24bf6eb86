//! Stream capture: while a stream is captured, what is submitted to it becomes nodes of a graph instead.
//!
//! `Stream::submit` asks `take` for every operation, so no entry point can forget to. Entry points that wait, or that
//! could disturb a capture, ask one of the `forbid` functions first. An illegal call invalidates the captures concerned.

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
    /// The streams that take part. The capture began with the first and ends with it.
    members: Vec<Member>,
    invalid: bool,
}

/// A stream that takes part in a capture.
struct Member {
    stream: Arc<Stream>,
    /// Places of the nodes that the stream's next node comes after.
    front: Vec<usize>,
    /// Their handles, where callers may look at them.
    handles: Box<[usize]>,
}

/// That an event was recorded in a capture: which one, and after which of its nodes.
pub(crate) struct Mark {
    capture: u64,
    front: Vec<usize>,
}

/// What is known of the capture that a stream takes part in.
pub(crate) struct Info {
    pub(crate) status: hipStreamCaptureStatus,
    pub(crate) id: u64,
    pub(crate) graph: usize,
    /// Handles of the nodes that the stream's next node comes after: valid until the stream's next operation.
    pub(crate) dependencies: *const usize,
    pub(crate) count: usize,
}

struct All {
    captures: Vec<Capture>,
    ids: u64,
}

static ALL: Mutex<All> = Mutex::new(All { captures: Vec::new(), ids: 0 });
/// How many captures there are: mostly none, and then nobody takes the lock.
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

    /// Whether work of this null stream would have to wait for one of the streams.
    fn holds_up(&self, null: &Stream) -> bool {
        self.members.iter().any(|member| member.stream.blocking && member.stream.device == null.device)
    }
}

/// The captures, unless there are none.
fn lock() -> Option<MutexGuard<'static, All>> {
    if ACTIVE.load(Ordering::Acquire) == 0 { None } else { Some(ALL.lock()) }
}

impl All {
    /// The capture that a stream takes part in, and its place.
    fn of(&mut self, stream: &Arc<Stream>) -> Option<(usize, &mut Capture)> {
        let mut all = self.captures.iter_mut().enumerate();
        all.find_map(|(place, capture)| capture.member(stream).is_some().then_some((place, capture)))
    }

    fn of_mark(&mut self, mark: &Mark) -> Option<&mut Capture> {
        self.captures.iter_mut().find(|capture| capture.id == mark.capture)
    }

    /// Ends a capture. The caller lets go of the lock before it drops what it gets.
    fn remove(&mut self, place: usize) -> Capture {
        ACTIVE.fetch_sub(1, Ordering::AcqRel);
        self.captures.remove(place)
    }

    /// Invalidates the captures that a condition holds for; an error if there are any.
    fn spoil(&mut self, error: hipError_t, concerned: impl Fn(&Capture) -> bool) -> Outcome {
        let mut outcome = Ok(());
        for capture in self.captures.iter_mut().filter(|capture| concerned(capture)) {
            capture.invalid = true;
            outcome = Err(error);
        }
        outcome
    }

    /// The null stream may not get work that would wait for a captured stream.
    fn check_null(&mut self, stream: &Stream) -> Outcome {
        if stream.is_null { self.spoil(IMPLICIT, |capture| capture.holds_up(stream)) } else { Ok(()) }
    }

    /// What a thread may not do beside captures: its own, unless they are relaxed, and those of any thread in global mode.
    fn check_unsafe(&mut self) -> Outcome {
        let mode = MODE.get();
        if mode == hipStreamCaptureMode::hipStreamCaptureModeRelaxed {
            return Ok(());
        }
        let all_threads = mode == hipStreamCaptureMode::hipStreamCaptureModeGlobal;
        self.spoil(UNSUPPORTED, |capture| {
            let own = capture.began_here() && !capture.is(hipStreamCaptureMode::hipStreamCaptureModeRelaxed);
            own || all_threads && capture.is(hipStreamCaptureMode::hipStreamCaptureModeGlobal)
        })
    }
}

/// Makes an operation a node if the stream is captured; otherwise gives it back.
pub(crate) fn take(stream: &Arc<Stream>, work: Work) -> Result<Option<Work>, hipError_t> {
    let Some(mut all) = lock() else { return Ok(Some(work)) };
    // What is refused is dropped behind the lock: the last use of a graph calls a destructor of the program's.
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
            Ok(place) => member.follow(&graph, vec![place]),
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

/// Records an event in a captured stream: it then stands for the nodes so far. False if the stream is not captured.
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

/// Makes a stream wait for an event, as far as captures are concerned. A stream that waits for an event of a capture joins
/// the capture. False if neither is captured.
pub(crate) fn wait(stream: &Arc<Stream>, event: &Event) -> Result<bool, hipError_t> {
    let Some(mut all) = lock() else { return Ok(false) };
    let ours = all.of(stream).map(|(_, capture)| (capture.id, capture.invalid));
    let mark = event.marked();
    let Some(theirs) = mark.as_ref().and_then(|mark| all.of_mark(mark)) else {
        let Some((id, invalid)) = ours else { return all.check_null(stream).map(|()| false) };
        if invalid {
            return Err(INVALIDATED);
        }
        // What lies outside the capture cannot become part of the graph; an event never recorded is nothing.
        return match event.recorded() {
            None => Ok(true),
            Some(_) => all
                .spoil(hipError_t::hipErrorStreamCaptureIsolation, |capture| capture.id == id)
                .map(|()| true),
        };
    };
    if theirs.invalid || ours.is_some_and(|(_, invalid)| invalid) {
        return Err(INVALIDATED);
    }
    let their_id = theirs.id;
    if stream.is_null {
        return all.spoil(IMPLICIT, |capture| capture.id == their_id).map(|()| true);
    }
    if let Some((id, _)) = ours.filter(|(id, _)| *id != their_id) {
        let merge = hipError_t::hipErrorStreamCaptureMerge;
        return all.spoil(merge, |capture| [id, their_id].contains(&capture.id)).map(|()| true);
    }
    let graph = Arc::clone(&theirs.graph);
    if theirs.member(stream).is_none() {
        theirs.members.push(Member::new(stream));
    }
    if let (Some(member), Some(mark)) = (theirs.member(stream), mark.as_ref()) {
        let mut front = member.front.clone();
        front.extend(mark.front.iter().filter(|place| !member.front.contains(place)));
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

/// Ends a capture. The graph's handle, or an error: then `over` says whether the capture has ended all the same.
pub(crate) fn end(stream: &Arc<Stream>) -> Result<usize, Refused> {
    let stays = |error| Refused { error, over: false };
    let mut all = lock().ok_or(stays(ILLEGAL))?;
    let (place, capture) = all.of(stream).ok_or(stays(ILLEGAL))?;
    if !Arc::ptr_eq(&capture.members[0].stream, stream) {
        return Err(stays(hipError_t::hipErrorStreamCaptureUnmatched));
    }
    if !capture.began_here() && !capture.is(hipStreamCaptureMode::hipStreamCaptureModeRelaxed) {
        return Err(stays(hipError_t::hipErrorStreamCaptureWrongThread));
    }
    let capture = all.remove(place);
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

/// Why a capture did not give a graph.
pub(crate) struct Refused {
    pub(crate) error: hipError_t,
    pub(crate) over: bool,
}

/// Whether a capture writes the graph of that handle.
pub(crate) fn writes(graph: usize) -> bool {
    lock().is_some_and(|all| all.captures.iter().any(|capture| capture.graph_handle == graph))
}

/// What is known of the stream's capture. For a null stream that may not be used beside a capture it is an error, which
/// leaves the capture as it is: asking does no harm.
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

/// The mode of this thread, replaced.
pub(crate) fn exchange_mode(mode: hipStreamCaptureMode) -> hipStreamCaptureMode {
    MODE.replace(mode)
}

/// Before a call that waits for a stream or asks how far it is.
pub(crate) fn forbid_wait(stream: &Arc<Stream>) -> Outcome {
    let Some(mut all) = lock() else { return Ok(()) };
    if let Some((_, capture)) = all.of(stream) {
        capture.invalid = true;
        return Err(UNSUPPORTED);
    }
    all.check_null(stream)?;
    all.check_unsafe()
}

/// Before a call that waits for an event or asks about it.
pub(crate) fn forbid_event(event: &Event) -> Outcome {
    let Some(mut all) = lock() else { return Ok(()) };
    if let Some(capture) = event.marked().as_ref().and_then(|mark| all.of_mark(mark)) {
        capture.invalid = true;
        return Err(hipError_t::hipErrorCapturedEvent);
    }
    all.check_unsafe()
}

/// Before a call that may wait in a way that nobody sees, such as allocating memory.
pub(crate) fn forbid_unsafe() -> Outcome {
    lock().map_or(Ok(()), |mut all| all.check_unsafe())
}

/// Before a call that waits for the whole device: no capture of any mode and thread permits it.
pub(crate) fn forbid_device_wait() -> Outcome {
    lock().map_or(Ok(()), |mut all| all.spoil(UNSUPPORTED, |_| true))
}

/// Before a call that copies or fills on the null stream and waits: as little permitted.
pub(crate) fn forbid_blocking_copy() -> Outcome {
    lock().map_or(Ok(()), |mut all| all.spoil(IMPLICIT, |_| true))
}

/// Before an operation that cannot become a node.
pub(crate) fn forbid_in(stream: &Arc<Stream>) -> Outcome {
    let Some(mut all) = lock() else { return Ok(()) };
    let Some((_, capture)) = all.of(stream) else { return all.check_null(stream) };
    capture.invalid = true;
    Err(UNSUPPORTED)
}

/// A stream was destroyed. With the stream that a capture began with, the capture is over; another only leaves.
pub(crate) fn forget(stream: &Arc<Stream>) {
    let Some(mut all) = lock() else { return };
    let Some((place, capture)) = all.of(stream) else { return };
    if Arc::ptr_eq(&capture.members[0].stream, stream) {
        let capture = all.remove(place);
        drop(all);
        let _ = super::destroy(capture.graph_handle);
    } else {
        capture.members.retain(|member| !Arc::ptr_eq(&member.stream, stream));
    }
}

/// A device was reset: captures on its streams are over.
pub(crate) fn forget_device(device: usize) {
    let Some(mut all) = lock() else { return };
    let mut over = Vec::new();
    let mut place = 0;
    while place < all.captures.len() {
        if all.captures[place].members.iter().any(|member| member.stream.device == device) {
            over.push(all.remove(place));
        } else {
            place += 1;
        }
    }
    drop(all);
    for capture in over {
        let _ = super::destroy(capture.graph_handle);
    }
}
