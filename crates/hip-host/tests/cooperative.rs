//! Cooperative launches, and printing. They run on device 1: the kernels are built for its wave size.

#[macro_use]
mod common;

use common::apart::{Left, left_by};
use common::{Hip, hip};
use hip_sys::hip::hipFunction_t;
use std::ffi::c_void;
use std::ptr::null_mut;

/// Runs the body in a process of its own and returns its outcome.
fn apart(name: &str, body: impl FnOnce(&Hip)) -> Option<Left> {
    let left = left_by(name, &[], |hip| {
        ok!(hip, hipSetDevice(1));
        body(hip);
    })?;
    assert!(left.success, "{name}: signal {:?}\n{}", left.signal, left.text);
    Some(left)
}

fn on_device_1() -> Hip {
    let hip = hip();
    ok!(hip, hipSetDevice(1));
    hip
}

fn launch(hip: &Hip, function: hipFunction_t, grid: u32, block: u32, arguments: &mut [*mut c_void]) -> u32 {
    let list = arguments.as_mut_ptr();
    call_optional!(
        hip,
        hipModuleLaunchCooperativeKernel(function, grid, 1, 1, block, 1, 1, 0, null_mut(), list)
    )
}

/// How many blocks of that size the device takes at once, according to the occupancy and the properties.
fn most_blocks(hip: &Hip, function: hipFunction_t, block: u32) -> u32 {
    let (mut each, mut processors) = (0, 0);
    ok!(hip, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut each, function, block as i32, 0));
    let count = hip_sys::hip::hipDeviceAttribute_t::hipDeviceAttributeMultiprocessorCount;
    ok!(hip, hipDeviceGetAttribute(&mut processors, count, 1));
    (each * processors) as u32
}

#[test]
fn values_travel_through_the_grid() {
    let hip = on_device_1();
    let function = hip.function("test_together", "grid_rotate");
    for (grid, block) in [(1, 1), (1, 33), (5, 64), (most_blocks(&hip, function, 256), 256)] {
        let count = (grid * block) as usize;
        let ring = hip.zeros::<i32>(2 * count);
        let (mut pr, mut rounds) = (ring.pointer, 9_i32);
        assert_eq!(launch(&hip, function, grid, block, arguments![pr, rounds]), 0);
        // The last round is odd, so it wrote the second half.
        let expected: Vec<i32> = (0..count).map(|t| ((t + 9) % count) as i32).collect();
        assert_eq!(ring.read()[count..], expected, "{grid} x {block}");
    }
}

#[test]
fn threads_that_left_are_not_waited_for() {
    let hip = on_device_1();
    let out = hip.zeros::<i32>(4 * 100);
    let mut po = out.pointer;
    let function = hip.function("test_together", "grid_early_exit");
    assert_eq!(launch(&hip, function, 4, 100, arguments![po]), 0);
    let expected: Vec<i32> = (0..400).map(|t| if t % 2 == 0 { 100 } else { 0 }).collect();
    assert_eq!(out.read(), expected);
}

#[test]
fn a_grid_that_does_not_fit_is_refused() {
    let hip = on_device_1();
    let out = hip.zeros::<i32>(1024);
    let mut po = out.pointer;
    let function = hip.function("test_together", "fine");
    for block in [32, 256, 1024] {
        let most = most_blocks(&hip, function, block);
        assert!(most >= 1);
        assert_eq!(launch(&hip, function, most, block, arguments![po]), 0);
        assert_eq!(launch(&hip, function, most + 1, block, arguments![po]), 720, "{block}");
    }
    assert_eq!(launch(&hip, function, 0, 32, arguments![po]), 1);
    assert_eq!(launch(&hip, function, 1, 1025, arguments![po]), 1);
    hip.sync();
}

#[test]
fn a_kernel_knows_how_it_was_launched() {
    let hip = on_device_1();
    let out = hip.buffer(&[-1_i32]);
    let mut po = out.pointer;
    let function = hip.function("test_together", "is_cooperative");
    hip.launch(function, common::shape(1, 1), null_mut(), arguments![po]);
    assert_eq!(out.read(), [0]);
    assert_eq!(launch(&hip, function, 1, 1, arguments![po]), 0);
    assert_eq!(out.read(), [1]);
}

#[test]
fn a_sync_that_a_block_does_not_reach() {
    let name = "a_sync_that_a_block_does_not_reach";
    let left = apart(name, |hip| {
        let out = hip.zeros::<i32>(64);
        let mut po = out.pointer;
        let function = hip.function("test_together", "grid_lost_block");
        assert_eq!(launch(hip, function, 4, 64, arguments![po]), 0);
        assert_eq!(call!(hip, hipDeviceSynchronize()), 719);
    });
    if let Some(Left { text, .. }) = left {
        // The line of the sync in tests/kernels/together.cpp.
        let expected = "a grid sync is not reached by all blocks: 3 wait at line 31, 1 ended without it";
        assert!(text.contains("kernel grid_lost_block, block (") && text.contains(expected), "{text}");
    }
}

#[test]
fn a_block_that_faults_ends_the_other_blocks() {
    apart("a_block_that_faults_ends_the_other_blocks", |hip| {
        let out = hip.zeros::<i32>(64);
        let (mut po, mut nothing) = (out.pointer, null_mut::<c_void>());
        let function = hip.function("test_together", "grid_faulting_block");
        assert_eq!(launch(hip, function, 4, 64, arguments![po, nothing]), 0);
        assert_eq!(call!(hip, hipDeviceSynchronize()), 700);
        let text = hip.is_broken_with(700);
        let expected = "kernel grid_faulting_block, block (2, 0, 0), thread (1, 0, 0): illegal address 0x0";
        assert!(text.starts_with(expected), "{text}");
    });
}

#[test]
fn a_block_that_fails_ends_the_other_blocks() {
    let name = "a_block_that_fails_ends_the_other_blocks";
    let left = apart(name, |hip| {
        let out = hip.zeros::<i32>(64);
        let mut po = out.pointer;
        let function = hip.function("test_together", "grid_failing_block");
        assert_eq!(launch(hip, function, 4, 64, arguments![po]), 0);
        assert_eq!(call!(hip, hipDeviceSynchronize()), 710);
    });
    if let Some(Left { text, .. }) = left {
        let expected = "block (1, 0, 0), thread (0, 0, 0): assertion failed: blockIdx.x != 1, at ";
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_grid_sync_needs_a_cooperative_launch() {
    let name = "a_grid_sync_needs_a_cooperative_launch";
    let left = apart(name, |hip| {
        let out = hip.zeros::<i32>(64);
        let mut po = out.pointer;
        let function = hip.function("test_together", "grid_lost_block");
        hip.launch(function, common::shape(1, 64), null_mut(), arguments![po]);
        assert_eq!(call!(hip, hipDeviceSynchronize()), 719);
    });
    if let Some(Left { text, .. }) = left {
        assert!(text.contains("grid sync in a launch that is not cooperative"), "{text}");
    }
}

#[test]
fn kernels_print_whole_lines() {
    let left = apart("kernels_print_whole_lines", |hip| {
        // The test harness has begun a line.
        println!();
        let word = hip.buffer(b"word\0");
        let (mut pw, mut number) = (word.pointer, 2.5_f64);
        let function = hip.function("test_together", "print_lines");
        hip.launch(function, common::shape(8, 50), null_mut(), arguments![pw, number]);
        hip.launch(hip.function("test_together", "print_long"), common::shape(1, 1), null_mut(), &mut []);
        hip.sync();
    });
    if let Some(Left { output: text, .. }) = left {
        let mut lines: Vec<&str> = text.lines().filter(|line| line.ends_with("word 2.50")).collect();
        let mut expected: Vec<String> =
            (0..400).map(|i| format!("block {} thread {}: word 2.50", i / 50, i % 50)).collect();
        lines.sort_unstable();
        expected.sort_unstable();
        assert!(lines == expected, "{text}");
        assert!(text.contains(&format!("{}7|\n", "0".repeat(2999))));
    }
}
