//! Kernels that fail: the launch becomes an error, the device says so from then on, the process lives.
//!
//! A fault breaks its device, so each of these runs in a process of its own: the test starts this program again with the
//! case's name in the environment, and looks at what it printed.

#[macro_use]
mod common;

use common::{Hip, hip, shape};
use std::process::Command;
use std::ptr::null_mut;

const CASE: &str = "HIPHOST_TEST_FAULT";

/// Runs the body in a process of its own and gives what that wrote to standard error.
fn apart(name: &str, body: impl Fn(&Hip)) -> Option<String> {
    if std::env::var(CASE).as_deref() == Ok(name) {
        body(&hip());
        return None;
    }
    let program = std::env::current_exe().expect("this program");
    let arguments = ["--exact", name, "--nocapture", "--test-threads=1"];
    let output = Command::new(program).args(arguments).env(CASE, name).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stdout));
    Some(text)
}

/// Launches a kernel with one output of 64 ints on the null stream, then checks that the device is broken with that code.
fn breaks_with(hip: &Hip, kernel: &str, code: u32) {
    let out = hip.zeros::<i32>(64);
    let (fine, mut po) = (hip.function("test_faults", "fine"), out.pointer);
    let failing = hip.function("test_faults", kernel);
    hip.launch(failing, shape(4, 64), null_mut(), arguments![po]);
    assert_eq!(call!(hip, hipStreamSynchronize(null_mut())), code);
    assert_eq!(call!(hip, hipGetLastError()), code);
    // Everything on the device says so now.
    assert_eq!(call!(hip, hipDeviceSynchronize()), code);
    assert_eq!(hip.launch_code(fine, shape(1, 64), null_mut(), arguments![po]), code);
    assert_eq!(call!(hip, hipMemset(po, 0, 4)), code);
    let mut more = null_mut();
    assert_eq!(call!(hip, hipMalloc(&mut more, 4)), code);
    // The other device is well.
    ok!(hip, hipSetDevice(1));
    hip.sync();
    let other = hip.zeros::<i32>(64);
    let mut po = other.pointer;
    hip.launch(hip.function("test_faults", "fine"), shape(1, 64), null_mut(), arguments![po]);
    assert_eq!(other.read(), [2; 64]);
    drop(other);
    // A reset heals; what was allocated is gone.
    ok!(hip, hipSetDevice(0));
    assert_eq!(call!(hip, hipDeviceReset()), 0);
    let again = hip.zeros::<i32>(64);
    let mut po = again.pointer;
    hip.launch(hip.function("test_faults", "fine"), shape(1, 64), null_mut(), arguments![po]);
    assert_eq!(again.read(), [2; 64]);
}

#[test]
fn a_barrier_that_not_all_threads_reach() {
    let name = "a_barrier_that_not_all_threads_reach";
    if let Some(text) = apart(name, |hip| breaks_with(hip, "split_barrier", 719)) {
        // The lines of the two barriers in tests/kernels/faults.cpp.
        let expected =
            "a barrier is not reached by all threads of the block: 5 wait at line 8, 59 at line 10";
        assert!(text.contains("kernel split_barrier, block ("), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn an_assertion_that_fails() {
    if let Some(text) = apart("an_assertion_that_fails", |hip| breaks_with(hip, "failed_assert", 710)) {
        assert!(text.contains("assertion failed: answer < 3, at "), "{text}");
        assert!(text.contains("faults.cpp:17"), "{text}");
    }
}

#[test]
fn a_trap() {
    if let Some(text) = apart("a_trap", |hip| breaks_with(hip, "trapped", 719)) {
        assert!(text.contains("kernel trapped, block (") && text.contains("trap, at "), "{text}");
    }
}

#[test]
fn work_behind_a_fault_is_skipped_and_events_still_end() {
    apart("work_behind_a_fault_is_skipped_and_events_still_end", |hip| {
        let out = hip.zeros::<i32>(64);
        let (stream, event, mut po) = (hip.stream(1), hip.event(), out.pointer);
        let (trapped, fine) = (hip.function("test_faults", "trapped"), hip.function("test_faults", "fine"));
        hip.launch(trapped, shape(1, 64), stream, arguments![po]);
        // Either the fault was seen already, or the launch is queued and skipped.
        let code = hip.launch_code(fine, shape(1, 64), stream, arguments![po]);
        assert!(code == 0 || code == 719, "{code}");
        ok!(hip, hipEventRecord(event, stream));
        assert_eq!(call!(hip, hipEventSynchronize(event)), 719);
        assert_eq!(call!(hip, hipStreamQuery(stream)), 719);
    });
}
