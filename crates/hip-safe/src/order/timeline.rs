//! How far a stream has come, and the event by which others wait for it.

use crate::host_function;
use crate::mutation::Wait;
use crate::raw;
use crate::stream;
use crate::{Error, Event, Result, Stream, drop_errors};
use parking_lot::{Condvar, Mutex};
use std::sync::Weak;
use std::sync::atomic::{AtomicU64, Ordering};

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
    gate: Mutex<Gate>,
    closing: Condvar,
}

/// What consumers on other streams wait for.
#[derive(Default)]
struct Gate {
    /// Recorded behind the first `covered` submissions.
    event: Option<Event>,
    covered: u64,
    /// The stream is gone.
    closed: bool,
    /// Why its work could not be waited for. Then nobody knows when it is complete.
    lost: Option<Error>,
}

impl Timeline {
    pub(crate) fn new(number: u64, stream: Weak<stream::Inner>) -> Self {
        let (submitted, completed) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { number, stream, submitted, completed, gate: Mutex::default(), closing: Condvar::new() }
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
    pub(crate) fn order_before(&self, consumer: &Stream, count: u64) -> Result<u64> {
        let Some(producer) = self.live()? else { return Ok(u64::MAX) };
        let mut gate = self.gate.lock();
        if gate.event.is_none() {
            gate.event = Some(Event::without_timing(producer.device())?);
        }
        let Gate { event: Some(event), covered, .. } = &mut *gate else { unreachable!("it was just made") };
        if *covered < count && !(*covered > 0 && Wait::FreshEvent.is_dropped()) {
            let submitted = self.submitted();
            producer.record_for_order(event)?;
            *covered = submitted;
        }
        let covered = *covered;
        consumer.wait_for_order(event)?;
        // The producer may be the last reference: it goes after the lock.
        drop(gate);
        Ok(covered)
    }

    /// Begins the stream's capture. Nothing is submitted any more, so one event behind all there is serves whoever waits for
    /// the stream meanwhile: one recorded later would be the graph's.
    pub(crate) fn begin_capture(&self, stream: &Stream) -> Result<()> {
        let _later = drop_errors::later();
        let mut gate = self.gate.lock();
        let submitted = self.submitted();
        if gate.covered < submitted {
            if !self.has_completed(submitted) {
                if gate.event.is_none() {
                    gate.event = Some(Event::without_timing(stream.device())?);
                }
                if let Some(event) = &gate.event {
                    stream.record_for_order(event)?;
                }
            }
            gate.covered = submitted;
        }
        let doing = || format!("beginning a capture on {stream}");
        // SAFETY: S1, S3: the stream is live and its device current.
        stream.device().run(doing, |p| unsafe { raw::graphs::stream_begin_capture(p, stream.raw()) })
    }

    /// Waits on the host for all that the stream had before it began to capture.
    pub(crate) fn wait_beside_capture(&self) -> Result<()> {
        let _later = drop_errors::later();
        let gate = self.gate.lock();
        if let Some(event) = gate.event.as_ref().filter(|_| !Wait::BesideCapture.is_dropped()) {
            event.synchronize()?;
        }
        self.note_completion(gate.covered);
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

    /// The stream is gone: its work is complete, or cannot be waited for, which whoever wants to is told from now on.
    pub(crate) fn close(&self, complete: Result<()>) {
        let event = {
            let mut gate = self.gate.lock();
            gate.closed = true;
            gate.lost = complete.err();
            if gate.lost.is_none() {
                self.note_completion(u64::MAX);
            }
            gate.event.take()
        };
        self.closing.notify_all();
        drop(event);
    }

    /// The stream; `None` once its work is complete and it is gone. A thread that drops the last reference waits for the
    /// work first, and so does whoever asks meanwhile.
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
        let mut gate = self.gate.lock();
        while !gate.closed {
            self.closing.wait(&mut gate);
        }
        gate.lost.clone().map_or(Ok(None), Err)
    }
}
