//! Handles: a cuDNN handle with the stream that its calls go to.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::convert::hip;
use super::convolution::{Choices, Plans};
use super::entry::{entries, give, there};
use super::library::{check, cudnn};
use super::{BAD, NOT_IMPLEMENTED, Outcome, Status, VERSION};
use cudarc::cudnn::sys;
use hip_nvidia::library::{Device, is_special, on_reset, stream_of};
use hip_sys::hip::hipStream_t;
use hip_sys::miopen::*;
use hip_sys::provider::Handles;
use parking_lot::Mutex;
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, LazyLock};

/// Destroys the handles of a device whose context is about to end.
fn forget_device(ordinal: usize) {
    HANDLES.end_all(|session| session.lock().device.ordinal() == ordinal);
}

/// A call's exclusive use of its handle: two threads must not use cuDNN's handle at the same time.
pub(super) struct Session {
    pub(super) raw: sys::cudnnHandle_t,
    /// The driver's own number of the stream.
    pub(super) stream: sys::cudaStream_t,
    named: hipStream_t,
    pub(super) device: &'static Device,
    pub(super) choices: Choices,
    pub(super) plans: Plans,
}

// SAFETY: S8: used under the lock.
unsafe impl Send for Session {}

static HANDLES: LazyLock<Handles<Mutex<Session>>> = LazyLock::new(|| {
    on_reset(forget_device);
    Handles::new(0x50)
});

impl Session {
    fn new(named: hipStream_t) -> Outcome<Self> {
        let library = cudnn()?;
        let (stream, device) = stream_of(named).map_err(hip)?;
        let mut raw = null_mut();
        // SAFETY: S1: a live variable for the result; the stream's device is current.
        check(unsafe { (library.cudnnCreate)(&mut raw) })?;
        let mut session = Self {
            raw,
            stream: null_mut(),
            named,
            device,
            choices: Choices::default(),
            plans: Plans::default(),
        };
        session.give_stream(stream.cast(), named)?;
        Ok(session)
    }

    fn give_stream(&mut self, stream: sys::cudaStream_t, named: hipStream_t) -> Outcome {
        // SAFETY: S11: a live handle and a live stream of its device.
        check(unsafe { (cudnn()?.cudnnSetStream)(self.raw, stream) })?;
        (self.stream, self.named) = (stream, named);
        Ok(())
    }

    /// Makes the device current. A destroyed stream is an error.
    fn enter(&self) -> Outcome {
        let special = is_special(self.named);
        let entered = if special { self.device.enter().map(drop) } else { stream_of(self.named).map(drop) };
        entered.map_err(hip)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let (Ok(library), Ok(_)) = (cudnn(), self.device.enter()) {
            // They were created with the handle.
            self.plans.clear();
            // SAFETY: S4: the only owner ends.
            unsafe { (library.cudnnDestroy)(self.raw) };
        }
    }
}

fn handle_of(handle: miopenHandle_t) -> Outcome<Arc<Mutex<Session>>> {
    HANDLES.get(handle as usize).map_err(|_| BAD)
}

/// Runs a call on a handle, with its device current.
pub(super) fn with<R>(handle: miopenHandle_t, call: impl FnOnce(&mut Session) -> Outcome<R>) -> Outcome<R> {
    let handle = handle_of(handle)?;
    let mut session = handle.lock();
    session.enter()?;
    call(&mut session)
}

unsafe fn create(out: *mut miopenHandle_t, stream: hipStream_t) -> Outcome {
    there(out)?;
    let handle = HANDLES.insert(Arc::new(Mutex::new(Session::new(stream)?)));
    // SAFETY: S11: the caller's output pointer for the result.
    unsafe { give(out, handle as miopenHandle_t) }
}

entries! {
    fn miopenCreate(out: *mut miopenHandle_t) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { create(out, null_mut()) }
    }

    fn miopenCreateWithStream(out: *mut miopenHandle_t, stream: miopenAcceleratorQueue_t) {
        // SAFETY: S11: as above.
        unsafe { create(out, stream) }
    }

    fn miopenDestroy(handle: miopenHandle_t) {
        HANDLES.remove(handle as usize).map(drop).map_err(|_| BAD)
    }

    fn miopenSetStream(handle: miopenHandle_t, named: miopenAcceleratorQueue_t) {
        let handle = handle_of(handle)?;
        let mut session = handle.lock();
        if is_special(named) {
            session.device.enter().map_err(hip)?;
            return session.give_stream(named.cast(), named);
        }
        let (stream, device) = stream_of(named).map_err(hip)?;
        if device.ordinal() != session.device.ordinal() {
            return Err(BAD);
        }
        session.give_stream(stream.cast(), named)
    }

    fn miopenGetStream(handle: miopenHandle_t, out: *mut miopenAcceleratorQueue_t) {
        let named = handle_of(handle)?.lock().named;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, named) }
    }

    /// cuDNN allocates memory only for its handle, so these functions are never called.
    fn miopenSetAllocator(
        handle: miopenHandle_t,
        _allocator: miopenAllocatorFunction,
        _deallocator: miopenDeallocatorFunction,
        _context: *mut c_void,
    ) {
        handle_of(handle).map(drop)
    }

    /// cuDNN does not measure single kernels.
    fn miopenEnableProfiling(handle: miopenHandle_t, enable: bool) {
        handle_of(handle)?;
        if enable { Err(NOT_IMPLEMENTED) } else { Ok(()) }
    }

    fn miopenGetVersion(major: *mut usize, minor: *mut usize, patch: *mut usize) {
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            give(major, VERSION.major as usize)?;
            give(minor, VERSION.minor as usize)?;
            give(patch, VERSION.patch as usize)
        }
    }
}

/// The name of a status.
pub(super) unsafe extern "C" fn miopenGetErrorString(error: Status) -> *const c_char {
    let name = match error {
        Status::miopenStatusSuccess => c"miopenStatusSuccess",
        Status::miopenStatusNotInitialized => c"miopenStatusNotInitialized",
        Status::miopenStatusInvalidValue => c"miopenStatusInvalidValue",
        Status::miopenStatusBadParm => c"miopenStatusBadParm",
        Status::miopenStatusAllocFailed => c"miopenStatusAllocFailed",
        Status::miopenStatusInternalError => c"miopenStatusInternalError",
        Status::miopenStatusNotImplemented => c"miopenStatusNotImplemented",
        Status::miopenStatusUnsupportedOp => c"miopenStatusUnsupportedOp",
        Status::miopenStatusGpuOperationsSkipped => c"miopenStatusGpuOperationsSkipped",
        Status::miopenStatusVersionMismatch => c"miopenStatusVersionMismatch",
        _ => c"miopenStatusUnknownError",
    };
    name.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_that_was_never_made_is_refused() {
        let nowhere = 64 as miopenHandle_t;
        let mut stream = null_mut();
        // SAFETY: S1: live variables, and numbers that are no handles.
        unsafe {
            assert_eq!(miopenDestroy(nowhere), BAD);
            assert_eq!(miopenDestroy(null_mut()), BAD);
            assert_eq!(miopenGetStream(nowhere, &mut stream), BAD);
            assert_eq!(miopenSetStream(nowhere, null_mut()), BAD);
            assert_eq!(miopenCreate(null_mut()), BAD);
            assert_eq!(miopenEnableProfiling(nowhere, true), BAD);
        }
    }

    #[test]
    fn the_version_is_that_of_the_functions() {
        let [mut major, mut minor, mut patch] = [0; 3];
        // SAFETY: S1: live variables; then one that is null.
        unsafe {
            assert_eq!(miopenGetVersion(&mut major, &mut minor, &mut patch), Status::miopenStatusSuccess);
            assert_eq!(miopenGetVersion(&mut major, &mut minor, null_mut()), BAD);
        }
        assert_eq!((major, minor), (3, 4));
    }

    #[test]
    fn a_status_has_a_name() {
        for (status, name) in [
            (miopenStatus_t(3), c"miopenStatusBadParm"),
            (miopenStatus_t(7), c"miopenStatusUnknownError"),
            (miopenStatus_t(99), c"miopenStatusUnknownError"),
        ] {
            // SAFETY: S1: a number; the text is static.
            assert_eq!(unsafe { std::ffi::CStr::from_ptr(miopenGetErrorString(status)) }, name);
        }
    }
}
