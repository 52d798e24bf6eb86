//! The watchdog: a launch that does not end becomes an error. Each case runs in a process of its own, on both devices.

#[macro_use]
mod common;

use common::apart::apart;
use common::{Hip, shape};

const WATCHED: &[(&str, &str)] = &[("HIPSTACK_HOST_WATCHDOG_MS", "300")];

/// Launches a kernel that waits for a word to change, which never happens.
fn ends(name: &str, module: &str, kernel: &str, blocks: u32, threads: u32) {
    let text = apart(name, WATCHED, |hip| {
        for device in [0, 1] {
            ok!(hip, hipSetDevice(device));
            let (out, behind) = (hip.zeros::<i32>(64), hip.event());
            let (stream, mut po) = (hip.stream(1), out.pointer);
            hip.launch(hip.function(module, kernel), shape(blocks, threads), stream, arguments![po]);
            let code = call!(hip, hipEventRecord(behind, stream));
            assert!(code == 0 || code == 702, "{code}");
            assert_eq!(call!(hip, hipStreamSynchronize(stream)), 702);
            assert_eq!(call!(hip, hipEventSynchronize(behind)), 702);
            let text = hip.is_broken_with(702);
            assert!(text.starts_with(&format!("kernel {kernel}, block (")), "{text}");
            let end = "the launch took longer than 300 ms (HIPSTACK_HOST_WATCHDOG_MS): an endless loop?";
            assert!(text.ends_with(end), "{text}");
        }
    });
    if let Some(text) = text {
        assert!(text.contains("hip-host: device 1: error 702: kernel "), "{text}");
    }
}

#[test]
fn a_loop_without_barriers() {
    ends("a_loop_without_barriers", "test_faults", "wait_for_write", 1, 64);
}

#[test]
fn a_loop_on_all_threads_of_the_machine() {
    ends("a_loop_on_all_threads_of_the_machine", "test_faults", "wait_for_write", 500, 256);
}

#[test]
fn a_loop_of_barriers() {
    ends("a_loop_of_barriers", "test_faults", "endless_barriers", 3, 256);
}

#[test]
fn a_loop_of_barriers_that_nobody_waits_at() {
    ends("a_loop_of_barriers_that_nobody_waits_at", "test_faults", "endless_barriers", 1, 1);
}

#[test]
fn a_plain_loop() {
    ends("a_plain_loop", "test_plain_faults", "plain_wait_for_write", 4, 64);
}

#[test]
fn blocks_that_wait_for_each_other() {
    // The other blocks must have reached the sync by then, even on a busy machine: any thread that still runs
    // may be reported.
    let late = &[("HIPSTACK_HOST_WATCHDOG_MS", "3000")];
    apart("blocks_that_wait_for_each_other", late, |hip| {
        ok!(hip, hipSetDevice(1));
        let out = hip.zeros::<i32>(64);
        let (function, mut po) = (hip.function("test_together", "grid_endless_block"), out.pointer);
        let list = arguments![po];
        let (list, none) = (list.as_mut_ptr(), std::ptr::null_mut());
        let code =
            call_optional!(hip, hipModuleLaunchCooperativeKernel(function, 4, 1, 1, 64, 1, 1, 0, none, list));
        assert_eq!(code, 0);
        assert_eq!(call!(hip, hipDeviceSynchronize()), 702);
        let text = hip.is_broken_with(702);
        let expected = "kernel grid_endless_block, block (1, 0, 0), thread (0, 0, 0): the launch took longer";
        assert!(text.starts_with(expected), "{text}");
    });
}

#[test]
fn launches_that_end_in_time_are_left_alone() {
    let patient = &[("HIPSTACK_HOST_WATCHDOG_MS", "200000")];
    apart("launches_that_end_in_time_are_left_alone", patient, |hip| {
        for _ in 0..50 {
            hip.works();
        }
        // A kernel that waits for another stream's write ends if that write comes.
        let out = hip.zeros::<i32>(65);
        let (a, b, mut po, mut one) = (hip.stream(1), hip.stream(1), out.pointer, 1_i32);
        hip.launch(hip.function("test_faults", "wait_for_write"), shape(1, 64), a, arguments![po]);
        hip.launch(hip.function("test_plain", "write_one"), shape(1, 1), b, arguments![po, one]);
        ok!(hip, hipStreamSynchronize(a));
        ok!(hip, hipStreamSynchronize(b));
        assert_eq!(out.read(), [1; 65]);
    });
}

#[test]
fn a_write_of_another_stream_that_never_comes() {
    let name = "a_write_of_another_stream_that_never_comes";
    apart(name, WATCHED, |hip: &Hip| {
        let out = hip.zeros::<i32>(65);
        let (a, b, event) = (hip.stream(1), hip.stream(1), hip.event());
        let (mut po, mut one) = (out.pointer, 1_i32);
        // A deadlock: the writer waits for the reader, which waits for the writer.
        hip.launch(hip.function("test_faults", "wait_for_write"), shape(1, 64), a, arguments![po]);
        ok!(hip, hipEventRecord(event, a));
        ok!(hip, hipStreamWaitEvent(b, event, 0));
        let code =
            hip.launch_code(hip.function("test_plain", "write_one"), shape(1, 1), b, arguments![po, one]);
        assert!(code == 0 || code == 702, "{code}");
        assert_eq!(call!(hip, hipStreamSynchronize(b)), 702);
        assert!(
            hip.is_broken_with(702).starts_with("kernel wait_for_write, block (0, 0, 0), thread (0, 0, 0): ")
        );
    });
}
