//! A failing call leaves no last error on its thread. HIP 7 keeps it through later successful calls, and other code that queries it would
//! take it for their own.

use crate::under_test::platform;
use crate::watched;
use hip_safe::{Device, Error, Limit, Stream};
use hip_sys::hip::hipError_t;
use std::cell::Cell;
use std::sync::Arc;

/// More than any device has.
const TOO_MUCH: usize = 1 << 50;

fn fresh_stream() -> Stream {
    let stream = Device::new(&platform(), 0).unwrap().new_stream().unwrap();
    // What other code of this thread left is not what is looked for.
    let _ = left();
    stream
}

/// What the thread would tell a library that asks after a launch.
fn left() -> hipError_t {
    // SAFETY: S1: no arguments.
    unsafe { (platform().hip().hipGetLastError)() }
}

/// The platform does keep errors: without what is tested here, this is what the others would find.
#[test]
fn an_error_of_a_raw_call_is_kept_until_it_is_queried() {
    let stream = fresh_stream();
    let platform = platform();
    // SAFETY: S1: a number, which is no device's.
    let code = unsafe { (platform.hip().hipSetDevice)(-1) };
    assert_eq!(code, hipError_t::hipErrorInvalidDevice);
    stream.synchronize().unwrap();
    let found = left();
    let forgetful = platform.kind == hip_sys::PlatformKind::Amd && platform.version().major < 7;
    assert!(found == code || forgetful, "{}", found.0);
}

#[test]
fn a_returned_error_is_cleared_from_the_thread() {
    let stream = fresh_stream();
    let error = match stream.alloc_managed::<u8>(TOO_MUCH) {
        Err(Error::NotOffered { what, .. }) => return println!("skipped: no {what}"),
        answer => answer.map(drop).unwrap_err(),
    };
    assert_eq!(error.hip_code(), Some(hipError_t::hipErrorOutOfMemory.0), "{error}");
    assert_eq!(left(), hipError_t::hipSuccess);
}

/// A failure that is an expected answer is not reported.
#[test]
fn so_is_one_that_is_dealt_with() {
    let stream = fresh_stream();
    let device = stream.device();
    let own = [0_u64; 2];
    // An address that HIP does not know is answered by an error on some platforms.
    device.memory_kind(own.as_ptr().cast()).unwrap();
    let module = crate::under_test::module(device);
    let error = module.function("no_such_kernel").map(drop).unwrap_err();
    assert!(matches!(error, Error::KernelNotFound { .. }), "{error}");
    assert_eq!(left(), hipError_t::hipSuccess);
}

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

unsafe extern "C" fn count_questions() -> hipError_t {
    ASKED.set(ASKED.get() + 1);
    hipError_t::hipSuccess
}

/// It costs a call only where one failed, and none where the platform keeps nothing.
#[test]
fn no_query_without_a_failure() {
    let platform = watched::changed_platform(|table| table.hipGetLastError = count_questions);
    let device = Device::new(&Arc::new(platform), 0).unwrap();
    let stream = device.new_stream().unwrap();
    ASKED.set(0);
    let buffer = stream.upload(&[1_u32, 2, 3]).unwrap();
    assert_eq!(stream.download(&buffer).unwrap(), [1, 2, 3]);
    watched::fail_next("hipStreamQuery", hipError_t::hipErrorNotReady.0);
    assert!(!stream.is_done().unwrap());
    assert_eq!(ASKED.get(), 0);
    watched::fail_next("hipDeviceSetLimit", hipError_t::hipErrorInvalidValue.0);
    assert!(device.set_limit(Limit::StackSize, 1 << 10).is_err());
    assert_eq!(ASKED.get(), 1, "also of a function that only some libraries have");
}
