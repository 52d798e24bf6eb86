//! Handles in functions that a stream calls, and how they end there and elsewhere.

use crate::lacking::{changed, platform_with};
use crate::under_test;
use hip_safe::{Device, Error as HipError};
use hip_sys::hip::{hipError_t, hipStream_t};
use hip_sys::rocblas::{rocblas_handle, rocblas_int, rocblas_status};
use hip_sys::{LoadError, Rocblas};
use rocblas_safe::{AtomicsMode, Error, Handle, Result};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

/// More than anything in a test takes.
const LONG: Duration = Duration::from_secs(60);

static INSIDE: Barrier = Barrier::new(2);
static ASKED: Barrier = Barrier::new(2);

/// Stays in the library until the handle was asked.
unsafe extern "C" fn slow_scal(
    _: rocblas_handle,
    _: rocblas_int,
    _: *const f32,
    _: *mut f32,
    _: rocblas_int,
) -> rocblas_status {
    INSIDE.wait();
    ASKED.wait();
    rocblas_status::rocblas_status_success
}

fn slow() -> Result<Rocblas, LoadError> {
    changed(|table, _| table.rocblas_sscal = slow_scal)
}

fn is_refused<T>(answer: Result<T>) -> bool {
    matches!(answer, Err(Error::Hip(HipError::InHostFunction)))
}

#[test]
fn a_function_that_uses_a_handle_waits_for_no_call() {
    let device = Device::new(&platform_with(slow, |_| {}), 0).unwrap();
    let [stream, other] = [(); 2].map(|()| device.new_stream().unwrap());
    let handle = std::sync::Arc::new(Handle::with_workspace(&stream, 0).unwrap());
    let mut x = stream.upload(&[1.0_f32; 4]).unwrap();
    let mut y = stream.upload(&[1.0_f32; 4]).unwrap();
    let (sender, answers) = mpsc::channel();
    let (asked, expected) = (std::sync::Arc::clone(&handle), stream.clone());
    let function = move || {
        INSIDE.wait();
        let refused = [
            is_refused(asked.scal(2.0, &mut y)),
            is_refused(asked.set_stream(&expected)),
            is_refused(asked.set_workspace(1 << 20)),
            is_refused(asked.set_atomics_mode(AtomicsMode::Allowed)),
        ];
        let as_expected = asked.stream() == expected && asked.workspace_bytes() == 64 << 10;
        sender.send((refused, as_expected, format!("{asked:?}"))).unwrap();
        ASKED.wait();
    };
    other.launch_host(function).unwrap();
    let caller = std::thread::spawn(move || handle.scal(2.0, &mut x).map(|()| handle));
    let (refused, as_expected, shown) =
        answers.recv_timeout(LONG).expect("nothing in the function waits for the call");
    assert_eq!((refused, as_expected), ([true; 4], true));
    assert!(shown.starts_with("Handle on "), "{shown}");
    caller.join().unwrap().unwrap();
}

static ENDED: Mutex<Option<Sender<&'static str>>> = Mutex::new(None);

fn tell(what: &'static str) {
    ENDED.lock().unwrap().iter().for_each(|sender| sender.send(what).unwrap());
}

unsafe extern "C" fn destroy_handle(handle: rocblas_handle) -> rocblas_status {
    tell("handle");
    let real = under_test::platform();
    // SAFETY: S1: the argument is the caller's own.
    unsafe { (rocblas_safe::library(&real).unwrap().table().rocblas_destroy_handle)(handle) }
}

unsafe extern "C" fn destroy_stream(stream: hipStream_t) -> hipError_t {
    tell("stream");
    // SAFETY: S1: the argument is the caller's own.
    unsafe { (under_test::platform().hip().hipStreamDestroy)(stream) }
}

fn told_of() -> Result<Rocblas, LoadError> {
    changed(|table, _| table.rocblas_destroy_handle = destroy_handle)
}

fn next(ended: &Receiver<&'static str>) -> &'static str {
    ended.recv_timeout(LONG).expect("it ends")
}

#[test]
fn every_handle_is_destroyed_and_before_its_stream() {
    let platform = platform_with(told_of, |hip| hip.hipStreamDestroy = destroy_stream);
    let device = Device::new(&platform, 0).unwrap();
    let (sender, ended) = mpsc::channel();
    *ENDED.lock().unwrap() = Some(sender);
    let (stream, other) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let new = || Handle::with_workspace(&stream, 0).unwrap();

    // Where this thread may not wait, another one does.
    let (dropped, closed, in_function) = (new(), new(), new());
    let captured = stream.capture(|_| {
        drop(dropped);
        let refused = closed.close();
        assert!(matches!(refused, Err(Error::Hip(HipError::Capturing { .. }))), "{refused:?}");
        assert!(ended.try_recv().is_err(), "the device is waited for first");
        Ok(())
    });
    captured.unwrap();
    assert_eq!([next(&ended), next(&ended)], ["handle"; 2]);
    let _alone = under_test::drop_errors_alone();
    let before = hip_safe::drop_errors();
    other.launch_host(move || drop(in_function)).unwrap();
    assert_eq!(next(&ended), "handle");

    // The handle has its stream as long as it lives, and so has a graph that keeps the handle.
    let handle = new();
    let mut x = other.upload(&[1.0_f32, 2.0]).unwrap();
    let mut called = Ok(());
    let graph = stream.capture(|_| {
        called = handle.scal(2.0, &mut x);
        Ok(())
    });
    called.unwrap();
    let exec = graph.unwrap().instantiate().unwrap();
    drop((stream, handle));
    exec.launch(&other).unwrap();
    assert_eq!(other.download(&x).unwrap(), [2.0, 4.0]);
    assert!(ended.try_recv().is_err(), "the graph keeps both");
    drop(exec);
    assert_eq!([next(&ended), next(&ended)], ["handle", "stream"]);
    let handle = Handle::with_workspace(&device.new_stream().unwrap(), 0).unwrap();
    drop(handle);
    assert_eq!([next(&ended), next(&ended)], ["handle", "stream"]);
    assert_eq!(hip_safe::drop_errors(), before);
    *ENDED.lock().unwrap() = None;
}
