//! Handles, and the settings that a call takes from its handle.

use super::check::{HANDLE, INTERNAL, Outcome, POINTER, SUCCESS, Status, UNCHANGED, failure};
use super::parallel;
use hip_host::library::{Device, Job, Stream, Uses};
use hip_sys::hip::{hipError_t, hipStream_t};
use hip_sys::provider::Handles;
use hip_sys::rocblas::{
    rocblas_atomics_mode, rocblas_handle, rocblas_math_mode, rocblas_performance_metric,
    rocblas_pointer_mode, rocblas_status,
};
use parking_lot::Mutex;
use std::sync::{Arc, LazyLock};

/// The object of a handle.
pub(super) struct Handle {
    /// The device that was current when the handle was made.
    device: Device,
    pub(super) settings: Mutex<Settings>,
}

/// The settings of a handle.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    /// The stream's handle.
    pub(super) stream: usize,
    pub(super) pointers: rocblas_pointer_mode,
    pub(super) atomics: rocblas_atomics_mode,
    pub(super) math: rocblas_math_mode,
    pub(super) metric: rocblas_performance_metric,
    /// Bytes of the workspace, which nothing here uses.
    pub(super) workspace: usize,
    /// Whether the library manages the workspace.
    pub(super) managed: bool,
    /// Whether calls only report how much workspace they want.
    pub(super) asked: bool,
}

/// The default size of the library's workspace.
pub(super) const WORKSPACE: usize = 32 << 20;

static HANDLES: LazyLock<Handles<Handle>> = LazyLock::new(|| Handles::new(0x62));

/// A new handle for the current device.
pub(super) fn create() -> rocblas_handle {
    let settings = Settings {
        stream: 0,
        pointers: rocblas_pointer_mode::rocblas_pointer_mode_host,
        atomics: rocblas_atomics_mode::rocblas_atomics_allowed,
        math: rocblas_math_mode::rocblas_default_math,
        metric: rocblas_performance_metric::rocblas_default_performance_metric,
        workspace: WORKSPACE,
        managed: true,
        asked: false,
    };
    let handle = Handle { device: Device::current(), settings: Mutex::new(settings) };
    HANDLES.insert(Arc::new(handle)) as rocblas_handle
}

/// Destroys a handle. Submitted work still runs.
pub(super) fn destroy(handle: rocblas_handle) -> Outcome {
    HANDLES.remove(handle as usize).map(drop).map_err(|_| HANDLE)
}

pub(super) fn get(handle: rocblas_handle) -> Outcome<Arc<Handle>> {
    HANDLES.get(handle as usize).map_err(|_| HANDLE)
}

impl Handle {
    /// The stream that HIP's handle denotes.
    pub(super) fn stream_of(&self, stream: usize) -> Result<Stream, hipError_t> {
        self.device.while_current(|| Stream::of(stream as hipStream_t))
    }
}

/// One call of a function, with a copy of its handle's settings.
pub(super) struct Call {
    handle: Arc<Handle>,
    settings: Settings,
    name: &'static str,
}

/// Turns an outcome into the status that a function returns.
pub(super) fn status(outcome: Outcome) -> rocblas_status {
    outcome.err().unwrap_or(SUCCESS)
}

/// Checks the handle that a function got, and begins the call.
pub(super) fn begin(handle: rocblas_handle, name: &'static str) -> Outcome<Call> {
    let handle = get(handle)?;
    let settings = *handle.settings.lock();
    if settings.asked { Err(UNCHANGED) } else { Ok(Call { handle, settings, name }) }
}

impl Call {
    /// Whether scalars and results are in host memory.
    pub(super) fn on_host(&self) -> bool {
        self.settings.pointers == rocblas_pointer_mode::rocblas_pointer_mode_host
    }

    fn stream(&self) -> Outcome<Stream> {
        self.handle.stream_of(self.settings.stream).map_err(failure)
    }

    /// Submits the call's work. If `body` returns an error, the device has a sticky error.
    ///
    /// # Safety
    /// The body uses only memory of HIP that is listed in `uses` or that it looks up itself, and writes only what is listed as written.
    pub(super) unsafe fn submit(
        &self,
        uses: Uses,
        body: Box<dyn Fn() -> Result<(), (hipError_t, String)> + Send + Sync>,
    ) -> Outcome {
        let (device, name) = (self.stream()?.device(), self.name);
        let act = move || {
            if let Err((code, message)) = body() {
                device.fail(code, &format!("{name}: {message}"));
            }
        };
        let stream = self.settings.stream as hipStream_t;
        let job = Job { name, spreads: false, fits: parallel::fits };
        // SAFETY: S11: the caller vouches for the body.
        self.handle.device.while_current(|| unsafe { uses.submit(stream, job, act) }).map_err(failure)
    }

    /// Checks that the call may wait for its result, before the work is submitted.
    pub(super) fn may_wait(&self) -> Outcome {
        self.stream()?.may_wait().map_err(failure)
    }

    /// Waits for all work of the stream.
    pub(super) fn wait(&self) -> Outcome {
        self.stream()?.wait().map_err(failure)
    }
}

/// The error if the work is done but its result is missing.
pub(super) const LOST: Status = INTERNAL;

/// Fails if the pointer is null.
pub(super) fn there<T>(pointer: *const T) -> Outcome {
    if pointer.is_null() { Err(POINTER) } else { Ok(()) }
}
