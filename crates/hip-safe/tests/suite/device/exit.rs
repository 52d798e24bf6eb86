//! Once the process exits, drops make no driver call.

use crate::under_test::module;
use crate::watched::{TOTAL, device};
use crate::{again, is_child};
use hip_safe::{DeviceBuffer, Event, Module, PinnedBuffer, Stream};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

type Everything = (DeviceBuffer<u8>, PinnedBuffer<u8>, Event, Module, Stream);

static HELD: Mutex<Option<Everything>> = Mutex::new(None);

extern "C" fn drop_everything() {
    let before = TOTAL.load(Ordering::SeqCst);
    let held = HELD.lock().expect("nobody panicked").take().expect("the test put it there");
    drop(held);
    let code = if hip_sys::exiting() && TOTAL.load(Ordering::SeqCst) == before { 42 } else { 7 };
    // SAFETY: S1: it ends the process at once.
    unsafe { libc::_exit(code) };
}

#[test]
fn drops_at_exit_make_no_calls() {
    if !is_child() {
        let child = again("device::exit::drops_at_exit_make_no_calls", &[]);
        assert_eq!(child.status.code(), Some(42), "{}", String::from_utf8_lossy(&child.stderr));
        return;
    }
    // Handlers run last in, first out: this one comes after the platform's, which notes the exit.
    // SAFETY: S1: the function is static and takes nothing.
    unsafe { libc::atexit(drop_everything) };
    let device = device();
    let stream = device.new_stream().unwrap();
    let (buffer, pinned) = (stream.alloc_zeros(10).unwrap(), PinnedBuffer::zeroed(&device, 10).unwrap());
    let module = module(&device);
    *HELD.lock().unwrap() = Some((buffer, pinned, Event::new(&device).unwrap(), module, stream));
    std::process::exit(3);
}
