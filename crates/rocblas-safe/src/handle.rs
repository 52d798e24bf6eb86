//! A handle of the library, bound to a stream.

use crate::raw::{self, Failure};
use crate::{AtomicsMode, Error, MathMode, Result, library};
use hip_safe::{
    Device, DeviceBuffer, DeviceView, DeviceViewMut, Stream, drop_elsewhere, drop_errors_later,
    report_drop_error,
};
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_atomics_mode, rocblas_handle, rocblas_math_mode, rocblas_pointer_mode};
use parking_lot::Mutex;
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

/// The workspace of a new handle in bytes: rocBLAS's default on most cards.
const WORKSPACE: usize = 32 << 20;
/// The minimum. Without a workspace the library would allocate its own memory, which a graph could not keep.
const LEAST_WORKSPACE: usize = 64 << 10;

/// A handle of the library, bound to a stream: operations are its methods, and are submitted to that stream.
///
/// Operations are asynchronous, as launches are. The memory that they use is ordered with all other uses, on any
/// stream and thread. They may be captured into a graph, which keeps the handle's stream too. Several threads may use a handle, one
/// after the other, under a lock. In a host function ([`Stream::launch_host`]) its operations return
/// [`InHostFunction`](hip_safe::Error::InHostFunction); queries work as usual.
///
/// The last owner waits for the device when it is dropped. In a host function, and on a thread that captures, another thread does that.
/// If the wait fails, the library's handle is leaked, and [`on_drop_error`](hip_safe::on_drop_error) reports it.
///
/// A hook for errors of drops ([`on_drop_error`](hip_safe::on_drop_error)) may use the handle whose call met the error: it is called after
/// the call has released its locks.
///
/// The settings of a new handle, whatever the library's defaults are: `f32` is computed as `f32` ([`MathMode::Full`]), and the same call gives
/// the same bits ([`AtomicsMode::Forbidden`]).
pub struct Handle {
    shown: Mutex<Shown>,
    owned: Arc<Owned>,
}

/// Properties that can be queried during a call. Their lock is held only for a moment.
struct Shown {
    stream: Stream,
    workspace: usize,
}

/// The mutable part, with C's handle. It is locked during a call of the library and the waits before it.
struct State {
    stream: Stream,
    /// Every call counts as a write of it. `None` once another owner destroys the handle.
    workspace: Option<DeviceBuffer<u8>>,
    mode: rocblas_pointer_mode,
}

/// C's handle. A graph that captured calls keeps it, because their work may use what belongs to it (S23).
struct Owned {
    device: Device,
    /// Null once it is destroyed or leaked.
    raw: RawHandle,
    /// Dropped after the handle, whose stream and workspace must live as long.
    state: Mutex<State>,
}

/// The operands of a call.
pub(crate) struct Uses<'a, 'b> {
    pub(crate) op: &'static str,
    pub(crate) reads: &'a [DeviceView<'b, u8>],
    pub(crate) writes: &'a mut [DeviceViewMut<'b, u8>],
    /// Whether the host waits for the results.
    pub(crate) for_host: bool,
}

struct RawHandle(rocblas_handle);

// SAFETY: S8: it is an address; calls with it are made while the lock of the handle's state is held.
unsafe impl Send for RawHandle {}
// SAFETY: S8: as above.
unsafe impl Sync for RawHandle {}

impl Handle {
    /// A handle that submits to `stream`, with 32 MiB of workspace.
    ///
    /// # Errors
    /// [`Error::NoLibrary`] if the platform has no rocBLAS; [`Error::Status`] if the library refuses; [`Error::Hip`] if there is no memory for
    /// the workspace.
    #[doc(alias = "rocblas_create_handle")]
    pub fn new(stream: &Stream) -> Result<Self> {
        Self::with_workspace(stream, WORKSPACE)
    }

    /// As [`Handle::new`], with a workspace of so many bytes (64 KiB at least). An operation that needs more answers
    /// `rocblas_status_memory_error`.
    ///
    /// # Errors
    /// As there.
    pub fn with_workspace(stream: &Stream, bytes: usize) -> Result<Self> {
        let device = stream.device().clone();
        let table = table(&device)?;
        let mut workspace = workspace(stream, bytes)?;
        let (address, bytes) = range(&mut workspace);
        let shown = Mutex::new(Shown { stream: stream.clone(), workspace: bytes });
        let mode = rocblas_pointer_mode::rocblas_pointer_mode_host;
        let state = Mutex::new(State { stream: stream.clone(), workspace: Some(workspace), mode });
        // SAFETY: S1, S3: the device is current.
        let raw = device.call_alone(|| unsafe { raw::handles::create(table) })??;
        let owned = Arc::new(Owned { device: device.clone(), raw: RawHandle(raw), state });
        let atomics = rocblas_atomics_mode::rocblas_atomics_not_allowed;
        device.call_alone(|| {
            // SAFETY: S1, S2, S3, S23: the handle is new, and its owner has the stream and the workspace for as long as it has the handle.
            unsafe {
                raw::handles::set_stream(table, raw, stream.raw())?;
                raw::handles::set_workspace(table, raw, address, bytes)?;
                raw::handles::set_atomics_mode(table, raw, atomics)?;
                raw::handles::set_pointer_mode(table, raw, mode)
            }
        })??;
        Ok(Self { shown, owned })
    }

    /// The device that it belongs to.
    pub fn device(&self) -> &Device {
        &self.owned.device
    }

    /// The stream that it submits to.
    pub fn stream(&self) -> Stream {
        self.shown.lock().stream.clone()
    }

    /// Submits to another stream of its device from now on.
    ///
    /// # Errors
    /// [`Error::Hip`] with [`WrongDevice`](hip_safe::Error::WrongDevice) for a stream of another device; [`Error::Status`].
    #[doc(alias = "rocblas_set_stream")]
    pub fn set_stream(&self, stream: &Stream) -> Result<()> {
        self.device().check_stream(stream)?;
        let table = table(self.device())?;
        let former = self.device().call_alone(|| {
            // The lock is taken inside `call_alone`, which first waits for threads that capture: they may want the lock.
            let mut state = self.owned.state.lock();
            let raw = self.owned.raw.0;
            let (address, bytes) = state.workspace.as_mut().map_or((std::ptr::null_mut(), 0), range);
            // SAFETY: S1, S3, S8: both are live and of one device, which is current; the lock is held.
            unsafe { raw::handles::set_stream(table, raw, stream.raw()) }?;
            let former = std::mem::replace(&mut state.stream, stream.clone());
            let shown = std::mem::replace(&mut self.shown.lock().stream, stream.clone());
            // The library may reset this setting with the stream.
            // SAFETY: S1, S2, S3, S8: the memory lives until the handle has another; the lock is held.
            let kept = unsafe { raw::handles::set_workspace(table, raw, address, bytes) };
            Ok::<_, Failure>(([former, shown], kept))
        })??;
        // If these were the last references to the previous stream, their drop waits for its work.
        let (_former, kept) = former;
        Ok(kept?)
    }

    /// Replaces the workspace by one of so many bytes (64 KiB at least).
    ///
    /// # Errors
    /// [`Error::Hip`] if there is no memory for it, or while this thread captures; [`Error::Status`].
    #[doc(alias = "rocblas_set_workspace")]
    pub fn set_workspace(&self, bytes: usize) -> Result<()> {
        let table = table(self.device())?;
        self.device().check_usable()?;
        let mut workspace = workspace(&self.stream(), bytes)?;
        let (address, bytes) = range(&mut workspace);
        let former = self.device().call_alone(|| {
            let mut state = self.owned.state.lock();
            // SAFETY: S1, S2, S3, S8: the memory lives until the handle has another; the lock is held.
            unsafe { raw::handles::set_workspace(table, self.owned.raw.0, address, bytes) }?;
            self.shown.lock().workspace = bytes;
            Ok::<_, Failure>(state.workspace.replace(workspace))
        })??;
        drop(former);
        Ok(())
    }

    /// The bytes of its workspace.
    pub fn workspace_bytes(&self) -> usize {
        self.shown.lock().workspace
    }

    /// Sets whether products of `f32` may be computed with reduced precision.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the library is too old to have such modes and another one than [`MathMode::Full`] is asked for; [`Error::Status`] if it
    /// refuses.
    #[doc(alias = "rocblas_set_math_mode")]
    pub fn set_math_mode(&self, mode: MathMode) -> Result<()> {
        let c = match mode {
            MathMode::Full => rocblas_math_mode::rocblas_default_math,
            MathMode::Reduced => rocblas_math_mode::rocblas_xf32_xdl_math_op,
        };
        match raw::handles::has_math_modes(table(self.device())?) {
            // The library always computes f32 in full precision.
            Err(_) if mode == MathMode::Full => Ok(()),
            Err(absent) => Err(absent.into()),
            // SAFETY: S1, S8: the handle is live and the lock is held.
            Ok(()) => self.configure(|table, raw| unsafe { raw::handles::set_math_mode(table, raw, c) }),
        }
    }

    /// Sets whether results may depend on the order of the terms of a sum.
    ///
    /// # Errors
    /// [`Error::Status`] if the library refuses.
    #[doc(alias = "rocblas_set_atomics_mode")]
    pub fn set_atomics_mode(&self, mode: AtomicsMode) -> Result<()> {
        let mode = match mode {
            AtomicsMode::Forbidden => rocblas_atomics_mode::rocblas_atomics_not_allowed,
            AtomicsMode::Allowed => rocblas_atomics_mode::rocblas_atomics_allowed,
        };
        // SAFETY: S1, S8: the handle is live and the lock is held.
        self.configure(|table, raw| unsafe { raw::handles::set_atomics_mode(table, raw, mode) })
    }

    /// Destroys it, if no graph keeps it, and returns any error.
    ///
    /// # Errors
    /// [`Error::Status`] if the library refuses; [`Error::Hip`] if its work cannot be waited for: while this thread captures a graph, and in
    /// a host function, where another thread destroys it.
    #[doc(alias = "rocblas_destroy_handle")]
    pub fn close(self) -> Result<()> {
        Arc::into_inner(self.owned).map_or(Ok(()), |mut last| last.destroy())
    }

    fn configure(
        &self,
        call: impl FnOnce(&RocblasTable, rocblas_handle) -> Result<(), Failure>,
    ) -> Result<()> {
        let table = table(self.device())?;
        let _current = self.device().make_current()?;
        let _later = drop_errors_later();
        let _state = self.owned.state.lock();
        Ok(call(table, self.owned.raw.0)?)
    }

    /// Submits one call that reads and writes the given operands.
    ///
    /// # Safety
    /// The call is one of the library's with this handle, and uses nothing else. Operands that it writes are given as written.
    pub(crate) unsafe fn submit(
        &self,
        Uses { op, reads, writes, for_host }: Uses<'_, '_>,
        mode: Option<rocblas_pointer_mode>,
        call: impl FnOnce(&RocblasTable, rocblas_handle) -> Result<(), Failure>,
    ) -> Result<()> {
        let table = table(self.device())?;
        // Before the lock, because its owner may be waiting for the host function that makes this call.
        self.device().check_usable()?;
        // A hook for errors may want the lock.
        let _later = drop_errors_later();
        let mut state = self.owned.state.lock();
        let State { stream, workspace, mode: current } = &mut *state;
        let raw = self.owned.raw.0;
        let mut submission = stream.submission();
        for read in reads {
            submission.read(read);
        }
        for write in writes {
            submission.write(write);
        }
        if for_host {
            submission.not_captured(
                "a result on the host",
                "write it to device memory: the function whose name ends in _into",
            );
        }
        if let Some(workspace) = workspace {
            submission.write(workspace);
        }
        submission.keep(Arc::clone(&self.owned) as _);
        let submitted = |_| {
            if let Some(mode) = mode.filter(|mode| mode != current) {
                // SAFETY: S1, S8: the handle is live and the lock is held.
                unsafe { raw::handles::set_pointer_mode(table, raw, mode) }?;
                *current = mode;
            }
            call(table, raw)
        };
        // SAFETY: S5, S23: the library submits to the handle's stream alone; beside what the caller vouches for, its work uses the workspace.
        let answer = unsafe { submission.submit(op, submitted) }?;
        Ok(answer?)
    }
}

/// The library's functions.
fn table(device: &Device) -> Result<&RocblasTable> {
    match library(device.platform()) {
        Ok(library) => Ok(library.table()),
        Err(error) => Err(Error::NoLibrary(error.clone())),
    }
}

fn workspace(stream: &Stream, bytes: usize) -> Result<DeviceBuffer<u8>> {
    // SAFETY: S15: it is the library's alone, which reads what it has written there.
    let buffer = unsafe { stream.alloc_uninit(bytes.max(LEAST_WORKSPACE)) }?;
    Ok(buffer.named("workspace of rocBLAS"))
}

/// The workspace's address for C, and its size in bytes.
fn range(workspace: &mut DeviceBuffer<u8>) -> (*mut c_void, usize) {
    (workspace.device_ptr_mut().cast(), workspace.len())
}

impl Owned {
    /// Waits for its work and destroys the handle, once. If this thread may not wait, nothing changes; after another failure it is
    /// leaked.
    fn destroy(&mut self) -> Result<()> {
        if self.raw.0.is_null() || self.device.poisoned_by().is_some() || hip_sys::exiting() {
            return Ok(());
        }
        // The work may still use memory that belongs to the handle.
        let waited = self.device.synchronize();
        if waited.as_ref().is_err_and(is_of_this_thread) {
            return Ok(waited?);
        }
        let raw = std::mem::replace(&mut self.raw.0, std::ptr::null_mut());
        waited?;
        let table = table(&self.device)?;
        // SAFETY: S1, S3, S4: this was the last reference, and all work is complete.
        self.device.call_alone(|| unsafe { raw::handles::destroy(table, raw) })??;
        Ok(())
    }

    /// Takes all parts, so that nothing is left to destroy.
    fn take(&mut self) -> Self {
        let raw = RawHandle(std::mem::replace(&mut self.raw.0, std::ptr::null_mut()));
        let State { stream, workspace, mode } = self.state.get_mut();
        let state = State { stream: stream.clone(), workspace: workspace.take(), mode: *mode };
        Self { device: self.device.clone(), raw, state: Mutex::new(state) }
    }
}

/// Whether another thread may wait although this one may not.
fn is_of_this_thread(error: &hip_safe::Error) -> bool {
    matches!(error, hip_safe::Error::InHostFunction | hip_safe::Error::Capturing { .. })
}

impl Drop for Owned {
    fn drop(&mut self) {
        let doing = || String::from("dropping a handle");
        match self.destroy() {
            Ok(()) => {}
            Err(Error::Hip(error)) if is_of_this_thread(&error) => {
                if !drop_elsewhere(self.take()) {
                    report_drop_error(&error);
                }
            }
            Err(Error::Hip(error)) => report_drop_error(&error),
            Err(Error::Status { function, code, name }) => report_drop_error(&hip_safe::Error::Hip {
                call: function,
                code,
                name: name.into(),
                doing: doing(),
                cause: None,
            }),
            Err(other) => report_drop_error(&hip_safe::Error::Hip {
                call: "rocblas_destroy_handle",
                code: 0,
                name: other.to_string(),
                doing: doing(),
                cause: None,
            }),
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle on {}", self.stream())
    }
}
