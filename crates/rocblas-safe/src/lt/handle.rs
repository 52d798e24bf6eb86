//! A handle of the library, and the algorithms that it chose.

use super::problem::Problem;
use super::raw::{self, Descriptors};
use super::{library, status_name};
use crate::{Error, Result};
use hip_safe::{Device, DeviceBuffer, LibraryHandle, Memo, MemoStatistics};
use hip_sys::HipblasltTable;
use hip_sys::hipblaslt::{hipblasLtHandle_t, hipblasLtMatmulAlgo_t};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most bytes of work memory of a new handle: what hipBLASLt's own programs take.
const WORK_LIMIT: usize = 32 << 20;
/// The most problems whose algorithm is remembered.
const MOST_PROBLEMS: usize = 1024;

/// A handle of hipBLASLt on a device. [`LtHandle::matmul`](LtHandle::matmul) begins a product.
///
/// It may be used from several threads and on several streams; its products come one after the other, because the library keeps memory with a
/// handle that they share. A graph that captured products keeps it. The last owner waits for the device when it is dropped; in a host function,
/// and on a thread that captures, another thread does that.
///
/// The algorithm of a problem is asked for once: sizes, leading dimensions, types, transpositions, epilogue, batch, alignment of addresses and the
/// limit of work memory make a problem. It remembers 1024 of them and forgets what was not used the longest time.
pub struct LtHandle {
    pub(super) shared: Arc<Shared>,
    algorithms: Memo<Problem, Choice>,
    work_limit: AtomicUsize,
}

/// C's handle.
pub(super) struct Shared {
    pub(super) handle: LibraryHandle<RawHandle>,
    /// Held during a call.
    pub(super) lock: Mutex<()>,
    /// The library keeps memory with a handle that kernels of several products use: this orders them, on whichever stream.
    pub(super) state: DeviceBuffer<u8>,
}

pub(super) struct RawHandle(pub(super) hipblasLtHandle_t);

// SAFETY: S8: it is an address; calls with it are made under a lock.
unsafe impl Send for RawHandle {}
// SAFETY: S8: as above.
unsafe impl Sync for RawHandle {}

/// An algorithm and the bytes of work memory that it needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) algorithm: hipblasLtMatmulAlgo_t,
    pub(super) work_bytes: usize,
}

impl LtHandle {
    /// A handle on a device, whose products take up to 32 MiB of work memory.
    ///
    /// # Errors
    /// [`Error::NoLtLibrary`] if the platform has no hipBLASLt; [`Error::LtStatus`] if that refuses, as on cards that it has no kernels for.
    #[doc(alias = "hipblasLtCreate")]
    pub fn new(device: &Device) -> Result<Self> {
        let table = table(device)?;
        let stream = device.new_stream()?;
        let (state, raw) = device.call_alone(|| {
            let state = stream.alloc_zeros(1)?;
            // SAFETY: S1, S3: the device is current.
            let raw = unsafe { raw::create(table) }?;
            Ok::<_, Error>((state, raw))
        })??;
        let handle = LibraryHandle::new(device, RawHandle(raw), destroy);
        let shared = Arc::new(Shared { handle, lock: Mutex::new(()), state });
        let (algorithms, work_limit) = (Memo::new(MOST_PROBLEMS), AtomicUsize::new(WORK_LIMIT));
        Ok(Self { shared, algorithms, work_limit })
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        self.shared.handle.device()
    }

    /// The most bytes of work memory of a product.
    pub fn work_limit(&self) -> usize {
        self.work_limit.load(Ordering::Relaxed)
    }

    /// Sets the most bytes of work memory that a product may take from the pool of its stream's device. Algorithms that need more are not
    /// considered from now on.
    pub fn set_work_limit(&self, bytes: usize) {
        self.work_limit.store(bytes, Ordering::Relaxed);
    }

    /// How many problems' algorithms it remembers, and how often one was asked for that it knew, or did not.
    pub fn statistics(&self) -> MemoStatistics {
        self.algorithms.statistics()
    }

    /// Forgets all algorithms, so that the library is asked again.
    pub fn forget_algorithms(&self) {
        self.algorithms.clear();
    }

    /// Destroys it, if no graph keeps it, and returns any error.
    ///
    /// # Errors
    /// [`Error::Hip`]: the library refuses, or the work cannot be waited for. In a host function and while this thread captures another thread
    /// destroys it.
    #[doc(alias = "hipblasLtDestroy")]
    pub fn close(self) -> Result<()> {
        match Arc::into_inner(self.shared) {
            Some(Shared { handle, .. }) => Ok(handle.close()?),
            None => Ok(()),
        }
    }

    /// The algorithm of a problem, with which the descriptors were made.
    pub(super) fn algorithm(&self, problem: &Problem, descriptors: &Descriptors<'_>) -> Result<Choice> {
        if let Some(known) = self.algorithms.get(problem) {
            return Ok(known);
        }
        let found = {
            let _current = self.device().make_current()?;
            let _one = self.shared.lock.lock();
            // SAFETY: S1, S3, S8: the handle is live, its device current, and the lock held.
            unsafe { descriptors.algorithm(self.shared.handle.get().0, problem.work_limit as u64) }?
        };
        let Some((algorithm, work_bytes)) = found.filter(|found| found.1 <= problem.work_limit) else {
            return Err(Error::NoAlgorithm { problem: problem.to_string() });
        };
        let choice = Choice { algorithm, work_bytes };
        self.algorithms.put(problem.clone(), choice);
        Ok(choice)
    }
}

/// The library's functions.
pub(super) fn table(device: &Device) -> Result<&HipblasltTable> {
    match library(device.platform()) {
        Ok(library) => Ok(library.table()),
        Err(error) => Err(Error::NoLtLibrary(error.clone())),
    }
}

fn destroy(device: &Device, handle: &mut RawHandle) -> hip_safe::Result<()> {
    // The handle was made by it.
    let Ok(library) = library(device.platform()) else { return Ok(()) };
    // SAFETY: S1, S3, S4: this is the only reference, and all work is complete.
    unsafe { raw::destroy(library.table(), handle.0) }.map_err(|failure| hip_safe::Error::Hip {
        call: failure.function,
        code: failure.status.0,
        name: status_name(failure.status).into(),
        doing: "destroying a handle".into(),
        cause: None,
    })
}

impl fmt::Debug for LtHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LtHandle on {}", self.device())
    }
}
