//! Events: points in a stream's work to wait for, or to measure time from.

use crate::handle::Handle;
use crate::raw;
use crate::{Device, Error, Result};
use hip_sys::Platform;
use hip_sys::hip::{hipEvent_t, hipEventDefault, hipEventDisableTiming, ihipEvent_t};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An event of a device. [`Stream::record_event`](crate::Stream::record_event) sets it, as often as wanted.
pub struct Event {
    device: Device,
    raw: Handle<ihipEvent_t>,
    timing: bool,
    recorded: AtomicBool,
}

impl Event {
    /// Makes an event that also measures time.
    ///
    /// # Errors
    /// [`Error::Hip`] if the driver returns an error, [`Error::Poisoned`] after a sticky one.
    #[doc(alias = "hipEventCreate")]
    #[doc(alias = "hipEventCreateWithFlags")]
    pub fn new(device: &Device) -> Result<Self> {
        Self::create(device, true)
    }

    /// Makes an event that only orders: it is cheaper to record.
    ///
    /// # Errors
    /// As [`Event::new`].
    #[doc(alias = "hipEventDisableTiming")]
    pub fn without_timing(device: &Device) -> Result<Self> {
        Self::create(device, false)
    }

    fn create(device: &Device, timing: bool) -> Result<Self> {
        let flags = if timing { hipEventDefault } else { hipEventDisableTiming };
        // SAFETY: S1, S3: the device is current; both flags are ones that the function knows.
        let create = |p: &Platform| unsafe { raw::event_create(p, flags) };
        let raw = device.run(|| format!("making an event on {device}"), create)?;
        Ok(Self { device: device.clone(), raw, timing, recorded: AtomicBool::new(false) })
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The handle, for direct calls of a platform's library; valid while the event lives.
    pub fn raw(&self) -> hipEvent_t {
        self.raw.raw()
    }

    /// Whether its last record is complete; true if it was never recorded.
    ///
    /// # Errors
    /// The error of the work before it, if that failed; [`Error::Poisoned`] after a sticky one.
    #[doc(alias = "hipEventQuery")]
    pub fn is_done(&self) -> Result<bool> {
        // SAFETY: S1, S3: the event is live and its device current.
        self.device
            .run(|| "asking whether an event is done".into(), |p| unsafe { raw::event_query(p, self.raw()) })
    }

    /// Waits until its last record is complete; not at all if it was never recorded.
    ///
    /// # Errors
    /// The error of the work before it, if that failed; [`Error::Poisoned`] after a sticky one.
    #[doc(alias = "hipEventSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: S1, S3: the event is live and its device current.
        self.device
            .run(|| "waiting for an event".into(), |p| unsafe { raw::event_synchronize(p, self.raw()) })
    }

    /// The time from `earlier` to this event on the device's clock. It does not wait.
    ///
    /// # Errors
    /// [`Error::EventsSwapped`] if this event is the earlier one, for which C answers a negative time; [`Error::NotReady`] while one of
    /// them is pending, [`Error::EventNotRecorded`], [`Error::EventWithoutTiming`], [`Error::WrongDevice`] if they are of two devices.
    #[doc(alias = "hipEventElapsedTime")]
    pub fn elapsed_since(&self, earlier: &Event) -> Result<Duration> {
        self.device.check_same("the event", &earlier.device)?;
        if !(self.timing && earlier.timing) {
            return Err(Error::EventWithoutTiming);
        }
        if !(self.recorded.load(Ordering::Acquire) && earlier.recorded.load(Ordering::Acquire)) {
            return Err(Error::EventNotRecorded);
        }
        // SAFETY: S1, S3: both events are live and of one device, which is current.
        let ask = |p: &Platform| unsafe { raw::event_elapsed(p, earlier.raw(), self.raw()) };
        let milliseconds =
            self.device.run(|| "measuring between two events".into(), ask)?.ok_or(Error::NotReady)?;
        let seconds = f64::from(milliseconds) / 1e3;
        Duration::try_from_secs_f64(seconds).map_err(|_| Error::EventsSwapped { milliseconds })
    }

    /// Destroys it and returns any error.
    ///
    /// # Errors
    /// [`Error::Hip`] if the driver returns an error, [`Error::Poisoned`] after a sticky one.
    #[doc(alias = "hipEventDestroy")]
    pub fn close(mut self) -> Result<()> {
        self.release()
    }

    pub(crate) fn note_recorded(&self) {
        self.recorded.store(true, Ordering::Release);
    }

    fn release(&mut self) -> Result<()> {
        let raw = self.raw.take();
        if raw.is_null() {
            return Ok(());
        }
        // SAFETY: S1, S3, S4: this is its only owner; HIP lets work that waits for it finish.
        self.device.run(|| "destroying an event".into(), |p| unsafe { raw::event_destroy(p, raw) })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let device = self.device.clone();
        device.release_in_drop(|| self.release());
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("device", &self.device)
            .field("timing", &self.timing)
            .finish_non_exhaustive()
    }
}
