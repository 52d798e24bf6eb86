//! Handles: one of cuBLASLt's, its device, the algorithms that it has told of, and zeros.

use crate::convert::{HANDLE, Outcome, VALUE, done, driven};
use crate::functions::{Algorithm, Raw};
use crate::library::cublaslt;
use crate::problem::Problem;
use hip_nvidia::library::{self, Device, Lasting, RelaxedCapture};
use hip_sys::hipblaslt::{hipblasLtHandle_t, hipblasLtMatmulAlgo_t};
use hip_sys::provider::Handles;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, LazyLock};

/// A handle of cuBLASLt. It is destroyed after the last call that uses it.
pub(super) struct Handle {
    pub(super) raw: Raw,
    pub(super) device: &'static Device,
    /// cuBLASLt's algorithms are larger than hipBLASLt's, so they are kept here. Equal ones are kept once, so that there are no more than
    /// the library knows.
    algorithms: Mutex<Vec<Algorithm>>,
    /// The algorithms that are taken where cuBLASLt refused another one.
    instead: Mutex<HashMap<Refused, Algorithm>>,
    /// Memory that holds zeros when it is used, the largest one last. Graphs have its addresses, so that none goes before the handle.
    zeros: Mutex<Vec<(Lasting, usize)>>,
}

/// A call that cuBLASLt refused for its addresses.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Refused {
    /// Without addresses.
    pub(super) problem: Problem,
    /// The powers of two that the addresses of a, b, c and d are multiples of.
    pub(super) alignments: [u32; 4],
    pub(super) work_bytes: usize,
    pub(super) chosen: Option<Algorithm>,
}

/// The most refused calls that a handle remembers.
const MOST_REFUSED: usize = 1024;

// SAFETY: S8: cuBLASLt's handle may be used from any thread, and is locked inside; the rest is a device and a lock.
unsafe impl Send for Handle {}
// SAFETY: S8: as above.
unsafe impl Sync for Handle {}

static HANDLES: LazyLock<Handles<Handle>> = LazyLock::new(|| {
    library::on_reset(forget_device);
    Handles::new(0x36)
});

pub(super) fn create() -> Outcome<hipblasLtHandle_t> {
    let device = driven(library::enter())?;
    let mut raw = null_mut();
    // SAFETY: S1: a live variable; the device's context is current.
    done(unsafe { (cublaslt().cublasLtCreate)(&mut raw) })?;
    let handle = Handle {
        raw,
        device,
        algorithms: Mutex::default(),
        instead: Mutex::default(),
        zeros: Mutex::default(),
    };
    Ok(HANDLES.insert(Arc::new(handle)) as hipblasLtHandle_t)
}

pub(super) fn destroy(handle: hipblasLtHandle_t) -> Outcome {
    HANDLES.remove(handle as usize).map(drop).map_err(|_| HANDLE)
}

pub(super) fn get(handle: hipblasLtHandle_t) -> Outcome<Arc<Handle>> {
    HANDLES.get(handle as usize).map_err(|_| HANDLE)
}

impl Handle {
    /// hipBLASLt's algorithm for one of cuBLASLt's: its number, from 1 on.
    pub(super) fn remember(&self, algorithm: Algorithm, work_bytes: usize) -> hipblasLtMatmulAlgo_t {
        let mut known = self.algorithms.lock();
        let index = known.iter().position(|other| *other == algorithm).unwrap_or_else(|| {
            known.push(algorithm);
            known.len() - 1
        });
        let mut data = [0; 16];
        data[..8].copy_from_slice(&(index as u64 + 1).to_le_bytes());
        hipblasLtMatmulAlgo_t { data, max_workspace_bytes: work_bytes }
    }

    /// cuBLASLt's algorithm for one that this handle has told of.
    pub(super) fn recall(&self, algorithm: &hipblasLtMatmulAlgo_t) -> Outcome<Algorithm> {
        let number =
            algorithm.data[..8].iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1)).ok_or(VALUE)?;
        self.algorithms.lock().get(index).copied().ok_or(VALUE)
    }

    /// The algorithm to take for a call that was refused before.
    pub(super) fn instead_of(&self, refused: &Refused) -> Option<Algorithm> {
        self.instead.lock().get(refused).copied()
    }

    /// Remembers the algorithm for a call that was refused.
    pub(super) fn take_instead(&self, refused: Refused, algorithm: Algorithm) {
        let mut known = self.instead.lock();
        if known.len() >= MOST_REFUSED {
            known.clear();
        }
        known.insert(refused, algorithm);
    }

    /// Memory of the device with as many bytes. It stays as long as the handle. It may be allocated while a stream captures, because it is no part of
    /// a graph.
    pub(super) fn zeros(&self, bytes: usize) -> Outcome<*mut c_void> {
        let mut all = self.zeros.lock();
        if let Some((memory, _)) = all.last().filter(|(_, size)| *size >= bytes) {
            return Ok(memory.at());
        }
        // Each is twice as large as the one before, so that together they take at most twice as much.
        let size = bytes.max(1 << 12).checked_next_power_of_two().ok_or(VALUE)?;
        let _relaxed = RelaxedCapture::begin();
        let memory = driven(Lasting::new(size, self.device))?;
        let address = memory.at();
        all.push((memory, size));
        Ok(address)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: S11: it was live, and nobody else has it any more. What it answers nobody waits for.
            unsafe { (cublaslt().cublasLtDestroy)(self.raw) };
        }
    }
}

/// Destroys every handle on a device whose context is about to end.
fn forget_device(ordinal: usize) {
    HANDLES.end_all(|handle| handle.device.ordinal() == ordinal);
}
