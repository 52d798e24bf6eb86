//! A handle of the library, bound to a stream.

use crate::convert::status_name;
use crate::raw::{self, Api};
use crate::{Error, Result, library};
use hip_safe::{Device, LibraryHandle, Stream, Submission};
use hip_sys::rocsparse::rocsparse_handle;
use hip_sys::{RocsparseTable, Version};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// A handle of the library, bound to a stream: conversions are its methods, and operations are prepared with it. All are submitted to that
/// stream. It may be used from several threads; its calls come one after the other.
///
/// The last owner waits for the device when it is dropped: what was prepared with a handle owns it too. In a host function, and on a thread
/// that captures, another thread does that.
pub struct Handle(Arc<Shared>);

/// What a handle and all that was prepared with it own.
pub(crate) struct Shared {
    raw: LibraryHandle<Raw>,
    /// Held during a call.
    lock: Mutex<()>,
}

/// C's handle, and the stream that it submits to.
struct Raw {
    handle: rocsparse_handle,
    stream: Stream,
}

// SAFETY: S8: it is an address; calls with it are made under a lock.
unsafe impl Send for Raw {}
// SAFETY: S8: as above.
unsafe impl Sync for Raw {}

impl Handle {
    /// A handle that submits to `stream`.
    ///
    /// # Errors
    /// [`Error::NoLibrary`] if the platform has no rocSPARSE; [`Error::Status`] if that refuses; [`Error::Hip`] while this thread captures.
    #[doc(alias = "rocsparse_create_handle")]
    #[doc(alias = "rocsparse_set_stream")]
    pub fn new(stream: &Stream) -> Result<Self> {
        let device = stream.device();
        let table = table(device)?;
        // SAFETY: S1, S3: the device is current.
        let handle = device.call_alone(|| unsafe { raw::create_handle(table) })??;
        let raw = LibraryHandle::new(device, Raw { handle, stream: stream.clone() }, destroy);
        // SAFETY: S1, S3: the handle is new, and the stream is of the device, which is current.
        device.call_alone(|| unsafe { raw::set_stream(Api { table, handle }, stream.raw()) })??;
        Ok(Self(Arc::new(Shared { raw, lock: Mutex::new(()) })))
    }

    /// The stream that it submits to.
    pub fn stream(&self) -> &Stream {
        self.0.stream()
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        self.0.raw.device()
    }

    /// The version that the library reports, which is not ROCm's. The replacements report the one whose behaviour they follow.
    ///
    /// # Errors
    /// [`Error::Status`]; [`Error::Hip`] while this thread captures.
    #[doc(alias = "rocsparse_get_version")]
    pub fn version(&self) -> Result<Version> {
        let (device, shared) = (self.device(), self.shared());
        let api = Api { table: table(device)?, handle: shared.raw.get().handle };
        let ask = || {
            let _one = shared.lock.lock();
            // SAFETY: S1, S3, S23: the handle is live and used under its lock, and its device is current.
            unsafe { raw::version(api) }
        };
        Ok(Version::from_rocrand(device.call_alone(ask)??))
    }

    /// Destroys it, if nothing that was prepared with it is left, and returns any error.
    ///
    /// # Errors
    /// [`Error::Hip`]: the library refuses, or the work cannot be waited for. In a host function and while this thread captures another thread
    /// destroys it.
    #[doc(alias = "rocsparse_destroy_handle")]
    pub fn close(self) -> Result<()> {
        match Arc::into_inner(self.0) {
            Some(Shared { raw, .. }) => Ok(raw.close()?),
            None => Ok(()),
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0
    }
}

impl Shared {
    pub(crate) fn stream(&self) -> &Stream {
        &self.raw.get().stream
    }

    /// Submits one call. A graph cannot contain it: its launches would use indices that may have changed since they were checked.
    ///
    /// # Safety
    /// The call is one of the library's with this handle, and uses no memory but what the submission names, and writes only what that says. The
    /// submission is of this handle's stream.
    pub(crate) unsafe fn submit<R>(
        &self,
        mut submission: Submission<'_>,
        doing: &'static str,
        call: impl FnOnce(Api<'_>) -> raw::Result<R>,
    ) -> Result<R> {
        let table = table(self.raw.device())?;
        submission.not_captured("a call of rocSPARSE", "make it outside of the capture");
        let call = |_| {
            let _one = self.lock.lock();
            call(Api { table, handle: self.raw.get().handle })
        };
        // SAFETY: S5, S23: the library submits to the handle's stream alone, and the caller vouches for the memory.
        Ok(unsafe { submission.submit(doing, call) }??)
    }
}

/// The library's functions.
pub(crate) fn table(device: &Device) -> Result<&RocsparseTable> {
    match library(device.platform()) {
        Ok(library) => Ok(library.table()),
        Err(error) => Err(Error::NoLibrary(error.clone())),
    }
}

fn destroy(device: &Device, raw: &mut Raw) -> hip_safe::Result<()> {
    // The handle was made by it.
    let Ok(library) = library(device.platform()) else { return Ok(()) };
    let api = Api { table: library.table(), handle: raw.handle };
    // SAFETY: S1, S3, S4: this is the only reference, and all work is complete.
    unsafe { raw::destroy_handle(api) }
        .map_err(|failure| destroyed(failure, "destroying a handle of rocSPARSE"))
}

/// The error of a call that destroys.
pub(crate) fn destroyed(failure: raw::Failure, doing: &str) -> hip_safe::Error {
    hip_safe::Error::Hip {
        call: failure.function,
        code: failure.status.0,
        name: status_name(failure.status).into(),
        doing: doing.into(),
        cause: None,
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a handle of rocSPARSE on {}", self.stream())
    }
}
