//! Kernels that fail: the launch becomes an error, the device keeps it, and the process survives.
//!
//! Each case runs in a process of its own, on device 0 (waves of 32) and then, in the same process, on device
//! 1 (of 64).

#[macro_use]
mod common;

use common::apart::apart;
use common::{Hip, shape};
use std::ffi::c_void;
use std::ptr::null_mut;

/// Launches a failing kernel on each device in turn, and returns what the platform reports for both.
fn fails_with(hip: &Hip, module: &str, kernel: &str, code: u32, more: &mut [*mut c_void]) -> [String; 2] {
    [0, 1].map(|device| {
        ok!(hip, hipSetDevice(device));
        let out = hip.zeros::<i32>(64);
        let fine = hip.function("test_faults", "fine");
        let mut po = out.pointer;
        let mut arguments = vec![(&raw mut po).cast::<c_void>()];
        arguments.extend_from_slice(more);
        hip.launch(hip.function(module, kernel), shape(4, 64), null_mut(), &mut arguments);
        assert_eq!(call!(hip, hipStreamSynchronize(null_mut())), code);
        assert_eq!(call!(hip, hipGetLastError()), code);
        // All calls on the device now fail, except frees.
        assert_eq!(hip.launch_code(fine, shape(1, 64), null_mut(), arguments![po]), code);
        assert_eq!(call!(hip, hipMemset(po, 0, 4)), code);
        assert_eq!(call!(hip, hipFree(po)), 0);
        std::mem::forget(out);
        hip.is_broken_with(code)
    })
}

/// Checks that the report names the kernel, a block and each of the pieces, on both devices.
fn names(said: &[String; 2], kernel: &str, pieces: &[&str]) {
    for text in said {
        assert!(text.starts_with(&format!("kernel {kernel}, block (")), "{text}");
        for piece in pieces {
            assert!(text.contains(piece), "{piece:?} is not in {text}");
        }
    }
}

fn case(name: &str, kernel: &str, code: u32, pieces: &[&str]) {
    let text = apart(name, &[], |hip| {
        names(&fails_with(hip, "test_faults", kernel, code, &mut []), kernel, pieces);
    });
    // Standard error has the same, with the device and the code.
    for device in text.iter().flat_map(|text| [0, 1].map(|device| (text, device))) {
        let (text, device) = device;
        assert!(
            text.contains(&format!("hip-host: device {device}: error {code}: kernel {kernel}")),
            "{text}"
        );
    }
}

#[test]
fn a_barrier_that_not_all_threads_reach() {
    // The lines of the two barriers in tests/kernels/faults.cpp.
    let expected = "a barrier is not reached by all threads of the block: 5 wait at line 8, 59 at line 10";
    case("a_barrier_that_not_all_threads_reach", "split_barrier", 719, &[expected]);
}

#[test]
fn threads_at_three_barriers() {
    let expected = "4 wait at line 32, 16 at line 34, 34 at line 36, 10 have ended";
    case("threads_at_three_barriers", "three_barriers", 719, &[expected]);
}

#[test]
fn lanes_at_a_warp_operation_and_at_a_barrier() {
    apart("lanes_at_a_warp_operation_and_at_a_barrier", &[], |hip| {
        for device in [0, 1] {
            ok!(hip, hipSetDevice(device));
            let (module, out) = ("test_warp_faults", hip.zeros::<i32>(64));
            let mut po = out.pointer;
            hip.launch(
                hip.function(module, "shuffle_before_barrier"),
                shape(4, 64),
                null_mut(),
                arguments![po],
            );
            // Exchanging three times with the neighbour is the same as once.
            let expected: Vec<i32> = (0..64).map(|i| if i % 32 < 16 { i ^ 1 } else { i }).collect();
            assert_eq!(out.read(), expected);
        }
        let said = fails_with(hip, "test_warp_faults", "shuffle_and_another_barrier", 719, &mut []);
        // Six lanes in each 32 threads.
        let expected = "52 wait at line 23, 12 at line 21";
        names(&said, "shuffle_and_another_barrier", &[expected]);
        let mut nothing = null_mut::<c_void>();
        let said = fails_with(hip, "test_warp_faults", "fault_before_shuffle", 700, arguments![nothing]);
        names(&said, "fault_before_shuffle", &["thread (13, 0, 0): illegal address 0x0"]);
    });
}

#[test]
fn many_faults_leak_nothing() {
    apart("many_faults_leak_nothing", &[], |hip| {
        // Every block fails, on all threads of the machine, while other threads of the block are parked. If
        // each fault lost a stack, the stacks would run out.
        for round in 0..300 {
            ok!(hip, hipSetDevice(round % 2));
            let out = hip.zeros::<i32>(64);
            let (mut nothing, mut at) = (null_mut::<c_void>(), 0_i64);
            hip.launch(
                hip.function("test_faults", "write_late"),
                shape(64, 256),
                null_mut(),
                arguments![nothing, at],
            );
            assert_eq!(call!(hip, hipDeviceSynchronize()), 700);
            drop(out);
            ok!(hip, hipDeviceReset());
        }
        hip.works();
    });
}

#[test]
fn an_assertion_that_fails() {
    let expected = ["thread (3, 0, 0): assertion failed: answer < 3, at ", "faults.cpp:17"];
    case("an_assertion_that_fails", "failed_assert", 710, &expected);
}

#[test]
fn a_trap() {
    case("a_trap", "trapped", 719, &["thread (2, 0, 0): trap, at "]);
}

#[test]
fn an_endless_recursion() {
    case("an_endless_recursion", "endless_recursion", 719, &["stack overflow, infinite recursion?"]);
}

#[test]
fn an_array_larger_than_the_stack() {
    case("an_array_larger_than_the_stack", "large_frame", 719, &["stack overflow, infinite recursion?"]);
}

#[test]
fn an_illegal_instruction() {
    case("an_illegal_instruction", "illegal_instruction", 719, &["thread (1, 0, 0): illegal instruction"]);
}

#[test]
fn a_division_by_zero() {
    // Other processors return zero.
    if cfg!(target_arch = "x86_64") {
        let name = "a_division_by_zero";
        apart(name, &[], |hip| {
            let mut by = 0_i32;
            let said = fails_with(hip, "test_faults", "divide", 719, arguments![by]);
            names(&said, "divide", &["thread (0, 0, 0): integer division by zero"]);
        });
    }
}

#[test]
fn a_null_pointer() {
    apart("a_null_pointer", &[], |hip| {
        let (mut from, mut at) = (null_mut::<c_void>(), 0_i64);
        let said = fails_with(hip, "test_faults", "read_at", 700, arguments![from, at]);
        names(&said, "read_at", &["thread (1, 0, 0): illegal address 0x0", ": null pointer"]);
        at = 10;
        let said = fails_with(hip, "test_faults", "read_at", 700, arguments![from, at]);
        names(&said, "read_at", &["illegal address 0x28", ": null pointer, and 40 bytes"]);
    });
}

#[test]
fn an_address_that_is_nowhere() {
    apart("an_address_that_is_nowhere", &[], |hip| {
        let (mut from, mut at) = (0x10_0000 as *mut c_void, 0_i64);
        let said = fails_with(hip, "test_faults", "read_at", 700, arguments![from, at]);
        let expected = ["thread (1, 0, 0): illegal address 0x100000", ": no memory is there"];
        names(&said, "read_at", &expected);
        // More bits than an address can have.
        from = (1_usize << 60) as *mut c_void;
        let said = fails_with(hip, "test_faults", "read_at", 700, arguments![from, at]);
        names(&said, "read_at", &["thread (1, 0, 0): illegal address"]);
        at = 1;
        let said = fails_with(hip, "test_faults", "read_at", 700, arguments![from, at]);
        names(&said, "read_at", &["thread (1, 0, 0): illegal address"]);
    });
}

#[test]
fn an_invalid_printf_format_address() {
    apart("an_invalid_printf_format_address", &[], |hip| {
        let mut text = 0x10_0000 as *mut c_void;
        let said = fails_with(hip, "test_faults", "print_nothing", 700, arguments![text]);
        names(&said, "print_nothing", &["thread (3, 0, 0): illegal address 0x100000"]);
    });
}

#[test]
fn threads_that_leave_early_are_no_fault() {
    apart("threads_that_leave_early_are_no_fault", &[], |hip| {
        for device in [0, 1] {
            ok!(hip, hipSetDevice(device));
            let out = hip.zeros::<i32>(64);
            let mut po = out.pointer;
            hip.launch(
                hip.function("test_faults", "early_leavers"),
                shape(4, 64),
                null_mut(),
                arguments![po],
            );
            let expected: Vec<i32> = (0..64).map(|i| if i % 2 == 0 { 32 } else { 0 }).collect();
            assert_eq!(out.read(), expected);
        }
    });
}

#[test]
fn the_first_fault_counts() {
    apart("the_first_fault_counts", &[], |hip| {
        let out = hip.zeros::<i32>(64);
        let (a, b, mut po) = (hip.stream(1), hip.stream(1), out.pointer);
        let asserts = hip.function("test_faults", "failed_assert");
        let traps = hip.function("test_faults", "trapped");
        hip.launch(asserts, shape(1, 64), a, arguments![po]);
        assert_eq!(call!(hip, hipStreamSynchronize(a)), 710);
        assert_eq!(hip.launch_code(traps, shape(1, 64), b, arguments![po]), 710);
        assert_eq!(call!(hip, hipStreamSynchronize(b)), 710);
        assert!(hip.is_broken_with(710).contains("assertion failed"));
    });
}

#[test]
fn work_behind_a_fault_is_skipped_and_events_still_end() {
    apart("work_behind_a_fault_is_skipped_and_events_still_end", &[], |hip| {
        let out = hip.zeros::<i32>(64);
        let (stream, other) = (hip.stream(1), hip.stream(1));
        let (before, event, mut po) = (hip.event(), hip.event(), out.pointer);
        let (trapped, fine) = (hip.function("test_faults", "trapped"), hip.function("test_faults", "fine"));
        ok!(hip, hipEventRecord(before, stream));
        hip.launch(trapped, shape(1, 64), stream, arguments![po]);
        // Either the fault was already seen, or the following work is queued and skipped.
        let either = |code: u32| assert!(code == 0 || code == 719, "{code}");
        either(hip.launch_code(fine, shape(1, 64), stream, arguments![po]));
        either(call!(hip, hipEventRecord(event, stream)));
        either(call!(hip, hipStreamWaitEvent(other, event, 0)));
        assert_eq!(call!(hip, hipStreamSynchronize(stream)), 719);
        assert_eq!(call!(hip, hipStreamSynchronize(other)), 719);
        assert_eq!(call!(hip, hipEventSynchronize(event)), 719);
        assert_eq!(call!(hip, hipEventSynchronize(before)), 719);
        assert_eq!(call!(hip, hipEventQuery(event)), 719);
        assert_eq!(call!(hip, hipStreamQuery(stream)), 719);
        let mut time = 0.0;
        assert_eq!(call!(hip, hipEventElapsedTime(&mut time, before, event)), 719);
        assert_eq!(call!(hip, hipEventRecord(event, stream)), 719);
        assert_eq!(call!(hip, hipStreamWaitEvent(other, event, 0)), 719);
        let mut word = 0_i32;
        assert_eq!(call!(hip, hipMemcpy((&raw mut word).cast(), po, 4, hip_sys::hip::hipMemcpyKind(2))), 719);
        // Objects created before can be destroyed.
        assert_eq!(call!(hip, hipEventDestroy(event)), 0);
        assert_eq!(call!(hip, hipStreamDestroy(other)), 0);
        assert_eq!(call!(hip, hipFree(po)), 0);
        std::mem::forget(out);
        hip.is_broken_with(719);
        // The stream stays usable.
        ok!(hip, hipEventRecord(before, stream));
        ok!(hip, hipEventSynchronize(before));
        ok!(hip, hipStreamSynchronize(stream));
    });
}
