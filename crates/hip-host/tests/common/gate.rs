//! Ways to block a stream, and memory that the host and kernels both see.
#![allow(dead_code, reason = "each test file uses a part")]

use super::{Hip, shape};
use hip_sys::hip::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// A gate that blocks a stream until the test opens it.
#[derive(Default)]
pub(crate) struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    /// How many streams have reached it.
    pub(crate) reached: AtomicU32,
}

unsafe extern "C" fn wait_at_gate(gate: *mut c_void) {
    // SAFETY: S11: `hold` passed a gate that outlives the stream's wait.
    let gate = unsafe { &*gate.cast::<Gate>() };
    gate.reached.fetch_add(1, Ordering::SeqCst);
    let open = gate.open.lock().expect("no panic at the gate");
    let patience = Duration::from_secs(120);
    let (open, _) =
        gate.opened.wait_timeout_while(open, patience, |open| !*open).expect("no panic at the gate");
    assert!(*open, "nobody opened the gate");
}

impl Gate {
    pub(crate) fn hold(&'static self, hip: &Hip, stream: hipStream_t) {
        let gate = std::ptr::from_ref(self).cast_mut().cast();
        assert_eq!(call_optional!(hip, hipLaunchHostFunc(stream, Some(wait_at_gate), gate)), 0);
    }

    pub(crate) fn release(&self) {
        *self.open.lock().expect("no panic at the gate") = true;
        self.opened.notify_all();
    }
}

pub(crate) fn gate() -> &'static Gate {
    Box::leak(Box::default())
}

/// Polls until the condition holds; false if it does not within two minutes.
pub(crate) fn soon(condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() > Duration::from_secs(120) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Launches a kernel that writes a value to an address.
pub(crate) fn write(hip: &Hip, stream: hipStream_t, pointer: *mut c_void, value: i32) {
    let (mut pointer, mut value) = (pointer, value);
    hip.launch(hip.function("test_plain", "write_one"), shape(1, 1), stream, arguments![pointer, value]);
}

pub(crate) fn read_host(pointer: *mut c_void) -> i32 {
    // SAFETY: S2: pinned memory of at least four bytes, which only aligned words are written to.
    unsafe { pointer.cast::<i32>().read_volatile() }
}

pub(crate) fn pinned(hip: &Hip) -> *mut c_void {
    let mut word = null_mut();
    ok!(hip, hipHostMalloc(&mut word, 64, 0));
    // SAFETY: S2: just allocated with 64 bytes.
    unsafe { word.write_bytes(0, 64) };
    word
}
