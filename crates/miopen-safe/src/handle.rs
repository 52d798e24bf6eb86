//! The handle: the library on one stream.

use crate::attention::Attentions;
use crate::owner::library;
use crate::raw;
use crate::solutions::{MOST_SOLUTIONS, Solutions};
use crate::{Error, Result};
use hip_safe::{Device, DeviceBuffer, Platform, Stream, report_drop_error};
use hip_sys::miopen::{miopenHandle, miopenHandle_t};
use hip_sys::{Miopen, Version};
use parking_lot::{Mutex, MutexGuard};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const NAME: &str = "a handle";

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// MIOpen on a stream, to which all calls submit. Threads may share it; their calls run one after the other.
///
/// It remembers the [solutions](crate::Solution) that it found. Dropping it waits for the device. In a host function and during a
/// capture, where waiting is not allowed, another thread does this. A graph that captured its work keeps the parts
/// that it needs.
#[doc(alias = "miopenHandle_t")]
pub struct Handle {
    /// Dropped before the library's handle.
    attentions: Attentions,
    shared: Arc<Shared>,
    stream: Stream,
    solutions: Solutions,
    /// The library has internal memory that all work of a handle uses, launches of graphs too: this orders all of it.
    inside: DeviceBuffer<u8>,
    /// A number that is unique in this process.
    id: u64,
}

/// The parts that graphs keep.
pub(crate) struct Shared {
    device: Device,
    inner: Mutex<Inner>,
}

/// The innermost lock: it is held only during calls of the library, inside the locks of a submission.
struct Inner {
    raw: *mut miopenHandle,
    /// The stream of its work, which lives as long.
    stream: Stream,
}

// SAFETY: S24: a handle belongs to no thread, and is used by one at a time: whoever has the lock.
unsafe impl Send for Inner {}

impl Handle {
    /// Creates a handle that submits to this stream.
    ///
    /// # Errors
    /// [`Error::NoLibrary`] if the platform has no MIOpen; the library's error.
    #[doc(alias = "miopenCreateWithStream")]
    pub fn new(stream: &Stream) -> Result<Self> {
        let device = stream.device();
        let library = library(device.platform()).map_err(|failure| Error::of(failure, NAME))?;
        let mut raw = null_mut();
        // Allocated while nobody captures: a capture would make the buffer its graph's. It is allocated on the handle's own stream, because
        // a second stream would slow the device's memory pool.
        let inside = device.call_alone(|| {
            let inside = stream.alloc_zeros(1)?;
            // SAFETY: S1, S3: the stream is live, its device is current, and the out-pointer is live.
            unsafe { raw::handle::create_with_stream(library, &mut raw, stream.raw()) }
                .map_err(|failure| Error::of(failure, NAME))?;
            Ok::<_, Error>(inside)
        })??;
        let inner = Mutex::new(Inner { raw, stream: stream.clone() });
        let shared = Arc::new(Shared { device: device.clone(), inner });
        Ok(Self {
            attentions: Attentions::default(),
            shared,
            stream: stream.clone(),
            solutions: Solutions::new(MOST_SOLUTIONS),
            inside,
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        })
    }

    /// The stream that it submits to.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.stream.device()
    }

    /// The library's version; on another platform the version of MIOpen whose functions it offers.
    ///
    /// # Errors
    /// [`Error::NoLibrary`].
    #[doc(alias = "miopenGetVersion")]
    pub fn version(&self) -> Result<Version> {
        Ok(library(self.platform()).map_err(|failure| Error::of(failure, NAME))?.version())
    }

    /// Submits to another stream of its device from now on. Waits for the work on the previous one, because the library has memory
    /// that all its work uses.
    ///
    /// # Errors
    /// [`hip_safe::Error::WrongDevice`] for a stream of another device; the error of the wait; the library's error.
    #[doc(alias = "miopenSetStream")]
    pub fn set_stream(&mut self, stream: &Stream) -> Result<()> {
        let own = self.device().clone();
        own.check_stream(stream)?;
        self.stream.synchronize()?;
        let _current = own.make_current()?;
        let former = {
            let mut inner = self.shared.inner.lock();
            let raw = inner.raw;
            // SAFETY: S1, S3: handle and stream are live and of one device, which is current.
            let set = library(self.platform())
                .and_then(|m| unsafe { raw::handle::set_stream(m, raw, stream.raw()) });
            set.map_err(|failure| Error::of(failure, "another stream for a handle"))?;
            std::mem::replace(&mut inner.stream, stream.clone())
        };
        self.stream = stream.clone();
        drop(former);
        Ok(())
    }

    /// How long the kernels of the last call took, in milliseconds, if [`Handle::set_profiling`] is on.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenGetKernelTime")]
    pub fn kernel_time(&self) -> Result<f32> {
        self.call("a kernel's time", |m, h| {
            // SAFETY: S1, S3: the handle is live and its device current; the out-pointer is live.
            crate::convert::out(|ms| unsafe { raw::handle::get_kernel_time(m, h, ms) })
        })
    }

    /// Sets whether the library measures its kernels, which makes each call wait.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenEnableProfiling")]
    pub fn set_profiling(&self, on: bool) -> Result<()> {
        // SAFETY: S1, S3: the handle is live and its device current.
        self.call("measuring kernels", |m, h| unsafe { raw::handle::enable_profiling(m, h, on) })
    }

    /// Destroys it and returns any error. If a graph or a [`FusionPlan`](crate::FusionPlan) needs it, it is destroyed with that.
    ///
    /// # Errors
    /// The error of the wait for its work, and then it is not destroyed; or the library's error. [`hip_safe::Error::InHostFunction`] in
    /// a host function, [`hip_safe::Error::Capturing`] while this thread captures: then another thread destroys it.
    #[doc(alias = "miopenDestroy")]
    pub fn close(self) -> Result<()> {
        drop(self.attentions);
        let Some(mut last) = Arc::into_inner(self.shared) else { return Ok(()) };
        last.end()
    }

    pub(crate) fn platform(&self) -> &Arc<Platform> {
        self.stream.device().platform()
    }

    pub(crate) fn solutions(&self) -> &Solutions {
        &self.solutions
    }

    pub(crate) fn attentions(&self) -> &Attentions {
        &self.attentions
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn inside(&self) -> &DeviceBuffer<u8> {
        &self.inside
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// A call that submits no work.
    pub(crate) fn call<R>(
        &self,
        doing: &'static str,
        call: impl FnOnce(&Miopen, miopenHandle_t) -> Result<R, raw::Failure>,
    ) -> Result<R> {
        let _current = self.device().make_current()?;
        let locked = self.shared.lock();
        library(self.platform())
            .and_then(|library| call(library, locked.raw()))
            .map_err(|failure| Error::of(failure, doing))
    }
}

impl Handle {
    /// Called after a call failed midway. Waits for work on the library's own streams before its memory is released, and sets the library's
    /// stream for this thread to the handle's again. The next call returns an error of this function.
    pub(crate) fn come_back(&self) {
        let _ = self.device().synchronize();
        let stream = self.stream().raw();
        // SAFETY: S1, S3: handle and stream are live, and the device is current.
        let _ = self.call(NAME, |m, h| unsafe { raw::handle::set_stream(m, h, stream) });
    }
}

/// The handle, locked by one thread.
pub(crate) struct Locked<'a>(MutexGuard<'a, Inner>);

impl Locked<'_> {
    pub(crate) fn raw(&self) -> miopenHandle_t {
        self.0.raw
    }
}

impl Shared {
    pub(crate) fn lock(&self) -> Locked<'_> {
        Locked(self.inner.lock())
    }

    /// Waits for the work and destroys the handle, once. If the wait fails, the handle is leaked.
    fn end(&mut self) -> Result<()> {
        let inner = self.inner.get_mut();
        let raw = inner.raw;
        if raw.is_null() || hip_sys::exiting() || self.device.poisoned_by().is_some() {
            return Ok(());
        }
        let library = library(self.device.platform()).map_err(|failure| Error::of(failure, NAME))?;
        // A graph may have launched its work on any stream.
        self.device.synchronize()?;
        // SAFETY: S1, S3, S4: nobody has the handle any more, its work is complete, and its device is current.
        let ended = self.device.call_alone(|| unsafe { raw::handle::destroy(library, raw) })?;
        inner.raw = null_mut();
        ended.map_err(|failure| Error::of(failure, NAME))
    }
}

impl Shared {
    /// Lets another thread destroy it, since waiting here could deadlock. False if no thread can be started; then it is leaked.
    fn end_elsewhere(&mut self) -> bool {
        let inner = self.inner.get_mut();
        let raw = std::mem::replace(&mut inner.raw, null_mut());
        let inner = Mutex::new(Inner { raw, stream: inner.stream.clone() });
        let rest = ManuallyDrop::new(Self { device: self.device.clone(), inner });
        thread::Builder::new().spawn(move || drop(ManuallyDrop::into_inner(rest))).is_ok()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let Err(error) = self.end() else { return };
        let elsewhere =
            matches!(error, Error::Hip(hip_safe::Error::InHostFunction | hip_safe::Error::Capturing { .. }));
        if !(elsewhere && self.end_elsewhere()) {
            report_drop_error(&error.into_drop_error("dropping a handle of MIOpen"));
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle on {}", self.stream)
    }
}
