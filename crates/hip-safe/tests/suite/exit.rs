//! Once the process exits, drops leave the driver alone.

use crate::under_test::module;
use crate::watched::{TOTAL, device};
use hip_safe::{DeviceBuffer, Event, Module, PinnedBuffer, Stream};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

type Everything = (DeviceBuffer<u8>, PinnedBuffer<u8>, Event, Module, Stream);

static HELD: Mutex<Option<Everything>> = Mutex::new(None);
/// The variable that turns this program into the child that exits.
const CHILD: &str = "HIP_SAFE_TEST_EXIT";

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
    if std::env::var_os(CHILD).is_none() {
        let this = std::env::current_exe().expect("this program has a path");
        let name = "exit::drops_at_exit_make_no_calls";
        let child = Command::new(this).args([name, "--exact"]).env(CHILD, "1").output().expect("it starts");
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
