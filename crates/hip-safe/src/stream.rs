//! A stream: work on it runs in the order in which it was submitted.

use crate::handle::Handle;
use crate::raw::{self, Failure};
use crate::{Device, DeviceLabel, Error, Event, Result, drop_errors};
use hip_sys::Platform;
use hip_sys::hip::{hipStream_t, hipStreamNonBlocking, ihipStream_t};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A stream of a device. Cloning it copies a reference; the last one waits for its work and destroys it.
///
/// Memory is allocated, filled and copied through it ([`Stream::upload`], [`Stream::download`], …), and what it allocates
/// is bound to it.
#[derive(Clone)]
pub struct Stream {
    inner: Arc<Inner>,
}

struct Inner {
    device: Device,
    raw: Handle<ihipStream_t>,
    number: u64,
    /// How many submissions have returned from the driver.
    submitted: AtomicU64,
    /// How many of them are known to be complete.
    completed: AtomicU64,
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
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let (submitted, completed) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Stream { inner: Arc::new(Inner { device: self.clone(), raw, number, submitted, completed }) })
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

    /// The handle, for direct calls of a platform's library; valid while the stream lives. Work submitted with it is
    /// announced by [`Stream::note_submission`].
    pub fn raw(&self) -> hipStream_t {
        self.inner.raw.raw()
    }

    /// Counts work that was submitted through [`Stream::raw`], so that owners wait for it before they free what it uses.
    pub fn note_submission(&self) {
        self.inner.submitted.fetch_add(1, Ordering::SeqCst);
    }

    /// Waits until everything submitted so far is complete.
    ///
    /// # Errors
    /// The error of the work, if it failed; [`Error::Poisoned`] after a sticky one.
    #[doc(alias = "hipStreamSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        self.inner.synchronize()
    }

    /// Whether everything submitted so far is complete.
    ///
    /// # Errors
    /// The error of the work, if it failed; [`Error::Poisoned`] after a sticky one.
    #[doc(alias = "hipStreamQuery")]
    pub fn is_done(&self) -> Result<bool> {
        let submitted = self.submitted();
        // SAFETY: S1, S3: the stream is live and its device current.
        let ask = |p: &Platform| unsafe { raw::stream_query(p, self.raw()) };
        let done = self.device().run(|| format!("asking whether {self} is done"), ask)?;
        if done {
            self.note_completion(submitted);
        }
        Ok(done)
    }

    /// Records the event behind everything submitted so far.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if the event belongs to another device; [`Error::Hip`] if the driver answers an error.
    #[doc(alias = "hipEventRecord")]
    pub fn record_event(&self, event: &Event) -> Result<()> {
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
    /// [`Error::Hip`] if the driver answers an error, [`Error::Poisoned`] after a sticky one.
    #[doc(alias = "hipStreamWaitEvent")]
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        if !Arc::ptr_eq(self.device().platform(), event.device().platform()) {
            return self.device().check_same("the event", event.device());
        }
        let doing = || format!("making {self} wait for an event");
        // SAFETY: S1, S3: stream and event are live and of one platform; the stream's device is current.
        self.submit(doing, |p, s| unsafe { raw::stream_wait_event(p, s, event.raw()) })
    }

    /// Submits work through one call with the stream's device current, and counts it.
    ///
    /// The count goes up after the call: whoever reads it then knows that the driver has the work. It goes up after a
    /// failed call too, which may have submitted a part.
    pub(crate) fn submit<R>(
        &self,
        doing: impl FnOnce() -> String,
        call: impl FnOnce(&Platform, hipStream_t) -> Result<R, Failure>,
    ) -> Result<R> {
        let result = self.device().run(doing, |p| call(p, self.raw()));
        self.note_submission();
        result
    }

    /// Refuses something bound to another stream.
    pub(crate) fn check(&self, bound: &Stream) -> Result<()> {
        if self == bound {
            return Ok(());
        }
        Err(Error::WrongStream { bound: bound.id(), used: self.id() })
    }

    /// How many submissions the driver has.
    pub(crate) fn submitted(&self) -> u64 {
        self.inner.submitted.load(Ordering::SeqCst)
    }

    /// Remembers that this many submissions are complete.
    pub(crate) fn note_completion(&self, submitted: u64) {
        self.inner.completed.fetch_max(submitted, Ordering::SeqCst);
    }

    /// Waits until `submitted` submissions are complete; at once if that is known.
    pub(crate) fn wait_for(&self, submitted: u64) -> Result<()> {
        self.inner.wait_for(submitted)
    }

    /// Waits, before something is released that only the first `submitted` submissions use.
    pub(crate) fn wait_to_release(&self, submitted: u64) -> Result<()> {
        self.inner.wait_to_release(submitted)
    }
}

impl Inner {
    fn id(&self) -> StreamId {
        StreamId { device: self.device.label(), number: self.number }
    }

    fn synchronize(&self) -> Result<()> {
        let submitted = self.submitted.load(Ordering::SeqCst);
        // SAFETY: S1, S3: the stream is live and its device current.
        let wait = |p: &Platform| unsafe { raw::stream_synchronize(p, self.raw.raw()) };
        self.device.run(|| format!("waiting for {}", self.id()), wait)?;
        self.completed.fetch_max(submitted, Ordering::SeqCst);
        Ok(())
    }

    fn wait_for(&self, submitted: u64) -> Result<()> {
        if self.completed.load(Ordering::SeqCst) >= submitted { Ok(()) } else { self.synchronize() }
    }

    /// If the stream cannot be waited for, waiting for its whole device will do; the error goes to the hook then.
    fn wait_to_release(&self, submitted: u64) -> Result<()> {
        let Err(error) = self.wait_for(submitted) else { return Ok(()) };
        if self.device.synchronize().is_err() {
            return Err(error);
        }
        self.completed.fetch_max(submitted, Ordering::SeqCst);
        drop_errors::report(&error);
        Ok(())
    }

    fn release(&mut self) -> Result<()> {
        let waited = self.wait_to_release(self.submitted.load(Ordering::SeqCst));
        let (raw, id) = (self.raw, self.id());
        // SAFETY: S1, S3, S4: this was the last reference; C allows destroying a stream that still has work.
        let destroyed =
            self.device.run(|| format!("destroying {id}"), |p| unsafe { raw::stream_destroy(p, raw) });
        waited.and(destroyed)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let device = self.device.clone();
        device.release_in_drop(|| self.release());
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
