//! Handles. Ours are numbers that are never reused: CUDA's driver does not detect a stale handle of its own,
//! which may refer to another object by then.

use crate::context::{self, Device};
use crate::{driver, library};
use hip_sys::hip::hipMemPool_t;
use hip_sys::hip::{
    hipError_t, hipEvent_t, hipFunction_t, hipGraph_t, hipGraphExec_t, hipModule_t, hipStream_t,
};
use hip_sys::provider::{Absent, Handles};
use std::ffi::c_void;
use std::sync::{Arc, LazyLock};

/// An object of the driver, and its device.
pub(crate) struct Object<Extra = ()> {
    pub(crate) raw: *mut c_void,
    pub(crate) device: &'static Device,
    pub(crate) extra: Extra,
}

// SAFETY: S8: a driver's handle may be used from any thread.
unsafe impl<Extra: Send> Send for Object<Extra> {}
// SAFETY: S8: as above.
unsafe impl<Extra: Sync> Sync for Object<Extra> {}

/// What we store for an event.
pub(crate) struct EventState {
    pub(crate) timed: bool,
    pub(crate) recorded: std::sync::atomic::AtomicBool,
}

pub(crate) type Stream = Object;
pub(crate) type Event = Object<EventState>;
/// A module stores the handles of the functions that were looked up, by name; `None` once it is unloaded.
pub(crate) type Module = Object<parking_lot::Mutex<Option<std::collections::HashMap<Vec<u8>, usize>>>>;
/// A user object, with the number of references that the program holds.
pub(crate) type UserObject = Object<parking_lot::Mutex<std::ffi::c_uint>>;
pub(crate) type Function = Object;

pub(crate) static STREAMS: LazyLock<Handles<Stream>> = LazyLock::new(|| Handles::new(0x21));
pub(crate) static EVENTS: LazyLock<Handles<Event>> = LazyLock::new(|| Handles::new(0x22));
pub(crate) static MODULES: LazyLock<Handles<Module>> = LazyLock::new(|| Handles::new(0x23));
pub(crate) static FUNCTIONS: LazyLock<Handles<Function>> = LazyLock::new(|| Handles::new(0x24));
pub(crate) static POOLS: LazyLock<Handles<Object>> = LazyLock::new(|| Handles::new(0x25));
pub(crate) static GRAPHS: LazyLock<Handles<Object>> = LazyLock::new(|| Handles::new(0x26));
pub(crate) static EXECS: LazyLock<Handles<Object>> = LazyLock::new(|| Handles::new(0x27));
pub(crate) static USER_OBJECTS: LazyLock<Handles<UserObject>> = LazyLock::new(|| Handles::new(0x28));

const HANDLE: hipError_t = hipError_t::hipErrorInvalidHandle;
/// The null stream, hipStreamLegacy and hipStreamPerThread, which CUDA numbers as HIP does.
pub(crate) const LAST_SPECIAL: usize = 2;

/// The error for an invalid handle.
pub(crate) fn absent(absent: Absent) -> hipError_t {
    match absent {
        Absent::Unknown => HANDLE,
        Absent::Destroyed => hipError_t::hipErrorContextIsDestroyed,
    }
}

/// The stream that a handle denotes, with its device's context made current.
pub(crate) fn stream_of(handle: hipStream_t) -> Result<(driver::Stream, &'static Device), hipError_t> {
    if handle as usize <= LAST_SPECIAL {
        return Ok((handle.cast(), context::enter()?));
    }
    let stream = STREAMS.get(handle as usize).map_err(absent)?;
    Ok((stream.raw, stream.device.enter()?))
}

/// The event of a handle, with its device's context made current.
pub(crate) fn event_of(handle: hipEvent_t) -> Result<Arc<Event>, hipError_t> {
    let event = EVENTS.get(handle as usize).map_err(absent)?;
    event.device.enter()?;
    Ok(event)
}

/// The module of a handle, with its device's context made current.
pub(crate) fn module_of(handle: hipModule_t) -> Result<Arc<Module>, hipError_t> {
    let module = MODULES.get(handle as usize).map_err(|_| HANDLE)?;
    module.device.enter()?;
    Ok(module)
}

/// The function of a handle, with its device's context made current.
pub(crate) fn function_of(handle: hipFunction_t) -> Result<Arc<Function>, hipError_t> {
    let function = function_alone(handle)?;
    function.device.enter()?;
    Ok(function)
}

/// The function of a handle. The current context is not changed.
pub(crate) fn function_alone(handle: hipFunction_t) -> Result<Arc<Function>, hipError_t> {
    FUNCTIONS.get(handle as usize).map_err(|_| HANDLE)
}

macro_rules! simple {
    ($($(#[$doc:meta])* $name:ident($handle:ty) in $table:ident, else $error:expr;)*) => {
        $($(#[$doc])*
        pub(crate) fn $name(handle: $handle) -> Result<Arc<Object>, hipError_t> {
            let object = $table.get(handle as usize).map_err(|_| $error)?;
            object.device.enter()?;
            Ok(object)
        })*
    };
}

simple! {
    /// The pool of a handle.
    pool_of(hipMemPool_t) in POOLS, else hipError_t::hipErrorInvalidValue;
    /// The graph of a handle.
    graph_of(hipGraph_t) in GRAPHS, else hipError_t::hipErrorInvalidValue;
    /// The executable graph of a handle.
    exec_of(hipGraphExec_t) in EXECS, else hipError_t::hipErrorInvalidValue;
}

/// Invalidates every handle to an object in the device's context, which is about to be destroyed. Pools and
/// user objects are not in a context and stay valid.
pub(crate) fn forget_device(ordinal: usize) {
    library::forget_device(ordinal);
    STREAMS.end_all(|object| object.device.ordinal == ordinal);
    EVENTS.end_all(|object| object.device.ordinal == ordinal);
    MODULES.end_all(|object| object.device.ordinal == ordinal);
    FUNCTIONS.end_all(|object| object.device.ordinal == ordinal);
    GRAPHS.end_all(|object| object.device.ordinal == ordinal);
    EXECS.end_all(|object| object.device.ordinal == ordinal);
}
