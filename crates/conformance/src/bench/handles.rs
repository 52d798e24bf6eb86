//! Streams, events and modules that are destroyed when they are dropped.

use super::Bench;
use crate::case::Failure;
use crate::suite::Shared;
use hip_sys::HipTable;
use hip_sys::hip::{hipEvent_t, hipModule_t, hipStream_t};
use std::ffi::{CString, c_void};
use std::fmt;
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::Arc;

/// A stream.
pub(crate) struct Stream<'b> {
    pub(crate) raw: hipStream_t,
    hip: &'b HipTable,
}

/// An event.
pub(crate) struct Event<'b> {
    pub(crate) raw: hipEvent_t,
    hip: &'b HipTable,
}

/// A loaded module.
pub(crate) struct Module {
    pub(crate) raw: hipModule_t,
    shared: Arc<Shared>,
}

impl Bench {
    /// A stream with default flags.
    pub(crate) fn stream(&self) -> Result<Stream<'_>, Failure> {
        self.stream_with(0)
    }

    /// A stream with flags.
    pub(crate) fn stream_with(&self, flags: u32) -> Result<Stream<'_>, Failure> {
        let mut raw = null_mut();
        ok!(self, hipStreamCreateWithFlags(&mut raw, flags));
        Ok(Stream { raw, hip: self.hip() })
    }

    /// An event that records the time.
    pub(crate) fn event(&self) -> Result<Event<'_>, Failure> {
        self.event_with(0)
    }

    /// An event with flags.
    pub(crate) fn event_with(&self, flags: u32) -> Result<Event<'_>, Failure> {
        let mut raw = null_mut();
        ok!(self, hipEventCreateWithFlags(&mut raw, flags));
        Ok(Event { raw, hip: self.hip() })
    }

    /// The code of `kernels/NAME.hip` for the device under test, compiled once per device.
    pub(crate) fn code(&self, name: &'static str) -> Result<Arc<Vec<u8>>, Failure> {
        self.shared.code(self.device, name)
    }

    /// A module of `kernels/NAME.hip`, loaded once per bench on the device that is current at the first call.
    pub(crate) fn module(&self, name: &'static str) -> Result<Rc<Module>, Failure> {
        if let Some(module) = self.modules.borrow().get(name) {
            return Ok(Rc::clone(module));
        }
        let module = Rc::new(self.load(&self.code(name)?)?);
        self.modules.borrow_mut().insert(name, Rc::clone(&module));
        Ok(module)
    }

    /// A module of these bytes.
    pub(crate) fn load(&self, code: &[u8]) -> Result<Module, Failure> {
        let mut raw = null_mut();
        ok!(self, hipModuleLoadData(&mut raw, code.as_ptr().cast()));
        Ok(Module { raw, shared: Arc::clone(&self.shared) })
    }

    /// Address and size of a module's variable.
    pub(crate) fn global(&self, module: &Module, name: &str) -> Result<(*mut c_void, usize), Failure> {
        let name = CString::new(name).expect("names have no zero byte");
        let (mut pointer, mut bytes) = (null_mut(), 0);
        ok!(self, hipModuleGetGlobal(&mut pointer, &mut bytes, module.raw, name.as_ptr()));
        Ok((pointer, bytes))
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        // SAFETY: S4: our own stream; queued work still runs.
        unsafe { (self.hip.hipStreamDestroy)(self.raw) };
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: S4: our own event.
        unsafe { (self.hip.hipEventDestroy)(self.raw) };
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let hip = self.shared.platform.hip();
        // SAFETY: S4: our own module. Its kernels must have ended before its code is unloaded.
        unsafe {
            (hip.hipDeviceSynchronize)();
            (hip.hipModuleUnload)(self.raw);
        }
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Module").field(&self.raw).finish()
    }
}
