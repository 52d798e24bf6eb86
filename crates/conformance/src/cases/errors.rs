//! Names of errors, and the last error of a thread.

use super::prelude::*;
use std::ffi::{CStr, c_char};

pub(crate) const CASES: &[Case] =
    cases!("error/name": success, of_the_table, unknown, every_name_has_a_meaning);
pub(crate) const LAST: &[Case] = cases!(
    "error/last": none_at_first, told_once, peeking_keeps_it, a_success_does_not_clear_it,
    the_newest_counts, not_ready_is_no_error, questions_to_a_busy_event_are_no_error, ext_takes_it,
    each_thread_has_its_own, a_failed_launch
);

fn text(pointer: *const c_char) -> Result<String, Failure> {
    ensure(!pointer.is_null(), "a null name")?;
    // SAFETY: S1: names are static C strings.
    Ok(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

fn name(b: &Bench, code: u32) -> Result<String, Failure> {
    // SAFETY: S1: any number is a code.
    text(unsafe { (b.hip().hipGetErrorName)(hipError_t(code)) })
}

fn meaning(b: &Bench, code: u32) -> Result<String, Failure> {
    // SAFETY: S1: any number is a code.
    text(unsafe { (b.hip().hipGetErrorString)(hipError_t(code)) })
}

fn success(b: &Bench) -> Outcome {
    same("the name", name(b, 0)?.as_str(), "hipSuccess")
}

/// Names that HIP's headers give to these codes.
const NAMES: &[(u32, &str)] = &[
    (VALUE, "hipErrorInvalidValue"),
    (MEMORY, "hipErrorOutOfMemory"),
    (DIRECTION, "hipErrorInvalidMemcpyDirection"),
    (100, "hipErrorNoDevice"),
    (DEVICE, "hipErrorInvalidDevice"),
    (IMAGE, "hipErrorInvalidImage"),
    (209, "hipErrorNoBinaryForGpu"),
    (LIMIT, "hipErrorUnsupportedLimit"),
    (NO_FILE, "hipErrorFileNotFound"),
    (HANDLE, "hipErrorInvalidHandle"),
    (401, "hipErrorIllegalState"),
    (NOT_FOUND, "hipErrorNotFound"),
    (NOT_READY, "hipErrorNotReady"),
    (700, "hipErrorIllegalAddress"),
    (PEER_ON, "hipErrorPeerAccessAlreadyEnabled"),
    (PEER_OFF, "hipErrorPeerAccessNotEnabled"),
    (DESTROYED, "hipErrorContextIsDestroyed"),
    (710, "hipErrorAssert"),
    (NOT_REGISTERED, "hipErrorHostMemoryNotRegistered"),
    (719, "hipErrorLaunchFailure"),
    (801, "hipErrorNotSupported"),
    (900, "hipErrorStreamCaptureUnsupported"),
    (908, "hipErrorStreamCaptureWrongThread"),
];

fn of_the_table(b: &Bench) -> Outcome {
    for (code, expected) in NAMES {
        same(&format!("the name of {code}"), name(b, *code)?.as_str(), *expected)?;
    }
    Ok(())
}

/// A number that is not a code has the name of the unknown error.
fn unknown(b: &Bench) -> Outcome {
    same("the name", name(b, 123_456)?.as_str(), "hipErrorUnknown")
}

fn every_name_has_a_meaning(b: &Bench) -> Outcome {
    for (code, _) in NAMES {
        ensure(!meaning(b, *code)?.is_empty(), format!("code {code} means nothing"))?;
    }
    Ok(())
}

fn none_at_first(b: &Bench) -> Outcome {
    same("the last error", (b.peek(), b.take_error()), (SUCCESS, SUCCESS))
}

fn told_once(b: &Bench) -> Outcome {
    expect!(b, hipSetDevice(-1) => DEVICE);
    same("the last error, twice", (b.take_error(), b.take_error()), (DEVICE, SUCCESS))
}

fn peeking_keeps_it(b: &Bench) -> Outcome {
    expect!(b, hipSetDevice(-1) => DEVICE);
    same("peek, peek, take", (b.peek(), b.peek(), b.take_error()), (DEVICE, DEVICE, DEVICE))
}

fn a_success_does_not_clear_it(b: &Bench) -> Outcome {
    let mut device = 0;
    expect!(b, hipSetDevice(-1) => DEVICE; hipGetDevice(&mut device) => SUCCESS);
    same("the last error", b.take_error(), DEVICE)
}

fn the_newest_counts(b: &Bench) -> Outcome {
    expect!(b, hipSetDevice(-1) => DEVICE; hipMalloc(null_mut(), 8) => VALUE);
    same("the last error", b.take_error(), VALUE)
}

/// "Not ready" is a result, not an error.
fn not_ready_is_no_error(b: &Bench) -> Outcome {
    let (stream, gate) = (b.stream()?, Gate::new());
    gate.hold(b, stream.raw)?;
    expect!(b, hipStreamQuery(stream.raw) => NOT_READY);
    same("the last error", b.take_error(), SUCCESS)
}

fn questions_to_a_busy_event_are_no_error(b: &Bench) -> Outcome {
    let (stream, event, gate) = (b.stream()?, b.event()?, Gate::new());
    gate.hold(b, stream.raw)?;
    ok!(b, hipEventRecord(event.raw, stream.raw));
    expect!(b, hipEventQuery(event.raw) => NOT_READY);
    same("the last error", b.take_error(), SUCCESS)
}

fn ext_takes_it(b: &Bench) -> Outcome {
    expect!(b, hipSetDevice(-1) => DEVICE; hipExtGetLastError() => DEVICE);
    same("the last error", b.take_error(), SUCCESS)
}

fn each_thread_has_its_own(b: &Bench) -> Outcome {
    expect!(b, hipSetDevice(-1) => DEVICE);
    let there = b.elsewhere(|b| {
        let before = b.take_error();
        expect!(b, hipMalloc(null_mut(), 8) => VALUE);
        Ok((before, b.peek()))
    })?;
    same("the other thread's, before and after", there, (SUCCESS, VALUE))?;
    same("this thread's", b.take_error(), DEVICE)
}

/// A refused launch sets the last error too.
fn a_failed_launch(b: &Bench) -> Outcome {
    let n = null_mut;
    expect!(b, hipModuleLaunchKernel(n(), 1, 1, 1, 1, 1, 1, 0, NULL, null_mut(), null_mut()) => HANDLE);
    same("the last error", b.take_error(), HANDLE)
}
