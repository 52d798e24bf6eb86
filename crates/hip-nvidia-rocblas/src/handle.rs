//! rocBLAS's handle: one of cuBLAS's, its device, and its settings.

use super::check::{HANDLE, Outcome, SUCCESS, Scalar, VALUE, ensure, status};
use super::convert::{AtomicsMode, MathMode, PointerMode, status_of, status_of_driver};
use super::functions::{Code, Raw};
use super::library::cublas;
use hip_nvidia::library::{self, Device, RawStream};
use hip_nvidia_hipblaslt::GemmPlans;
use hip_sys::hip::{hipError_t, hipStream_t};
use hip_sys::provider::Handles;
use hip_sys::rocblas::{rocblas_handle, rocblas_pointer_mode, rocblas_status};
use parking_lot::Mutex;
use std::any::Any;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

/// A cuBLAS context. It is destroyed after the last call that uses it.
pub(super) struct Handle {
    pub(super) raw: Raw,
    pub(super) device: &'static Device,
    /// The modes have rocBLAS's numbers.
    pub(super) pointer_mode: AtomicU32,
    pub(super) atomics_mode: AtomicU32,
    pub(super) math_mode: AtomicU32,
    pub(super) metric: AtomicU32,
    /// Whether calls only report the memory that they want.
    pub(super) querying: AtomicBool,
    /// The driver's handle of the stream.
    stream: AtomicPtr<c_void>,
    bound: Mutex<Bound>,
    /// Products by cuBLASLt, if there is one.
    pub(super) lt: Option<GemmPlans>,
    /// What a library above this one keeps with the handle. It is dropped after it, with its device current.
    pub(super) kept: OnceLock<Box<dyn Any + Send + Sync>>,
}

/// Settings that must be applied to cuBLAS again when one of them changes.
struct Bound {
    /// HIP's handle of the stream.
    stream: usize,
    workspace: Workspace,
}

/// The program's workspace for cuBLAS; null if cuBLAS uses its own memory.
#[derive(Clone, Copy)]
pub(super) struct Workspace {
    pub(super) start: usize,
    pub(super) bytes: usize,
}

// SAFETY: S8: cuBLAS's handle may be used from any thread, and is locked inside; the rest are atomics and a lock.
unsafe impl Send for Handle {}
// SAFETY: S8: as above.
unsafe impl Sync for Handle {}

pub(super) static HANDLES: LazyLock<Handles<Handle>> = LazyLock::new(|| {
    library::on_reset(forget_device);
    Handles::new(0x31)
});

/// cuBLAS's status as an outcome.
pub(super) fn done(code: Code) -> Outcome {
    if code == 0 { Ok(()) } else { Err(status_of(code)) }
}

/// The driver's status as an outcome.
pub(super) fn driven<T>(result: Result<T, hipError_t>) -> Outcome<T> {
    result.map_err(status_of_driver)
}

/// The object of a handle; its device's context becomes current.
pub(super) fn handle_of(handle: rocblas_handle) -> Outcome<Arc<Handle>> {
    let handle = HANDLES.get(handle as usize).map_err(|_| HANDLE)?;
    driven(handle.device.enter())?;
    Ok(handle)
}

/// Runs the body of an operation. During a memory size query the answer is 0 bytes: cuBLAS has its own memory.
pub(super) fn with(handle: rocblas_handle, body: impl FnOnce(&Handle) -> Outcome) -> rocblas_status {
    status(handle_of(handle).and_then(|handle| {
        if handle.querying.load(Ordering::Relaxed) {
            return Err(rocblas_status::rocblas_status_size_unchanged);
        }
        body(&handle)
    }))
}

impl Handle {
    /// A handle on the current device and its null stream, with rocBLAS's initial settings.
    pub(super) fn create() -> Outcome<Self> {
        let device = driven(library::enter())?;
        let mut raw = null_mut();
        // SAFETY: S1: a live variable; the device's context is current.
        done(unsafe { (cublas().cublasCreate_v2)(&mut raw) })?;
        let handle = Self {
            raw,
            device,
            pointer_mode: AtomicU32::new(0),
            atomics_mode: AtomicU32::new(0),
            math_mode: AtomicU32::new(0),
            metric: AtomicU32::new(0),
            querying: AtomicBool::new(false),
            stream: AtomicPtr::new(null_mut()),
            bound: Mutex::new(Bound { stream: 0, workspace: Workspace { start: 0, bytes: 0 } }),
            lt: GemmPlans::new(),
            kept: OnceLock::new(),
        };
        handle.set_atomics_mode(AtomicsMode(1))?;
        handle.set_math_mode(0, MathMode::EXACT)?;
        Ok(handle)
    }

    /// Whether scalars and results are in host memory. Then a call reads and writes them before it returns.
    pub(super) fn on_host(&self) -> bool {
        self.pointer_mode.load(Ordering::Relaxed) == rocblas_pointer_mode::rocblas_pointer_mode_host.0
    }

    /// Whether a scalar is known to have this value. The value of one in device memory is not known.
    ///
    /// # Safety
    /// The scalar is not null, and live if scalars are on the host.
    pub(super) unsafe fn is<T: Scalar>(&self, scalar: *const T, number: u8) -> bool {
        // SAFETY: S11: as promised above.
        self.on_host() && unsafe { scalar.read_unaligned() }.is(number)
    }

    pub(super) fn set_pointer_mode(&self, mode: PointerMode) -> Outcome {
        // SAFETY: S11: a live handle.
        done(unsafe { (cublas().cublasSetPointerMode_v2)(self.raw, mode) })?;
        self.pointer_mode.store(mode.0, Ordering::Relaxed);
        Ok(())
    }

    pub(super) fn set_atomics_mode(&self, mode: AtomicsMode) -> Outcome {
        // SAFETY: S11: a live handle.
        done(unsafe { (cublas().cublasSetAtomicsMode)(self.raw, mode) })?;
        self.atomics_mode.store(mode.0, Ordering::Relaxed);
        Ok(())
    }

    pub(super) fn set_math_mode(&self, theirs: u32, mode: MathMode) -> Outcome {
        // SAFETY: S11: a live handle.
        done(unsafe { (cublas().cublasSetMathMode)(self.raw, mode) })?;
        self.math_mode.store(theirs, Ordering::Relaxed);
        Ok(())
    }

    /// HIP's handle of the stream.
    pub(super) fn stream(&self) -> hipStream_t {
        self.bound.lock().stream as hipStream_t
    }

    /// The driver's handle of the stream.
    pub(super) fn driver_stream(&self) -> RawStream {
        self.stream.load(Ordering::Relaxed)
    }

    pub(super) fn set_stream(&self, stream: hipStream_t) -> Outcome {
        let number = stream as usize;
        let raw = if library::is_special(stream) {
            stream.cast()
        } else {
            let (raw, device) = library::stream_of(stream).map_err(|_| VALUE)?;
            ensure(device.ordinal() == self.device.ordinal(), VALUE)?;
            raw
        };
        let mut bound = self.bound.lock();
        self.bind(raw, bound.workspace)?;
        self.stream.store(raw, Ordering::Relaxed);
        bound.stream = number;
        Ok(())
    }

    pub(super) fn workspace(&self) -> Workspace {
        self.bound.lock().workspace
    }

    pub(super) fn set_workspace(&self, workspace: Workspace) -> Outcome {
        let mut bound = self.bound.lock();
        self.bind(self.driver_stream(), workspace)?;
        bound.workspace = workspace;
        Ok(())
    }

    /// Setting a stream resets cuBLAS's workspace to its own, so the program's workspace is set afterwards.
    fn bind(&self, stream: RawStream, workspace: Workspace) -> Outcome {
        // SAFETY: S11: a live handle and stream.
        done(unsafe { (cublas().cublasSetStream_v2)(self.raw, stream.cast()) })?;
        if workspace.start == 0 {
            return Ok(());
        }
        // SAFETY: S11: the program's memory, which it keeps until it sets other.
        done(unsafe {
            (cublas().cublasSetWorkspace_v2)(self.raw, workspace.start as *mut c_void, workspace.bytes)
        })
    }

    /// Sets results to zero: in host memory at once, in device memory in stream order.
    ///
    /// # Safety
    /// The results have so many bytes.
    pub(super) unsafe fn zero(&self, results: *mut c_void, bytes: usize) -> Outcome {
        if bytes == 0 {
            return Ok(());
        }
        if self.on_host() {
            // SAFETY: S11: as promised above.
            unsafe { results.cast::<u8>().write_bytes(0, bytes) };
            return Ok(());
        }
        // SAFETY: S2, S11: as promised above.
        driven(unsafe { library::fill_with_zeros(results, bytes, self.driver_stream()) })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: S11: it was live, and nobody else has it any more. What it answers nobody waits for.
            unsafe { (cublas().cublasDestroy_v2)(self.raw) };
        } else {
            // Without the context cublasLtDestroy would fail: it is leaked.
            std::mem::forget(self.lt.take());
        }
    }
}

/// Destroys every handle on a device whose context is about to end.
fn forget_device(ordinal: usize) {
    HANDLES.end_all(|handle| handle.device.ordinal() == ordinal);
}

/// Registers a new handle and returns its number.
pub(super) fn insert() -> Outcome<rocblas_handle> {
    Ok(HANDLES.insert(Arc::new(Handle::create()?)) as rocblas_handle)
}

/// Destroys a handle.
pub(super) fn remove(handle: rocblas_handle) -> rocblas_status {
    HANDLES.remove(handle as usize).map_or(HANDLE, |_| SUCCESS)
}
