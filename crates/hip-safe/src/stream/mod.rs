//! Streams: events, functions that a stream calls on the host, streams of other libraries, and priorities.
//!
//! This file has [`Stream`]. Work on one stream runs in the order in which it was submitted.

mod event;
mod foreign;
pub(crate) mod host_function;
mod priority;

pub use event::Event;
pub use host_function::drop_elsewhere;

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

/// How many other streams a stream remembers that it came after. Forgetting one costs a wait that was not needed.
const REMEMBERED: usize = 32;

const AFTERWARDS: &str = "do it before or afterwards, when the graph was launched";
const ONE_STREAM: &str = "a graph is of one stream; order the streams by the memory that the launches use";

/// A stream of a device. Cloning it copies a reference; the last one waits for its work and destroys it.
///
/// Memory is allocated, filled and copied through it ([`Stream::upload`], [`Stream::download`], …), and what it allocates
/// is bound to it.
#[derive(Clone)]
pub struct Stream {
    inner: Arc<Inner>,
}

/// What the references share.
pub(crate) struct Inner {
    device: Device,
    raw: Handle<ihipStream_t>,
    timeline: Arc<Timeline>,
    turn: Turn,
    /// The timelines that its next work comes after anyway, by their numbers, and how far.
    after: Mutex<Vec<(u64, u64)>>,
    host_functions: Arc<HostFunctions>,
    /// Whether the handle is ours to destroy.
    owned: bool,
    /// Whether that is done.
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
    /// [`Error::Hip`] if the driver answers an error, [`Error::Poisoned`] after a sticky one.
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

    /// How messages name it.
    pub fn id(&self) -> StreamId {
        self.inner.id()
    }

    /// The handle, for direct calls of a platform's library; valid while the stream lives. Work that uses buffers is
    /// submitted through [`Stream::submission`], which knows what has to come before it.
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

    /// If this is the last reference, waits for the work, destroys the stream and says how that went. Else it does nothing: the
    /// last one does. Buffers that were allocated on it are references too.
    ///
    /// # Errors
    /// The error of the work, of the wait or of the call, whichever came first; [`Error::InHostFunction`] in a function that a stream
    /// calls, and then the stream ends on another thread.
    #[doc(alias = "hipStreamDestroy")]
    pub fn close(self) -> Result<()> {
        if host_function::is_running() {
            return Err(Error::InHostFunction);
        }
        let Some(mut last) = Arc::into_inner(self.inner) else { return Ok(()) };
        let _later = drop_errors::later();
        let mut wrong = last.end().into_iter();
        let first = wrong.next();
        wrong.for_each(|error| drop_errors::report(&error));
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

    /// Whether it captures a graph now, by [`Stream::capture`]. Another thread may begin or end a capture at any time.
    pub fn is_capturing(&self) -> bool {
        self.turn().capture().is_some()
    }

    /// Records the event behind everything submitted so far.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if the event belongs to another device; [`Error::Capturing`] while the stream captures;
    /// [`Error::Hip`] if the driver answers an error.
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

    /// Makes what is submitted from now on wait for the event's last record. The event may be another device's; one that
    /// was never recorded is no wait.
    ///
    /// # Errors
    /// [`Error::Capturing`] while the stream captures; [`Error::Hip`] if the driver answers an error, [`Error::Poisoned`] after
    /// a sticky one.
    #[doc(alias = "hipStreamWaitEvent")]
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        let _turn = self.turn().refuse_capture("a wait for an event", ONE_STREAM)?;
        self.device().check_same_platform("the event", event.device())?;
        let doing = || format!("making {self} wait for an event");
        // SAFETY: S1, S3: stream and event are live and of one platform; the stream's device is current.
        self.submit(doing, |p, s| unsafe { raw::stream_wait_event(p, s, event.raw()) })
    }

    /// A stream with a handle that nobody else makes one of; `owned`: it is destroyed with it.
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

    /// Whether the handle is ours, so that nobody else uses it.
    pub(crate) fn is_owned(&self) -> bool {
        self.inner.owned
    }

    /// Whether it captures.
    pub(crate) fn turn(&self) -> &Turn {
        &self.inner.turn
    }

    /// Submits work that uses no memory of ours, and counts it.
    ///
    /// The count goes up after the call: whoever reads it then knows that the driver has the work. It goes up after a
    /// failed call too, which may have submitted a part.
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

    /// How many submissions the driver has.
    pub(crate) fn submitted(&self) -> u64 {
        self.inner.timeline.submitted()
    }

    /// Remembers that this many submissions are complete.
    pub(crate) fn note_completion(&self, submitted: u64) {
        self.inner.timeline.note_completion(submitted);
    }

    /// Makes what is submitted from now on come after a point, on the device. No call if it does anyway.
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

    /// What it takes to record events on it.
    pub(crate) fn producer(&self) -> Producer {
        self.inner.producer()
    }

    /// Waits on the device for an event of ours, perhaps of another device.
    pub(crate) fn wait_for_order(&self, event: &Event) -> Result<()> {
        let doing = || format!("making {self} wait for an event");
        // SAFETY: S1, S3: stream and event are live and of one platform; the stream's device is current.
        self.device().run(doing, |p| unsafe { raw::stream_wait_event(p, self.raw(), event.raw()) })
    }

    /// Waits on the host for all that it has, also while it captures.
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

    /// While it captures, for what it had before.
    fn synchronize(&self) -> Result<()> {
        let Ok(_turn) = self.turn.get() else { return self.timeline.wait_beside_capture() };
        let submitted = self.timeline.submitted();
        // SAFETY: S1, S3: the stream is live and its device current.
        let wait = |p: &Platform| unsafe { raw::stream_synchronize(p, self.raw.raw()) };
        self.device.run(|| format!("waiting for {}", self.id()), wait)?;
        self.timeline.note_completion(submitted);
        Ok(())
    }

    /// Waits for all work. If the stream cannot be waited for, waiting for its whole device will do; the error is given then.
    fn wait_to_release(&self) -> Result<Option<Error>> {
        let submitted = self.timeline.submitted();
        if self.timeline.has_completed(submitted) || Wait::StreamEnd.is_dropped() {
            return Ok(None);
        }
        let Err(error) = self.synchronize() else { return Ok(None) };
        // The first of the two errors says what is wrong.
        if self.device.synchronize().is_err() {
            return Err(error);
        }
        self.timeline.note_completion(submitted);
        Ok(Some(error))
    }

    /// All that it is, leaving behind what is not to be released.
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

    /// Ends it, and then lets those go on who wait for it. What went wrong, in order.
    fn end(&mut self) -> Vec<Error> {
        self.ended = true;
        let mut wrong = Vec::new();
        let mut complete = Ok(());
        if self.device.is_usable() {
            self.timeline.begin_end(self.producer());
            match self.wait_to_release() {
                Ok(got_over) => wrong.extend(got_over),
                Err(error) => {
                    // A device that is lost does nothing any more.
                    if self.device.is_usable() {
                        complete = Err(error.clone());
                    }
                    wrong.push(error);
                }
            }
            self.timeline.leave_stream();
            wrong.extend(self.destroy().err());
        }
        let never_called = self.host_functions.close();
        self.timeline.close(complete);
        self.device.memory().forget_stream(self.timeline.number());
        // They may have what waits for this stream.
        never_called.drop_each(self.id());
        wrong
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
            // Waiting here could be waiting for that function.
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
