//! The environment of a case: a platform, one of its devices, and short forms of common steps.

mod buffer;
mod entry;
mod gate;
mod handles;
mod launch;

pub(crate) use buffer::{Buffer, Pinned};
pub(crate) use entry::Entry;
pub(crate) use gate::{Gate, soon};
pub(crate) use handles::{Event, Module, Stream};
pub(crate) use launch::{Arg, Function, Shape, grid, packed};

use crate::case::{Failure, Outcome};
use crate::suite::Shared;
use hip_sys::HipTable;
use hip_sys::hip::{hipError_t, hipStream_t};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::Arc;

/// The null stream.
pub(crate) const NULL: hipStream_t = std::ptr::null_mut();

/// A platform and one of its devices. The device is current on the case's thread, and no error is pending
/// there.
#[derive(Debug)]
pub struct Bench {
    shared: Arc<Shared>,
    device: i32,
    wave: u32,
    /// Modules that the case uses; unloaded with the bench.
    modules: RefCell<HashMap<&'static str, Rc<Module>>>,
    /// Gates that streams may be blocked at.
    doors: RefCell<Vec<&'static gate::Door>>,
}

impl Bench {
    /// A bench for one case, on a thread of its own.
    pub(crate) fn new(shared: Arc<Shared>, device: i32, wave: u32) -> Self {
        Self { shared, device, wave, modules: RefCell::default(), doors: RefCell::default() }
    }

    /// HIP's functions.
    pub fn hip(&self) -> &HipTable {
        self.shared.platform.hip()
    }

    /// The platform.
    pub fn platform(&self) -> &hip_sys::Platform {
        &self.shared.platform
    }

    /// The ordinal of the device under test.
    pub fn device(&self) -> i32 {
        self.device
    }

    /// Wave size of the device.
    pub fn wave(&self) -> u32 {
        self.wave
    }

    /// Checks that the code is the expected one.
    #[track_caller]
    pub(crate) fn expect(&self, code: u32, expected: u32, what: &str) -> Outcome {
        if code == expected {
            return Ok(());
        }
        let (seen, expected) = (self.name_of(code), self.name_of(expected));
        // The text of a long call contains line breaks.
        let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
        Err(Failure::wrong(format!("{what}: expected {expected}, got {seen}")))
    }

    /// Name and number of a code.
    fn name_of(&self, code: u32) -> String {
        // SAFETY: S1: the name is a static C string, or null.
        let name = unsafe { (self.hip().hipGetErrorName)(hipError_t(code)) };
        if name.is_null() {
            return code.to_string();
        }
        // SAFETY: S1: as above.
        format!("{} ({code})", unsafe { CStr::from_ptr(name) }.to_string_lossy())
    }

    /// The number of devices.
    pub(crate) fn devices(&self) -> Result<i32, Failure> {
        let mut count = 0;
        ok!(self, hipGetDeviceCount(&mut count));
        Ok(count)
    }

    /// A device other than the one under test; skips the case if there is none.
    pub(crate) fn other_device(&self) -> Result<i32, Failure> {
        let count = self.devices()?;
        if count < 2 {
            return Err(Failure::skip("needs two devices"));
        }
        Ok((self.device + 1) % count)
    }

    /// Makes the device current.
    pub(crate) fn set_device(&self, device: i32) -> Outcome {
        ok!(self, hipSetDevice(device));
        Ok(())
    }

    /// Waits for all work of the current device.
    pub(crate) fn sync(&self) -> Outcome {
        ok!(self, hipDeviceSynchronize());
        Ok(())
    }

    /// The last error, which is not cleared.
    pub(crate) fn peek(&self) -> u32 {
        // SAFETY: S1: a query without arguments.
        unsafe { (self.hip().hipPeekAtLastError)() }.0
    }

    /// Returns and clears the last error.
    pub(crate) fn take_error(&self) -> u32 {
        // SAFETY: S1: a query without arguments.
        unsafe { (self.hip().hipGetLastError)() }.0
    }

    /// Opens all gates, before a call that waits for all streams.
    fn open_gates(&self) {
        self.doors.borrow().iter().for_each(|door| door.open());
    }

    /// Returns a function with which another thread creates its own bench of the same device. The device is
    /// *not* made current there.
    pub(crate) fn twin(&self) -> impl FnOnce() -> Bench + Send + use<> {
        let (shared, device, wave) = (Arc::clone(&self.shared), self.device, self.wave);
        move || Bench::new(shared, device, wave)
    }

    /// Runs `work` on a new thread, which has HIP's default state, and waits for it.
    pub(crate) fn elsewhere<T: Send>(
        &self,
        work: impl FnOnce(&Bench) -> Result<T, Failure> + Send,
    ) -> Result<T, Failure> {
        let there = self.twin();
        std::thread::scope(|scope| {
            let thread = scope.spawn(move || work(&there()));
            thread.join().unwrap_or_else(|_| Err(Failure::wrong("the other thread panicked")))
        })
    }
}
