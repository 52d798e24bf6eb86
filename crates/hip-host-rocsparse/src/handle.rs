//! Handles, and how a call is submitted.

use hip_host::library::{Device, Job, Stream, Uses};
use hip_sys::hip::{hipError_t, hipStream_t};
use hip_sys::provider::Handles;
use hip_sys::provider::sparse::{Outcome, VERSION, ensure, status};
use hip_sys::rocsparse::{rocsparse_handle, rocsparse_status as Status};
use parking_lot::Mutex;
use std::ffi::c_int;
use std::sync::{Arc, LazyLock};

/// The object of a handle.
pub(crate) struct Handle {
    /// The device that was current when it was made.
    device: Device,
    /// The stream's handle.
    stream: Mutex<usize>,
}

static HANDLES: LazyLock<Handles<Handle>> = LazyLock::new(|| Handles::new(0x67));

pub(crate) fn get(handle: rocsparse_handle) -> Outcome<Arc<Handle>> {
    HANDLES.get(handle as usize).map_err(|_| Status::rocsparse_status_invalid_handle)
}

pub(crate) unsafe extern "C" fn create(out: *mut rocsparse_handle) -> Status {
    status(ensure(!out.is_null(), Status::rocsparse_status_invalid_pointer).map(|()| {
        let handle = Handle { device: Device::current(), stream: Mutex::new(0) };
        // SAFETY: S11: the caller's pointer to the result.
        unsafe { out.write(HANDLES.insert(Arc::new(handle)) as rocsparse_handle) };
    }))
}

/// Queued calls still run.
pub(crate) unsafe extern "C" fn destroy(handle: rocsparse_handle) -> Status {
    status(HANDLES.remove(handle as usize).map(drop).map_err(|_| Status::rocsparse_status_invalid_handle))
}

pub(crate) unsafe extern "C" fn set_stream(handle: rocsparse_handle, stream: hipStream_t) -> Status {
    status(get(handle).and_then(|handle| {
        handle.device.while_current(|| Stream::of(stream)).map_err(failure)?;
        *handle.stream.lock() = stream as usize;
        Ok(())
    }))
}

pub(crate) unsafe extern "C" fn get_version(handle: rocsparse_handle, version: *mut c_int) -> Status {
    status(get(handle).and_then(|_| {
        ensure(!version.is_null(), Status::rocsparse_status_invalid_pointer)?;
        // SAFETY: S11: the caller's pointer to the result.
        unsafe { version.write(VERSION) };
        Ok(())
    }))
}

impl Handle {
    /// Submits a call to the handle's stream.
    ///
    /// # Safety
    /// The body uses the memory that was named, and writes what was named to be written.
    pub(crate) unsafe fn submit(
        &self,
        name: &'static str,
        uses: Uses,
        body: impl Fn() + Send + Sync + 'static,
    ) -> Outcome {
        let stream = *self.stream.lock() as hipStream_t;
        let job = Job { name, spreads: false, fits: || true };
        // SAFETY: S11: as the caller vouches.
        self.device.while_current(|| unsafe { uses.submit(stream, job, body) }).map_err(failure)
    }

    /// Submits a call whose result is the host's, and waits for it.
    ///
    /// # Safety
    /// As [`Handle::submit`].
    pub(crate) unsafe fn ask<R: Send + 'static>(
        &self,
        name: &'static str,
        uses: Uses,
        body: impl Fn() -> R + Send + Sync + 'static,
    ) -> Outcome<R> {
        let stream = *self.stream.lock() as hipStream_t;
        let stream = self.device.while_current(|| Stream::of(stream)).map_err(failure)?;
        stream.may_wait().map_err(failure)?;
        let slot = Arc::new(Mutex::new(None));
        let result = Arc::clone(&slot);
        // SAFETY: S11: as the caller vouches.
        unsafe { self.submit(name, uses, move || *result.lock() = Some(body())) }?;
        stream.wait().map_err(failure)?;
        let answer = slot.lock().take();
        answer.ok_or(Status::rocsparse_status_internal_error)
    }
}

/// HIP's error as rocSPARSE's status.
pub(crate) fn failure(error: hipError_t) -> Status {
    match error {
        hipError_t::hipErrorOutOfMemory => Status::rocsparse_status_memory_error,
        hipError_t::hipErrorInvalidValue => Status::rocsparse_status_invalid_pointer,
        _ => Status::rocsparse_status_internal_error,
    }
}
