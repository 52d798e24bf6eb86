//! Handles of cuSPARSE behind handles of ours.

use crate::functions::{Code, Raw};
use crate::library::cusparse;
use hip_nvidia::library::{self, Device, RawStream};
use hip_sys::hip::{hipError_t, hipStream_t};
use hip_sys::provider::Handles;
use hip_sys::provider::sparse::{Outcome, VERSION, ensure, status};
use hip_sys::rocsparse::{rocsparse_handle, rocsparse_status as Status};
use parking_lot::Mutex;
use std::ffi::c_int;
use std::sync::{Arc, LazyLock};

/// A handle of cuSPARSE. It is destroyed after the last call that uses it.
pub(super) struct Handle {
    /// Its address and the stream's handle. A handle is not for several threads at once.
    raw: Mutex<(usize, usize)>,
    device: &'static Device,
}

static HANDLES: LazyLock<Handles<Handle>> = LazyLock::new(|| {
    library::on_reset(|ordinal| HANDLES.end_all(|handle| handle.device.ordinal() == ordinal));
    Handles::new(0x37)
});

/// Makes calls of cuSPARSE with a handle, whose device is current and whose stream is bound.
pub(super) fn with(handle: rocsparse_handle, act: impl FnOnce(Raw) -> Outcome) -> Status {
    with_stream(handle, |raw, _, _| act(raw))
}

/// The same, with that stream and that device.
pub(super) fn with_stream(
    handle: rocsparse_handle,
    act: impl FnOnce(Raw, RawStream, &'static Device) -> Outcome,
) -> Status {
    let run = || {
        let handle = HANDLES.get(handle as usize).map_err(|_| Status::rocsparse_status_invalid_handle)?;
        let held = handle.raw.lock();
        let (raw, stream) = (held.0 as Raw, held.1 as hipStream_t);
        driven(handle.device.enter())?;
        let bound = if library::is_special(stream) {
            stream.cast()
        } else {
            let (bound, device) = driven(library::stream_of(stream))?;
            ensure(device.ordinal() == handle.device.ordinal(), Status::rocsparse_status_invalid_value)?;
            bound
        };
        // SAFETY: S1, S11: both are live.
        done(unsafe { (cusparse().cusparseSetStream)(raw, bound) })?;
        act(raw, bound, handle.device)
    };
    status(run())
}

pub(super) unsafe extern "C" fn create(out: *mut rocsparse_handle) -> Status {
    let run = || {
        ensure(!out.is_null(), Status::rocsparse_status_invalid_pointer)?;
        let device = driven(library::enter())?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: S1: a live variable; the device's context is current.
        done(unsafe { (cusparse().cusparseCreate)(&mut raw) })?;
        let handle = Handle { raw: Mutex::new((raw as usize, 0)), device };
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { out.write(HANDLES.insert(Arc::new(handle)) as rocsparse_handle) };
        Ok(())
    };
    status(run())
}

pub(super) unsafe extern "C" fn destroy(handle: rocsparse_handle) -> Status {
    status(HANDLES.remove(handle as usize).map(drop).map_err(|_| Status::rocsparse_status_invalid_handle))
}

pub(super) unsafe extern "C" fn set_stream(handle: rocsparse_handle, stream: hipStream_t) -> Status {
    let run = || {
        let handle = HANDLES.get(handle as usize).map_err(|_| Status::rocsparse_status_invalid_handle)?;
        handle.raw.lock().1 = stream as usize;
        Ok(())
    };
    status(run())
}

pub(super) unsafe extern "C" fn get_version(handle: rocsparse_handle, version: *mut c_int) -> Status {
    let run = || {
        HANDLES.get(handle as usize).map_err(|_| Status::rocsparse_status_invalid_handle)?;
        ensure(!version.is_null(), Status::rocsparse_status_invalid_pointer)?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { version.write(VERSION) };
        Ok(())
    };
    status(run())
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: S11: it was live, and nobody else has it any more. What it answers nobody waits for.
            unsafe { (cusparse().cusparseDestroy)(self.raw.get_mut().0 as Raw) };
        }
    }
}

/// cuSPARSE's status as an outcome.
pub(super) fn done(code: Code) -> Outcome {
    Err(match code {
        0 => return Ok(()),
        1 => Status::rocsparse_status_not_initialized,
        // CUSPARSE_STATUS_ALLOC_FAILED, and 11: CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
        2 | 11 => Status::rocsparse_status_memory_error,
        3 => Status::rocsparse_status_invalid_value,
        4 => Status::rocsparse_status_arch_mismatch,
        // CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, CUSPARSE_STATUS_NOT_SUPPORTED
        8 | 10 => Status::rocsparse_status_not_implemented,
        9 => Status::rocsparse_status_zero_pivot,
        _ => Status::rocsparse_status_internal_error,
    })
}

/// The driver's status as an outcome.
pub(super) fn driven<T>(result: Result<T, hipError_t>) -> Outcome<T> {
    result.map_err(|_| Status::rocsparse_status_internal_error)
}
