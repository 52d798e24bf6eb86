//! User objects: an object of the program with a destructor and a reference count. The program and graphs
//! hold references; the destructor is called once, when the last reference is released.

use super::Graph;
use hip_sys::hip::{hipError_t, hipHostFn_t};
use hip_sys::provider::Handles;
use parking_lot::Mutex;
use std::ffi::c_void;
use std::sync::{Arc, LazyLock, OnceLock, Weak};

/// The object itself, which lives as long as a reference to it.
pub(crate) struct Kept {
    destroy: hipHostFn_t,
    data: *mut c_void,
    handle: OnceLock<usize>,
}

// SAFETY: S8: the pointer is only passed back to the program, once.
unsafe impl Send for Kept {}
// SAFETY: S8: as above.
unsafe impl Sync for Kept {}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.get() {
            let _ = OBJECTS.remove(*handle);
        }
        if let Some(destroy) = self.destroy {
            // SAFETY: S11: the program gave the destructor for this argument; nobody else calls it.
            unsafe { destroy(self.data) };
        }
    }
}

/// What a handle refers to.
struct Object {
    kept: Weak<Kept>,
    /// The number of references that the program holds, and the object while there are any.
    own: Mutex<(u32, Option<Arc<Kept>>)>,
}

static OBJECTS: LazyLock<Handles<Object>> = LazyLock::new(|| Handles::new(19));

/// Creates an object with that many references of the program, at least one, and returns its handle.
pub(crate) fn create(destroy: hipHostFn_t, data: *mut c_void, references: u32) -> usize {
    let kept = Arc::new(Kept { destroy, data, handle: OnceLock::new() });
    let own = Mutex::new((references, Some(Arc::clone(&kept))));
    let handle = OBJECTS.insert(Arc::new(Object { kept: Arc::downgrade(&kept), own }));
    let _ = kept.handle.set(handle);
    handle
}

/// Gives a graph references. `moved`: they are taken from the program's instead of being new.
pub(crate) fn retain(graph: &Graph, handle: usize, count: u32, moved: bool) -> Result<(), hipError_t> {
    let gone = hipError_t::hipErrorInvalidValue;
    let object = OBJECTS.get(handle).map_err(|_| gone)?;
    graph.keep(object.kept.upgrade().ok_or(gone)?);
    if moved {
        let mut own = object.own.lock();
        own.0 = own.0.saturating_sub(count);
        if own.0 == 0 {
            // The graph holds a reference, so this calls no destructor.
            own.1 = None;
        }
    }
    Ok(())
}
