//! Streams: events, functions that a stream calls on the host, streams of other libraries, and priorities.
//!
//! This file has [`Stream`]. Work on one stream runs in the order in which it was submitted.

mod event;
mod foreign;
pub(crate) mod host_function;
mod priority;
pub(crate) mod wait_count;

pub use event::Event;
pub use host_function::drop_elsewhere;
pub use wait_count::waits;

use crate::graph::Turn;
use crate::handle::Handle;
use crate::mutation::Wait;
use crate::order::{Point, Producer, Timeline};
use crate::raw::{self, Failure};
use crate::{Device, DeviceLabel, Error, Result, drop_errors};
use hip_sys::Platform;
use hip_sys::hip::{hipStream_t, hipStreamNonBlocking, ihipStream_t};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use host_function::HostFunctions;

/// The number of other streams whose points a stream remembers to have waited for. Forgetting one costs an unneeded wait.
const REMEMBERED: usize = 32;

const AFTERWARDS: &str = "do it before or afterwards, when the graph was launched";
const ONE_STREAM: &str = "a graph is of one stream; order the streams by the memory that the launches use";

/// A stream of a device. Cloning it copies a reference. Dropping the last one waits for the stream's work and destroys the stream.
///
/// Memory is allocated, filled and copied through it ([`Stream::upload`], [`Stream::download`], …), and what it allocates
/// is bound to it.
#[derive(Clone)]
pub struct Stream {
    inner: Arc<Inner>,
}

/// The state shared by the references.
pub(crate) struct Inner {
    device: Device,
    raw: Handle<ihipStream_t>,
    timeline: Arc<Timeline>,
    turn: Turn,
    /// Timelines by number, and the submission number on each that later work of this stream already comes after.
    after: Mutex<Vec<(u64, u64)>>,
    host_functions: Arc<HostFunctions>,
    /// Whether the handle is ours to destroy.
    owned: bool,
    /// Whether the end has run.
    ended: bool,
}

/// A stream as messages name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamId {
    /// The stream's device.
    pub device: DeviceLabel,
    /// A number that no other stream of this process has.
    pub number: u64,
}

static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

impl Device {
    /// Makes a stream. It does not wait for the null stream, nor the null stream for it.
    ///
    /// # Errors
    /// [`Error::Hip`] if the driver returns an error, [`Error::Poisoned`] after a sticky one.
    #[doc(alias = "hipStreamCreateWithFlags")]
    pub fn new_stream(&self) -> Result<Stream> {
        // SAFETY: S1, S3: the device is current; the flag is one that the function knows.
        let create = |p: &Platform| unsafe { raw::stream_create(p, hipStreamNonBlocking) };
        let raw = self.run(|| format!("making a stream on {self}"), create)?;
        Ok(Stream::from_handle(self, raw, true))
    }
}

impl Stream {
    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// Its name in messages.
    pub fn id(&self) -> StreamId {
        self.inner.id()
    }

    /// The handle, for direct calls of a platform's library; valid while the stream lives. Submit work that uses buffers through
    /// [`Stream::submission`], which orders it.
    pub fn raw(&self) -> hipStream_t {
        self.inner.raw.raw()
    }

    /// Waits until everything submitted so far is complete.
    ///
    /// # Errors
    /// The error of the work, if it failed; [`Error::Capturing`] while it captures; [`Error::Poisoned`] after a sticky error.
    #[doc(alias = "hipStreamSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        let _turn = self.turn().refuse_capture("a wait for the stream", AFTERWARDS)?;
        self.inner.synchronize()
    }

    /// Drops this reference. The last one waits for the work, destroys the stream, and returns the first error. Buffers that were allocated
    /// on the stream hold references too.
    ///
    /// # Errors
    /// The first error of the work, the wait or the call; [`Error::InHostFunction`] in a host function, and then the stream ends on another
    /// thread.
    #[doc(alias = "hipStreamDestroy")]
    pub fn close(self) -> Result<()> {
        if host_function::is_running() {
            return Err(Error::InHostFunction);
        }
        let Some(mut last) = Arc::into_inner(self.inner) else { return Ok(()) };
        let _later = drop_errors::later();
        let mut errors = last.end().into_iter();
        let first = errors.next();
        errors.for_each(|error| drop_errors::report(&error));
        first.map_or(Ok(()), Err)
    }

    /// Whether everything submitted so far is complete.
    ///
    /// # Errors
    /// As [`Stream::synchronize`].
    #[doc(alias = "hipStreamQuery")]
    pub fn is_done(&self) -> Result<bool> {
        let _turn = self.turn().refuse_capture("a question about the stream's progress", AFTERWARDS)?;
        let submitted = self.submitted();
        // SAFETY: S1, S3: the stream is live and its device current.
        let ask = |p: &Platform| unsafe { raw::stream_query(p, self.raw()) };
        let done = self.device().run(|| format!("asking whether {self} is done"), ask)?;
        if done {
            self.note_completion(submitted);
        }
        Ok(done)
    }

    /// Whether it captures a graph by [`Stream::capture`]. Another thread may begin or end a capture at any time.
    pub fn is_capturing(&self) -> bool {
        self.turn().capture().is_some()
    }

    /// Records the event after everything submitted so far.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if the event belongs to another device; [`Error::Capturing`] while the stream captures;
    /// [`Error::Hip`] if the driver returns an error.
    #[doc(alias = "hipEventRecord")]
    pub fn record_event(&self, event: &Event) -> Result<()> {
        let _turn = self.turn().refuse_capture("the record of an event", ONE_STREAM)?;
        self.device().check_same("the event", event.device())?;
        let doing = || format!("recording an event on {self}");
        // SAFETY: S1, S3: stream and event are live and of one device, which is current.
        self.submit(doing, |p, s| unsafe { raw::event_record(p, event.raw(), s) })?;
        event.note_recorded();
        Ok(())
    }

    /// Makes later work of this stream wait for the event's last record. The event may belong to another device. An event that was never
    /// recorded makes nothing wait.
    ///
    /// # Errors
    /// [`Error::Capturing`] while the stream captures; [`Error::Hip`] if the driver returns an error, [`Error::Poisoned`] after
    /// a sticky one.
    #[doc(alias = "hipStreamWaitEvent")]
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        let _turn = self.turn().refuse_capture("a wait for an event", ONE_STREAM)?;
        self.device().check_same_platform("the event", event.device())?;
        let doing = || format!("making {self} wait for an event");
        // SAFETY: S1, S3: stream and event are live and of one platform; the stream's device is current.
        self.submit(doing, |p, s| unsafe { raw::stream_wait_event(p, s, event.raw()) })
    }

    /// Wraps a handle that no other [`Stream`] has. With `owned`, the end of the stream destroys it.
    pub(crate) fn from_handle(device: &Device, raw: Handle<ihipStream_t>, owned: bool) -> Self {
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let inner = Arc::new_cyclic(|stream| Inner {
            device: device.clone(),
            raw,
            timeline: Arc::new(Timeline::new(number, stream.clone())),
            turn: Turn::default(),
            after: Mutex::default(),
            host_functions: Arc::default(),
            owned,
            ended: false,
        });
        Self { inner }
    }

    pub(crate) fn host_functions(&self) -> &Arc<HostFunctions> {
        &self.inner.host_functions
    }

    pub(crate) fn from_inner(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    pub(crate) fn timeline(&self) -> &Arc<Timeline> {
        &self.inner.timeline
    }

    /// Whether the handle is ours, so that no other library uses it.
    pub(crate) fn is_owned(&self) -> bool {
        self.inner.owned
    }

    /// The state of its captures.
    pub(crate) fn turn(&self) -> &Turn {
        &self.inner.turn
    }

    /// Submits work that uses no tracked memory, and counts it.
    ///
    /// The count is increased after the call, so that every counted submission is known to the driver. A failed call is counted too, because a
    /// part of it may have been submitted.
    fn submit<R>(
        &self,
        doing: impl FnOnce() -> String,
        call: impl FnOnce(&Platform, hipStream_t) -> Result<R, Failure>,
    ) -> Result<R> {
        self.check_capture_by_others()?;
        let result = self.device().run(doing, |p| call(p, self.raw()));
        self.inner.timeline.note_submission();
        result
    }

    /// The number of the last submission that the driver has.
    pub(crate) fn submitted(&self) -> u64 {
        self.inner.timeline.submitted()
    }

    /// Records that the first `submitted` submissions are complete.
    pub(crate) fn note_completion(&self, submitted: u64) {
        self.inner.timeline.note_completion(submitted);
    }

    /// Makes later work of this stream wait for a point, on the device. It makes no call if the work comes after that point anyway.
    pub(crate) fn come_after(&self, point: &Point) -> Result<()> {
        let Point { timeline, count } = point;
        if Arc::ptr_eq(timeline, &self.inner.timeline) || timeline.has_completed(*count) {
            return Ok(());
        }
        let known = |&(number, covered): &(u64, u64)| number == timeline.number() && covered >= *count;
        if self.inner.after.lock().iter().any(known) {
            return Ok(());
        }
        let covered = timeline.order_before(self, *count)?;
        let mut after = self.inner.after.lock();
        after.retain(|&(number, _)| number != timeline.number());
        if after.len() == REMEMBERED {
            after.remove(0);
        }
        after.push((timeline.number(), covered));
        Ok(())
    }

    /// The values needed to record events on it.
    pub(crate) fn producer(&self) -> Producer {
        self.inner.producer()
    }

    /// Makes later work wait, on the device, for an event of this crate's, perhaps of another device.
    pub(crate) fn wait_for_order(&self, event: &Event) -> Result<()> {
        let doing = || format!("making {self} wait for an event");
        // SAFETY: S1, S3: stream and event are live and of one platform; the stream's device is current.
        self.device().run(doing, |p| unsafe { raw::stream_wait_event(p, self.raw(), event.raw()) })
    }

    /// Waits on the host for all work. During a capture, for the work before the capture.
    pub(crate) fn wait_for_work(&self) -> Result<()> {
        self.inner.synchronize()
    }

    /// See [`Timeline::wait_to_release`].
    pub(crate) fn wait_to_release(&self) -> Result<Option<Error>> {
        self.inner.wait_to_release()
    }
}

impl Inner {
    fn id(&self) -> StreamId {
        StreamId { device: self.device.label(), number: self.timeline.number() }
    }

    fn producer(&self) -> Producer {
        Producer { device: self.device.clone(), raw: self.raw, owned: self.owned, id: self.id() }
    }

    /// Waits for all work. During a capture, for the work before the capture.
    fn synchronize(&self) -> Result<()> {
        let Ok(_turn) = self.turn.get() else { return self.timeline.wait_for_work_before_capture() };
        let submitted = self.timeline.submitted();
        // SAFETY: S1, S3: the stream is live and its device current.
        let wait = |p: &Platform| unsafe { raw::stream_synchronize(p, self.raw.raw()) };
        self.device.run(|| format!("waiting for {}", self.id()), wait)?;
        self.timeline.note_completion(submitted);
        Ok(())
    }

    /// Waits for all work. If the wait for the stream fails, this waits for the whole device, and returns the first error.
    fn wait_to_release(&self) -> Result<Option<Error>> {
        let submitted = self.timeline.submitted();
        if self.timeline.has_completed(submitted) || Wait::StreamEnd.is_dropped() {
            return Ok(None);
        }
        let Err(error) = self.synchronize() else { return Ok(None) };
        // The first of the two errors tells the cause.
        if self.device.synchronize().is_err() {
            return Err(error);
        }
        self.timeline.note_completion(submitted);
        Ok(Some(error))
    }

    /// Moves the state out, leaving a value whose drop does nothing.
    fn take(&mut self) -> Self {
        Self {
            device: self.device.clone(),
            raw: self.raw,
            timeline: Arc::clone(&self.timeline),
            turn: Turn::default(),
            after: Mutex::default(),
            host_functions: Arc::clone(&self.host_functions),
            owned: self.owned,
            ended: std::mem::replace(&mut self.ended, true),
        }
    }

    /// Waits for the work, destroys the stream, and wakes threads that wait for its end. Returns the errors in order.
    fn end(&mut self) -> Vec<Error> {
        self.ended = true;
        let mut errors = Vec::new();
        let mut complete = Ok(());
        if self.device.is_usable() {
            self.timeline.begin_end(self.producer());
            match self.wait_to_release() {
                Ok(recovered) => errors.extend(recovered),
                Err(error) => {
                    // Work on a lost device does not run any more.
                    if self.device.is_usable() {
                        complete = Err(error.clone());
                    }
                    errors.push(error);
                }
            }
            self.timeline.leave_stream();
            errors.extend(self.destroy().err());
        }
        let never_called = self.host_functions.close();
        self.timeline.close(complete);
        self.device.memory().forget_stream(self.timeline.number());
        // These functions are dropped last, because they may own values whose drop waits for this stream.
        never_called.drop_each(self.id());
        errors
    }

    /// Destroys the stream, if it is ours.
    fn destroy(&self) -> Result<()> {
        if !self.owned || !self.device.is_usable() {
            return Ok(());
        }
        let (raw, id) = (self.raw, self.id());
        // SAFETY: S1, S3, S4: this was the last reference; C allows destroying a stream that still has work.
        self.device.run(|| format!("destroying {id}"), |p| unsafe { raw::stream_destroy(p, raw) })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        if host_function::is_running() {
            // A wait here could be a wait for this host function.
            let timeline = Arc::clone(&self.timeline);
            if !host_function::drop_elsewhere(self.take()) {
                timeline.close(Err(Error::InHostFunction));
                drop_errors::report(&Error::InHostFunction);
            }
            return;
        }
        let _later = drop_errors::later();
        self.end().iter().for_each(drop_errors::report);
    }
}

impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for Stream {}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({self})")
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream {} of {}", self.number, self.device)
    }
}
