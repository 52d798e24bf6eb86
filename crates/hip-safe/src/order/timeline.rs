//! How far a stream has come, and the event by which others wait for it.

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

/// What is known of a stream's progress. It outlives the stream: memory refers to it, and the stream's end completes it.
///
/// A submission has a number: the count after its call has returned. Every event recorded after the count was read covers it.
pub(crate) struct Timeline {
    /// A number that no other stream of this process has.
    number: u64,
    stream: Weak<stream::Inner>,
    /// How many submissions the driver has.
    submitted: AtomicU64,
    /// How many of them are known to be complete; all there can be once the stream is gone.
    completed: AtomicU64,
    /// Locked also while the driver is called, never while the host waits. Who locks both has this one first.
    gate: Mutex<Gate>,
    /// Locked for a moment.
    end: Mutex<End>,
    changed: Condvar,
}

/// What consumers on other streams wait for.
#[derive(Default)]
struct Gate {
    /// Recorded behind the first `covered` submissions.
    event: Option<Arc<Event>>,
    covered: u64,
}

/// How far the end of the stream has come.
#[derive(Default)]
enum End {
    #[default]
    NotYet,
    /// Its last reference is gone and its work is waited for. Until that is done events can be recorded on it.
    Waiting(Producer),
    /// It is about to be gone.
    Destroyed,
    /// It is gone. An error: its work could not be waited for, and nobody knows when that is complete.
    Closed(Result<()>),
}

/// A stream to record an event on.
#[derive(Clone)]
pub(crate) struct Producer {
    pub(crate) device: Device,
    pub(crate) raw: Handle<ihipStream_t>,
    /// Whether the handle is ours, so that nobody else captures it.
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

    /// How many submissions the driver has.
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

    /// Remembers that the first `count` submissions are complete.
    pub(crate) fn note_completion(&self, count: u64) {
        self.completed.fetch_max(count, Ordering::SeqCst);
    }

    /// Makes what `consumer` submits from now on wait for the first `count` submissions; gives how many are waited for. No
    /// call if they are known to be complete, one event for all consumers of the same work.
    ///
    /// The caller may have memory locked, so this waits for nothing but other threads' calls of the driver.
    ///
    /// # Errors
    /// [`Error::InHostFunction`], why its work could not be waited for when it ended, or what the driver answers.
    pub(crate) fn order_before(&self, consumer: &Stream, count: u64) -> Result<u64> {
        if host_function::is_running() {
            return Err(Error::InHostFunction);
        }
        let stream = self.stream.upgrade().map(Stream::from_inner);
        let covered = match &stream {
            Some(stream) => self.order_behind(&stream.producer(), self.gate.lock(), consumer, count),
            None => self.order_behind_its_end(consumer, count),
        };
        // It may be the last reference: it goes after the locks.
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
        let event = made(event, &producer.device)?;
        if *covered < count && !(*covered > 0 && Wait::FreshEvent.is_dropped()) {
            let submitted = self.submitted();
            producer.record(event)?;
            *covered = submitted;
        }
        consumer.wait_for_order(event)?;
        Ok(*covered)
    }

    /// The same once the stream's last reference is gone. Whoever dropped that may wait for the work for long, so events are still recorded
    /// on it.
    #[cold]
    fn order_behind_its_end(&self, consumer: &Stream, count: u64) -> Result<u64> {
        loop {
            // It is destroyed only by who had the gate before.
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
            // The other thread is about to wait, or has. Of a device that is lost it waits for functions of the program's that still run.
            let mut end = self.end.lock();
            while matches!(*end, End::NotYet | End::Destroyed) {
                if self.has_completed(count) {
                    return Ok(u64::MAX);
                }
                self.changed.wait(&mut end);
            }
        }
    }

    /// Begins the stream's capture. Nothing is submitted any more, so one event behind all there is serves whoever waits for
    /// the stream meanwhile: one recorded later would be the graph's.
    pub(crate) fn begin_capture(&self, stream: &Stream) -> Result<()> {
        let _later = drop_errors::later();
        let mut gate = self.gate.lock();
        let submitted = self.submitted();
        if gate.covered < submitted {
            if !self.has_completed(submitted) {
                let event = made(&mut gate.event, stream.device())?;
                stream.producer().record(event)?;
            }
            gate.covered = submitted;
        }
        let doing = || format!("beginning a capture on {stream}");
        // SAFETY: S1, S3: the stream is live and its device current.
        stream.device().run(doing, |p| unsafe { raw::graphs::stream_begin_capture(p, stream.raw()) })
    }

    /// Waits on the host for all that the stream had before it began to capture.
    pub(crate) fn wait_beside_capture(&self) -> Result<()> {
        let gate = self.gate.lock();
        let (event, covered) = (gate.event.clone(), gate.covered);
        drop(gate);
        // If it is recorded again meanwhile, it covers more.
        if let Some(event) = event.filter(|_| !Wait::BesideCapture.is_dropped()) {
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

    /// As [`Timeline::wait`], before memory is released that only these submissions use: if the stream cannot be waited
    /// for, its whole device is, and the error is given beside.
    pub(crate) fn wait_to_release(&self, count: u64) -> Result<Option<Error>> {
        if self.has_completed(count) {
            return Ok(None);
        }
        self.live()?.map_or(Ok(None), |stream| stream.wait_to_release())
    }

    /// The stream's last reference is gone, and its work will be waited for.
    pub(crate) fn begin_end(&self, producer: Producer) {
        self.set_end(End::Waiting(producer));
    }

    /// Nobody records events on the stream any more: it may be destroyed.
    pub(crate) fn leave_stream(&self) {
        let gate = self.gate.lock();
        self.set_end(End::Destroyed);
        drop(gate);
    }

    /// The stream is gone: its work is complete, or cannot be waited for, which whoever wants to is told from now on. In a function that
    /// a stream calls the gate is not waited for: the event stays until the timeline goes.
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

    /// The stream; `None` once its work is complete and it is gone. A thread that drops the last reference waits for the
    /// work first, and so does whoever asks meanwhile: the caller has nothing locked.
    ///
    /// # Errors
    /// Why its work could not be waited for; [`Error::InHostFunction`], because the end of the stream may wait for that function.
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

/// The event, which is made when it is first needed.
fn made<'a>(event: &'a mut Option<Arc<Event>>, device: &Device) -> Result<&'a Arc<Event>> {
    if event.is_none() {
        *event = Some(Arc::new(Event::without_timing(device)?));
    }
    Ok(event.as_ref().expect("it was just made"))
}
