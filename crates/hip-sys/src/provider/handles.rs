//! Opaque handles. A handle is a number that is never issued twice, so a stale one is always recognised. As an
//! address it is not canonical, so dereferencing it faults.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

const REGION: usize = 0x0010_0000_0000_0000;
const STEP: usize = 16;

/// Why a handle has no object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// It was never issued.
    Unknown,
    /// What it named was destroyed.
    Destroyed,
}

/// The live objects of one kind.
pub struct Handles<T> {
    first: usize,
    issued: AtomicUsize,
    live: RwLock<HashMap<usize, Arc<T>>>,
}

impl<T> Handles<T> {
    /// `kind` tells the kinds of handles apart.
    pub fn new(kind: u8) -> Self {
        let first = REGION | (kind as usize) << 40;
        Self { first, issued: AtomicUsize::new(0), live: RwLock::default() }
    }

    /// A new handle for an object.
    pub fn insert(&self, object: Arc<T>) -> usize {
        let handle = self.first + STEP * self.issued.fetch_add(1, Ordering::Relaxed);
        self.live.write().unwrap_or_else(PoisonError::into_inner).insert(handle, object);
        handle
    }

    /// The object of a live handle.
    ///
    /// # Errors
    /// Why the handle has no object.
    pub fn get(&self, handle: usize) -> Result<Arc<T>, Absent> {
        self.live
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&handle)
            .cloned()
            .ok_or_else(|| self.absence(handle))
    }

    /// Ends a handle.
    ///
    /// # Errors
    /// Why the handle has no object.
    pub fn remove(&self, handle: usize) -> Result<Arc<T>, Absent> {
        let removed = self.live.write().unwrap_or_else(PoisonError::into_inner).remove(&handle);
        removed.ok_or_else(|| self.absence(handle))
    }

    /// Ends the handles of all objects for which `ends` is true.
    pub fn end_all(&self, ends: impl Fn(&T) -> bool) {
        self.live.write().unwrap_or_else(PoisonError::into_inner).retain(|_, object| !ends(object));
    }

    fn absence(&self, handle: usize) -> Absent {
        let end = self.first + STEP * self.issued.load(Ordering::Relaxed);
        let issued = (self.first..end).contains(&handle) && (handle - self.first).is_multiple_of(STEP);
        if issued { Absent::Destroyed } else { Absent::Unknown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_never_reused() {
        let handles = Handles::new(3);
        let first = handles.insert(Arc::new('a'));
        assert_eq!(handles.get(first).as_deref(), Ok(&'a'));
        assert!(handles.remove(first).is_ok());
        let second = handles.insert(Arc::new('b'));
        assert_ne!(first, second);
        assert_eq!(handles.get(first), Err(Absent::Destroyed));
        assert_eq!(handles.remove(first), Err(Absent::Destroyed));
        assert_eq!(handles.get(second + 1), Err(Absent::Unknown));
        assert_eq!(handles.get(0), Err(Absent::Unknown));
    }
}
