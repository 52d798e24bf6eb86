//! Handles, and what one call takes from its handle.

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

/// What a handle leads to.
pub(super) struct Handle {
    /// The device that was current when it was made.
    device: Device,
    pub(super) settings: Mutex<Settings>,
}

/// What a handle's functions set.
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
    /// Whether the library is to care for the workspace.
    pub(super) managed: bool,
    /// Whether calls only say how much workspace they want.
    pub(super) asked: bool,
}

/// What the library's workspace has if nobody says anything.
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

/// Ends a handle. What was submitted runs all the same.
pub(super) fn destroy(handle: rocblas_handle) -> Outcome {
    HANDLES.remove(handle as usize).map(drop).map_err(|_| HANDLE)
}

pub(super) fn get(handle: rocblas_handle) -> Outcome<Arc<Handle>> {
    HANDLES.get(handle as usize).map_err(|_| HANDLE)
}

impl Handle {
    /// The stream that a handle of HIP's means.
    pub(super) fn stream_of(&self, stream: usize) -> Result<Stream, hipError_t> {
        self.device.while_current(|| Stream::of(stream as hipStream_t))
    }
}

/// One call of a function: its handle as it is now.
pub(super) struct Call {
    handle: Arc<Handle>,
    settings: Settings,
    name: &'static str,
}

/// Ends a function of the library.
pub(super) fn status(outcome: Outcome) -> rocblas_status {
    outcome.err().unwrap_or(SUCCESS)
}

/// Begins a function that takes a handle.
pub(super) fn begin(handle: rocblas_handle, name: &'static str) -> Outcome<Call> {
    let handle = get(handle)?;
    let settings = *handle.settings.lock();
    if settings.asked { Err(UNCHANGED) } else { Ok(Call { handle, settings, name }) }
}

impl Call {
    /// Whether scalars and results are the host's.
    pub(super) fn on_host(&self) -> bool {
        self.settings.pointers == rocblas_pointer_mode::rocblas_pointer_mode_host
    }

    fn stream(&self) -> Outcome<Stream> {
        self.handle.stream_of(self.settings.stream).map_err(failure)
    }

    /// Submits the call's work. `body` says what went wrong, which breaks the device.
    ///
    /// # Safety
    /// The body uses no memory of HIP's but what `uses` names and what it looks up itself, and writes only what is named so.
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

    /// Before work whose result the call waits for.
    pub(super) fn may_wait(&self) -> Outcome {
        self.stream()?.may_wait().map_err(failure)
    }

    /// Waits until the stream has done all that it was given.
    pub(super) fn wait(&self) -> Outcome {
        self.stream()?.wait().map_err(failure)
    }
}

/// A result that is not there although the work is done.
pub(super) const LOST: Status = INTERNAL;

/// A pointer that is not null.
pub(super) fn there<T>(pointer: *const T) -> Outcome {
    if pointer.is_null() { Err(POINTER) } else { Ok(()) }
}
