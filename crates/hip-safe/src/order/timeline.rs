//! A stream's progress, and the event by which other streams wait for it.

use crate::handle::Handle;
use crate::mutation::Wait;
use crate::raw;
use crate::stream;
use crate::stream::host_function;
use crate::{Device, Error, Event, Result, Stream, StreamId, drop_errors};
use hip_sys::hip::ihipStream_t;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// The progress of a stream. Memory keeps references to it, so it outlives the stream. The end of the stream completes it.
///
/// The number of a submission is the count of submissions after its call has returned. An event covers every submission that was counted
/// before the event was recorded.
pub(crate) struct Timeline {
    /// A number that no other stream of this process has.
    number: u64,
    stream: Weak<stream::Inner>,
    /// How many submissions the driver has.
    submitted: AtomicU64,
    /// How many of them are known to be complete; the maximum once the stream is gone.
    completed: AtomicU64,
    /// Locked during driver calls, and never while the host waits. Locked before `end` where both are needed.
    gate: Mutex<Gate>,
    /// Never locked during a driver call.
    end: Mutex<End>,
    changed: Condvar,
}

/// The event that consumers on other streams wait for.
#[derive(Default)]
struct Gate {
    /// Recorded behind the first `covered` submissions.
    event: Option<Arc<Event>>,
    covered: u64,
}

/// The state of the stream's end.
#[derive(Default)]
enum End {
    #[default]
    NotYet,
    /// The last reference is gone and a thread waits for the work. Events can still be recorded on the stream.
    Waiting(Producer),
    /// The stream is being destroyed.
    Destroyed,
    /// The stream is gone. With an error its work could not be waited for, and may never be known to be complete.
    Closed(Result<()>),
}

/// A stream to record an event on.
#[derive(Clone)]
pub(crate) struct Producer {
    pub(crate) device: Device,
    pub(crate) raw: Handle<ihipStream_t>,
    /// Whether the handle is ours, so that no other library captures it.
    pub(crate) owned: bool,
    pub(crate) id: StreamId,
}

impl Timeline {
    pub(crate) fn new(number: u64, stream: Weak<stream::Inner>) -> Self {
        let (submitted, completed) = (AtomicU64::new(0), AtomicU64::new(0));
        let (gate, end, changed) = (Mutex::default(), Mutex::default(), Condvar::new());
        Self { number, stream, submitted, completed, gate, end, changed }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The number of the last submission that the driver has.
    pub(crate) fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::SeqCst)
    }

    /// Counts a submission whose call has returned, and gives its number.
    pub(crate) fn note_submission(&self) -> u64 {
        self.submitted.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Whether the first `count` submissions are known to be complete.
    pub(crate) fn has_completed(&self, count: u64) -> bool {
        self.completed.load(Ordering::SeqCst) >= count
    }

    /// Records that the first `count` submissions are complete.
    pub(crate) fn note_completion(&self, count: u64) {
        self.completed.fetch_max(count, Ordering::SeqCst);
    }

    /// Makes later work of `consumer` wait for the first `count` submissions. Returns how many submissions the wait covers. All consumers of
    /// the same work use one event.
    ///
    /// The caller may hold locks of memory, so this waits only for driver calls of other threads.
    ///
    /// # Errors
    /// [`Error::InHostFunction`], the error of the wait at the stream's end, or the driver's error.
    pub(crate) fn order_before(&self, consumer: &Stream, count: u64) -> Result<u64> {
        if host_function::is_running() {
            return Err(Error::InHostFunction);
        }
        let stream = self.stream.upgrade().map(Stream::from_inner);
        let covered = match &stream {
            Some(stream) => self.order_behind(&stream.producer(), self.gate.lock(), consumer, count),
            None => self.order_behind_its_end(consumer, count),
        };
        // This may be the last reference, which must be dropped after the locks are released.
        stream.into_iter().for_each(drop_errors::drop_later);
        covered
    }

    fn order_behind(
        &self,
        producer: &Producer,
        mut gate: MutexGuard<'_, Gate>,
        consumer: &Stream,
        count: u64,
    ) -> Result<u64> {
        let Gate { event, covered } = &mut *gate;
        let event = get_or_create(event, &producer.device)?;
        if *covered < count && !(*covered > 0 && Wait::FreshEvent.is_dropped()) {
            let submitted = self.submitted();
            producer.record(event)?;
            *covered = submitted;
        }
        consumer.wait_for_order(event)?;
        Ok(*covered)
    }

    /// The same after the last reference to the stream is gone. The thread that dropped it may wait for the work for long. Events are still
    /// recorded on the stream until then.
    #[cold]
    fn order_behind_its_end(&self, consumer: &Stream, count: u64) -> Result<u64> {
        loop {
            // The stream is destroyed only after a thread has passed this gate.
            let gate = self.gate.lock();
            let producer = match &*self.end.lock() {
                End::Waiting(producer) => Some(producer.clone()),
                End::Closed(complete) => return complete.clone().map(|()| u64::MAX),
                End::NotYet | End::Destroyed => None,
            };
            if let Some(producer) = producer {
                let covered = self.order_behind(&producer, gate, consumer, count);
                drop_errors::drop_later(producer);
                return covered;
            }
            drop(gate);
            // The other thread has not begun to wait, or has finished. On a lost device it waits for host functions that still run.
            let mut end = self.end.lock();
            while matches!(*end, End::NotYet | End::Destroyed) {
                if self.has_completed(count) {
                    return Ok(u64::MAX);
                }
                self.changed.wait(&mut end);
            }
        }
    }

    /// Begins the stream's capture. An event behind all former submissions is recorded first, for consumers that wait for the stream during
    /// the capture. An event recorded later would become part of the graph.
    pub(crate) fn begin_capture(&self, stream: &Stream) -> Result<()> {
        let _later = drop_errors::later();
        let mut gate = self.gate.lock();
        let submitted = self.submitted();
        if gate.covered < submitted {
            if !self.has_completed(submitted) {
                let event = get_or_create(&mut gate.event, stream.device())?;
                stream.producer().record(event)?;
            }
            gate.covered = submitted;
        }
        let doing = || format!("beginning a capture on {stream}");
        // SAFETY: S1, S3: the stream is live and its device current.
        stream.device().run(doing, |p| unsafe { raw::graphs::stream_begin_capture(p, stream.raw()) })
    }

    /// Waits on the host for all submissions before the capture began.
    pub(crate) fn wait_for_work_before_capture(&self) -> Result<()> {
        let gate = self.gate.lock();
        let (event, covered) = (gate.event.clone(), gate.covered);
        drop(gate);
        // If another thread records the event again before this wait, it covers more.
        if let Some(event) = event.filter(|_| !Wait::BeforeCapture.is_dropped()) {
            event.synchronize()?;
        }
        self.note_completion(covered);
        Ok(())
    }

    /// Waits on the host until the first `count` submissions are complete.
    pub(crate) fn wait(&self, count: u64) -> Result<()> {
        if self.has_completed(count) {
            return Ok(());
        }
        self.live()?.map_or(Ok(()), |stream| stream.wait_for_work())
    }

    /// As [`Timeline::wait`], before memory is released that only these submissions use. If the wait for the stream fails, this waits for the
    /// whole device, and returns the first error.
    pub(crate) fn wait_to_release(&self, count: u64) -> Result<Option<Error>> {
        if self.has_completed(count) {
            return Ok(None);
        }
        self.live()?.map_or(Ok(None), |stream| stream.wait_to_release())
    }

    /// The last reference to the stream is gone, and its thread will wait for the work.
    pub(crate) fn begin_end(&self, producer: Producer) {
        self.set_end(End::Waiting(producer));
    }

    /// Stops other threads from recording events on the stream, so that it may be destroyed.
    pub(crate) fn leave_stream(&self) {
        let gate = self.gate.lock();
        self.set_end(End::Destroyed);
        drop(gate);
    }

    /// Records that the stream is gone. Its work is complete, or later waits get this error. A host function must not wait for the gate, so
    /// the event then stays until the timeline is dropped.
    pub(crate) fn close(&self, complete: Result<()>) {
        if complete.is_ok() {
            self.note_completion(u64::MAX);
        }
        self.set_end(End::Closed(complete));
        if !host_function::is_running() {
            let event = self.gate.lock().event.take();
            drop(event);
        }
    }

    fn set_end(&self, end: End) {
        let former = std::mem::replace(&mut *self.end.lock(), end);
        self.changed.notify_all();
        drop(former);
    }

    /// The stream; `None` if it is gone and its work is complete. If another thread is ending it, this waits for that thread. The caller holds
    /// no lock.
    ///
    /// # Errors
    /// The error of the wait at the stream's end; [`Error::InHostFunction`], because the end of the stream may wait for this host function.
    fn live(&self) -> Result<Option<Stream>> {
        if host_function::is_running() {
            return Err(Error::InHostFunction);
        }
        if let Some(inner) = self.stream.upgrade() {
            return Ok(Some(Stream::from_inner(inner)));
        }
        let mut end = self.end.lock();
        loop {
            match &*end {
                End::Closed(complete) => return complete.clone().map(|()| None),
                _ => self.changed.wait(&mut end),
            }
        }
    }
}

impl Producer {
    /// Records an event of ours.
    fn record(&self, event: &Event) -> Result<()> {
        let Self { device, raw: handle, id, .. } = self;
        self.check_capture_by_others()?;
        let doing = || format!("recording an event on {id}");
        // SAFETY: S1, S3: stream and event are live and of one device, which is current.
        device.run(doing, |p| unsafe { raw::event_record(p, event.raw(), handle.raw()) })
    }
}

/// The event. It is created at the first use.
fn get_or_create<'a>(event: &'a mut Option<Arc<Event>>, device: &Device) -> Result<&'a Arc<Event>> {
    if event.is_none() {
        *event = Some(Arc::new(Event::without_timing(device)?));
    }
    Ok(event.as_ref().expect("it was just created"))
}
