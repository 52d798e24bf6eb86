//! The hook for errors of drops may use the handle in whose call an error was met: nothing is locked when it is called.

use crate::lacking::{changed, platform_with};
use crate::under_test;
use hip_safe::{Device, DeviceBuffer};
use hip_sys::hip::hipError_t;
use hip_sys::{LoadError, Rocblas};
use rocblas_safe::{AtomicsMode, Handle, Result};
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// More than anything in a test takes.
const LONG: Duration = Duration::from_secs(60);

thread_local! {
    /// Whether device 1 cannot be made current on this thread.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}

unsafe extern "C" fn set_device(ordinal: c_int) -> hipError_t {
    if ordinal == 1 && REFUSED.get() {
        return hipError_t(1999);
    }
    // SAFETY: S1: the argument is the caller's own.
    unsafe { (under_test::platform().hip().hipSetDevice)(ordinal) }
}

fn library() -> Result<Rocblas, LoadError> {
    changed(|_, _| ())
}

/// What the hook uses, once.
type Things = (Arc<Handle>, DeviceBuffer<f32>);
static THINGS: Mutex<Option<Things>> = Mutex::new(None);

/// Everything that takes the handle's lock.
fn use_all((handle, mut y): Things) {
    handle.scal(3.0, &mut y).unwrap();
    handle.set_atomics_mode(AtomicsMode::Allowed).unwrap();
    handle.set_stream(&handle.stream()).unwrap();
    handle.set_workspace(1 << 20).unwrap();
    assert_eq!(handle.stream().download(&y).unwrap(), [3.0, 6.0]);
}

#[test]
fn the_hook_may_use_the_handle_in_whose_call_it_is_called() {
    if under_test::two_devices().is_none() {
        return;
    }
    let _alone = under_test::drop_errors_alone();
    let (sender, ended) = mpsc::channel();
    let calls = move || {
        let platform = platform_with(library, |hip| hip.hipSetDevice = set_device);
        let [zero, one] = [0, 1].map(|ordinal| Device::new(&platform, ordinal).unwrap());
        let stream = zero.new_stream().unwrap();
        let handle = Arc::new(Handle::with_workspace(&stream, 0).unwrap());
        hip_safe::on_drop_error(|_| {
            // On other threads there are other tests.
            if REFUSED.replace(false) {
                use_all(THINGS.lock().unwrap().take().expect("it was laid there"));
            }
        });
        let mut x = stream.upload(&[1.0_f32, 2.0]).unwrap();
        let mut in_call = |name, call: &mut dyn FnMut(&Handle, &mut DeviceBuffer<f32>) -> Result<()>| {
            *THINGS.lock().unwrap() = Some((Arc::clone(&handle), stream.upload(&[1.0, 2.0]).unwrap()));
            let _current = one.make_current().unwrap();
            REFUSED.set(true);
            // The former device cannot be made current again, which has no caller to tell.
            call(&handle, &mut x).unwrap();
            assert!(!REFUSED.replace(false), "{name}: the hook was told");
            // SAFETY: S3: what a failed restoration has left is made right.
            let status = unsafe { (platform.hip().hipSetDevice)(one.raw_ordinal()) };
            assert_eq!(status.0, 0);
        };
        in_call("scal", &mut |handle, x| handle.scal(2.0, x));
        in_call("set_atomics_mode", &mut |handle, _| handle.set_atomics_mode(AtomicsMode::Forbidden));
        in_call("set_stream", &mut |handle, _| handle.set_stream(&handle.stream()));
        in_call("set_workspace", &mut |handle, _| handle.set_workspace(1 << 21));
        assert_eq!(stream.download(&x).unwrap(), [2.0, 4.0]);
        sender.send(()).unwrap();
    };
    let caller = std::thread::spawn(calls);
    let waited = ended.recv_timeout(LONG);
    assert!(!matches!(waited, Err(mpsc::RecvTimeoutError::Timeout)), "a call waits for its own lock");
    caller.join().unwrap();
}
