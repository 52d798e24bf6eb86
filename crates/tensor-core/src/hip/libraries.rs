//! The libraries of a device's platform besides HIP. They are opened when first needed. Without them, or if they do not
//! support an operation, this workspace's kernels run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use hip_safe::Stream;
use miopen_safe::Handle as Dnn;
use parking_lot::Mutex;
use rocblas_safe::Handle as Blas;

use super::choice::{Choices, MOST_PROBLEMS};
use super::ops::conv::{Prepared, Problem};

/// A device's library handles, with cached knowledge about what the libraries support.
pub(super) struct Libraries {
    wanted: bool,
    /// `wanted`, unless the environment forbids libraries.
    allowed: bool,
    convolutions: Mutex<HashMap<Problem, Option<Arc<Prepared>>>>,
    choices: Choices<Problem>,
    allow_transforms: AtomicBool,
    blas: OnceLock<Option<Blas>>,
    dnn: OnceLock<Option<Dnn>>,
}

impl Libraries {
    /// The platform's libraries, unless they are not wanted or `HIPSTACK_LIBRARIES=0`.
    pub(super) fn new(wanted: bool) -> Self {
        let allowed = wanted && std::env::var_os("HIPSTACK_LIBRARIES").is_none_or(|value| value != "0");
        Self {
            wanted,
            allowed,
            convolutions: Mutex::default(),
            choices: Choices::new(),
            allow_transforms: AtomicBool::new(false),
            blas: OnceLock::new(),
            dnn: OnceLock::new(),
        }
    }

    pub(super) fn wanted(&self) -> bool {
        self.wanted
    }

    /// rocBLAS, or the platform's equivalent. The handle is made once, and never during a capture.
    pub(super) fn blas(&self, stream: &Stream) -> Option<&Blas> {
        open(self.allowed, &self.blas, stream, || Blas::new(stream))
    }

    /// MIOpen, or the platform's equivalent.
    pub(super) fn dnn(&self, stream: &Stream) -> Option<&Dnn> {
        open(self.allowed, &self.dnn, stream, || Dnn::new(stream))
    }

    /// The library's implementation of a convolution, `None` if it has none. The answer is cached.
    pub(super) fn convolution(&self, stream: &Stream, problem: &Problem) -> Option<Arc<Prepared>> {
        let dnn = self.dnn(stream)?;
        if let Some(known) = self.convolutions.lock().get(problem) {
            return known.clone();
        }
        if stream.is_capturing() {
            return None;
        }
        let prepared = Prepared::new(dnn, problem).ok()?.map(Arc::new);
        let mut known = self.convolutions.lock();
        let former = if known.len() >= MOST_PROBLEMS { std::mem::take(&mut *known) } else { HashMap::new() };
        // What another thread prepared meanwhile.
        let other = known.insert(*problem, prepared.clone());
        drop(known);
        drop((former, other));
        prepared
    }

    /// Whether convolutions may use Winograd and Fourier transforms.
    pub(super) fn allow_transforms(&self) -> bool {
        self.allow_transforms.load(Ordering::Relaxed)
    }

    pub(super) fn set_allow_transforms(&self, allowed: bool) {
        self.allow_transforms.store(allowed, Ordering::Relaxed);
    }

    /// The measured choices of how to compute each convolution.
    pub(super) fn choices(&self) -> &Choices<Problem> {
        &self.choices
    }
}

/// Whether a failure to open a library may be temporary.
trait Passing {
    fn is_passing(&self) -> bool;
}

impl Passing for rocblas_safe::Error {
    fn is_passing(&self) -> bool {
        self.is_passing()
    }
}

impl Passing for miopen_safe::Error {
    fn is_passing(&self) -> bool {
        self.is_passing()
    }
}

/// The cell's value, initialised by `make` if empty. It does not wait for a thread that is initialising, since that may
/// be waiting for a capture to end.
fn open<'a, T, E: Passing>(
    allowed: bool,
    cell: &'a OnceLock<Option<T>>,
    stream: &Stream,
    make: impl FnOnce() -> Result<T, E>,
) -> Option<&'a T> {
    if !allowed {
        return None;
    }
    if let Some(known) = cell.get() {
        return known.as_ref();
    }
    if stream.is_capturing() {
        return None;
    }
    let made = match make() {
        Ok(made) => Some(made),
        Err(error) if error.is_passing() => return None,
        Err(_) => None,
    };
    // If another thread was faster, this value is dropped.
    let _ = cell.set(made);
    cell.get()?.as_ref()
}
