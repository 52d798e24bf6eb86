//! Objects of one kind behind the library's opaque handles. A handle is never issued twice, so a stale one is always refused.

use super::answer::{BAD, Outcome, give};
use hip_sys::provider::Handles;
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

/// The live objects of one kind, each behind its own lock.
pub(super) struct Registry<T> {
    kind: u8,
    live: OnceLock<Handles<Mutex<T>>>,
}

impl<T> Registry<T> {
    /// `kind` distinguishes the kinds of handles in the whole process.
    pub(super) const fn new(kind: u8) -> Self {
        Self { kind, live: OnceLock::new() }
    }

    fn live(&self) -> &Handles<Mutex<T>> {
        self.live.get_or_init(|| Handles::new(self.kind))
    }

    /// Creates an object and stores its handle through the caller's pointer.
    ///
    /// # Safety
    /// `out` is null or writable.
    pub(super) unsafe fn create<X>(&self, out: *mut *mut X, value: T) -> Outcome {
        if out.is_null() {
            return Err(BAD);
        }
        // SAFETY: S11: the caller's output pointer for the handle.
        unsafe { give(out, self.insert(value)) }
    }

    /// Creates an object.
    pub(super) fn insert<X>(&self, value: T) -> *mut X {
        self.live().insert(Arc::new(Mutex::new(value))) as *mut X
    }

    /// Calls a function with an object.
    ///
    /// # Errors
    /// BadParm if the handle is invalid.
    pub(super) fn with<X, R>(&self, handle: *mut X, change: impl FnOnce(&mut T) -> R) -> Outcome<R> {
        let object = self.live().get(handle as usize).map_err(|_| BAD)?;
        let mut object = object.lock();
        Ok(change(&mut object))
    }

    /// Replaces an object's contents; the function for the new value may fail.
    ///
    /// # Errors
    /// BadParm if the handle is invalid, or the function's error.
    pub(super) fn set<X>(&self, handle: *mut X, value: impl FnOnce() -> Outcome<T>) -> Outcome {
        self.with(handle, |object| value().map(|value| *object = value))?
    }

    /// Destroys a handle.
    ///
    /// # Errors
    /// BadParm if the handle is invalid.
    pub(super) fn destroy<X>(&self, handle: *mut X) -> Outcome {
        self.live().remove(handle as usize).map(drop).map_err(|_| BAD)
    }
}

impl<T: Clone> Registry<T> {
    /// A copy of an object.
    ///
    /// # Errors
    /// BadParm if the handle is invalid.
    pub(super) fn get<X>(&self, handle: *mut X) -> Outcome<T> {
        self.with(handle, |object| object.clone())
    }
}
