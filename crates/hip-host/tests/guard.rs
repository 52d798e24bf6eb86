//! Guard mode: an access outside a buffer is a fault that names the buffer.
//!
//! Each case runs in a process of its own, on both devices. Sizes are such that the offsets can be worked out: 1,024 bytes
//! end where their page ends, and 4,096 or more begin where a page begins.

#[macro_use]
mod common;

use common::apart::{apart, left_by};
use common::gate::gate;
use common::{Hip, shape};
use std::ffi::c_void;
use std::ptr::null_mut;

const GUARDED: &[(&str, &str)] = &[("HIPSTACK_HOST_GUARD", "1")];

/// Launches `kernel(out, at)` on four blocks and returns what the platform reports about the fault.
fn fault(hip: &Hip, module: &str, kernel: &str, out: *mut c_void, at: i64) -> String {
    let (mut out, mut at) = (out, at);
    hip.launch(hip.function(module, kernel), shape(4, 64), null_mut(), arguments![out, at]);
    assert_eq!(call!(hip, hipDeviceSynchronize()), 700);
    hip.is_broken_with(700)
}

fn allocate(hip: &Hip, bytes: usize) -> *mut c_void {
    let mut memory = null_mut();
    ok!(hip, hipMalloc(&mut memory, bytes));
    memory
}

fn on_both(hip: &Hip, body: impl Fn(i32)) {
    for device in [0, 1] {
        ok!(hip, hipSetDevice(device));
        body(device);
    }
}

/// The text without the allocation's number, which depends on all allocations of the process.
fn without_number(text: &str) -> String {
    let (start, rest) = text.split_once("allocation ").expect("it names an allocation");
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{start}allocation #{rest}")
}

#[test]
fn one_element_too_far() {
    apart("one_element_too_far", GUARDED, |hip| {
        on_both(hip, |device| {
            let text = fault(hip, "test_faults", "write_at", allocate(hip, 1024), 256);
            assert!(
                text.starts_with("kernel write_at, block (3, 0, 0), thread (5, 0, 0): illegal address 0x")
            );
            let expected = format!(": 0 bytes past the end of allocation # (1,024 bytes of device {device})");
            assert!(without_number(&text).ends_with(&expected), "{text}");
            let text = fault(hip, "test_faults", "write_at", allocate(hip, 1024), 257);
            let expected = format!(": 4 bytes past the end of allocation # (1,024 bytes of device {device})");
            assert!(without_number(&text).ends_with(&expected), "{text}");
            // Odd sizes too: 4 bytes, 12, and more than a page.
            for bytes in [4, 12, 4100, 70_000] {
                let text = fault(hip, "test_faults", "write_at", allocate(hip, bytes), bytes as i64 / 4);
                assert!(text.contains(": 0 bytes past the end of allocation"), "{bytes}: {text}");
            }
        });
    });
}

#[test]
fn with_threads_parked_and_in_a_plain_loop() {
    apart("with_threads_parked_and_in_a_plain_loop", GUARDED, |hip| {
        on_both(hip, |_| {
            let text = fault(hip, "test_faults", "write_late", allocate(hip, 1024), 256);
            assert!(text.contains("thread (9, 0, 0): illegal address 0x"), "{text}");
            let text = fault(hip, "test_plain_faults", "plain_write_at", allocate(hip, 1024), 256);
            assert!(text.starts_with("kernel plain_write_at, block (3, 0, 0): illegal address 0x"), "{text}");
            assert!(text.contains(": 0 bytes past the end of allocation"), "{text}");
        });
    });
}

#[test]
fn before_the_start() {
    apart("before_the_start", GUARDED, |hip| {
        on_both(hip, |device| {
            let text = fault(hip, "test_faults", "write_at", allocate(hip, 4096), -1);
            let expected =
                format!(": 4 bytes before the start of allocation # (4,096 bytes of device {device})");
            assert!(without_number(&text).ends_with(&expected), "{text}");
            // An access in the same page does not fault; the free detects it.
            let (out, mut at) = (allocate(hip, 1024), -3_i64);
            let mut po = out;
            hip.launch(hip.function("test_faults", "write_at"), shape(4, 64), null_mut(), arguments![po, at]);
            ok!(hip, hipDeviceSynchronize());
            ok!(hip, hipFree(out));
            let text = hip.is_broken_with(700);
            let end = "was written 9 bytes before its start, as its free shows";
            assert!(without_number(&text).ends_with(end), "{text}");
        });
    });
}

#[test]
fn after_the_free() {
    apart("after_the_free", GUARDED, |hip| {
        on_both(hip, |device| {
            let freed = allocate(hip, 1024);
            ok!(hip, hipFree(freed));
            let text = fault(hip, "test_faults", "write_at", freed, 2);
            let expected = format!(": inside allocation # (1,024 bytes of device {device}), which was freed");
            assert!(without_number(&text).ends_with(&expected), "{text}");
        });
    });
}

#[test]
fn memory_of_pools() {
    apart("memory_of_pools", GUARDED, |hip| {
        on_both(hip, |device| {
            let stream = hip.stream(1);
            let allocate = || {
                let mut memory = null_mut();
                assert_eq!(call!(hip, hipMallocAsync(&mut memory, 1024, stream)), 0);
                ok!(hip, hipStreamSynchronize(stream));
                memory
            };
            let text = fault(hip, "test_faults", "write_at", allocate(), 256);
            let expected = format!(": 0 bytes past the end of allocation # (1,024 bytes of device {device})");
            assert!(without_number(&text).ends_with(&expected), "{text}");
            let freed = allocate();
            assert_eq!(call!(hip, hipFreeAsync(freed, stream)), 0);
            ok!(hip, hipStreamSynchronize(stream));
            let text = fault(hip, "test_faults", "write_at", freed, 0);
            assert!(text.ends_with("which was freed"), "{text}");
        });
    });
}

/// A copy that runs after another stream has freed its source.
fn copy_too_late(hip: &Hip) -> String {
    let (late, other, gate) = (hip.stream(1), hip.stream(1), gate());
    let (mut from, to) = (null_mut(), allocate(hip, 1024));
    assert_eq!(call!(hip, hipMallocAsync(&mut from, 1024, other)), 0);
    ok!(hip, hipStreamSynchronize(other));
    gate.hold(hip, late);
    let kind = hip_sys::hip::hipMemcpyKind::hipMemcpyDeviceToDevice;
    ok!(hip, hipMemcpyAsync(to, from, 1024, kind, late));
    assert_eq!(call!(hip, hipFreeAsync(from, other)), 0);
    ok!(hip, hipStreamSynchronize(other));
    gate.release();
    assert_eq!(call!(hip, hipStreamSynchronize(late)), 700);
    let text = hip.last_fault(hip.current_device());
    ok!(hip, hipDeviceReset());
    call!(hip, hipGetLastError());
    hip.works();
    text
}

#[test]
fn a_copy_after_the_free() {
    apart("a_copy_after_the_free", GUARDED, |hip| {
        on_both(hip, |device| {
            let text = copy_too_late(hip);
            assert!(text.starts_with("copy of 1024 bytes: illegal address 0x"), "{text}");
            let expected = format!(": inside allocation # (1,024 bytes of device {device}), which was freed");
            assert!(without_number(&text).ends_with(&expected), "{text}");
        });
    });
}

#[test]
fn a_copy_after_the_free_without_guard_mode() {
    apart("a_copy_after_the_free_without_guard_mode", &[], |hip| {
        let text = copy_too_late(hip);
        assert!(text.ends_with(": the memory was freed before the operation ran"), "{text}");
    });
}

#[test]
fn fresh_memory_is_no_zero() {
    apart("fresh_memory_is_no_zero", GUARDED, |hip| {
        on_both(hip, |_| {
            let fresh = allocate(hip, 40);
            let mut seen = [0_u32; 10];
            let kind = hip_sys::hip::hipMemcpyKind::hipMemcpyDeviceToHost;
            ok!(hip, hipMemcpy(seen.as_mut_ptr().cast(), fresh, 40, kind));
            assert_eq!(seen, [u32::MAX; 10]);
            assert!(f32::from_bits(seen[0]).is_nan());
            ok!(hip, hipFree(fresh));
        });
    });
}

#[test]
fn a_larger_alignment_leaves_bytes_that_the_free_checks() {
    let environment = &[("HIPSTACK_HOST_GUARD", "16")];
    apart("a_larger_alignment_leaves_bytes_that_the_free_checks", environment, |hip| {
        on_both(hip, |_| {
            // 20 bytes end 12 bytes before the end of their page.
            let (out, mut at) = (allocate(hip, 20), 6_i64);
            assert_eq!(out.addr() % 4096, 4096 - 32);
            let mut po = out;
            hip.launch(hip.function("test_faults", "write_at"), shape(4, 64), null_mut(), arguments![po, at]);
            ok!(hip, hipDeviceSynchronize());
            ok!(hip, hipFree(out));
            let text = hip.is_broken_with(700);
            let end = "was written 4 bytes past its end, as its free shows";
            assert!(without_number(&text).ends_with(end), "{text}");
        });
    });
}

#[test]
fn without_guard_mode_the_nearest_is_named() {
    apart("without_guard_mode_the_nearest_is_named", &[], |hip| {
        on_both(hip, |device| {
            // An allocation this large is a mapping of its own, next to the previous one. Freeing its
            // neighbours leaves it alone.
            let bytes = 64 << 20;
            let [above, mut memory, below] = [(); 3].map(|()| allocate(hip, bytes));
            ok!(hip, hipFree(above));
            ok!(hip, hipFree(below));
            let pages = 0..256_i64;
            let behind = pages.clone().map(|page| bytes as i64 + 4096 * page);
            let before = pages.map(|page| -4096 * (page + 1));
            let is_unmapped = |offset: &i64| {
                let page = memory.wrapping_byte_offset(*offset as isize).map_addr(|a| a & !4095);
                // SAFETY: S1: a query about a page, which need not be mapped.
                unsafe { libc::msync(page, 1, libc::MS_ASYNC) != 0 }
            };
            let offset = behind.chain(before).find(is_unmapped).expect("a page beside it that nobody has");
            let mut at = offset / 4;
            hip.launch(
                hip.function("test_faults", "write_at"),
                shape(4, 64),
                null_mut(),
                arguments![memory, at],
            );
            assert_eq!(call!(hip, hipDeviceSynchronize()), 700);
            let text = hip.is_broken_with(700);
            let expected = format!(" (67,108,864 bytes of device {device}), the nearest one");
            assert!(text.contains(&expected), "{text}");
            assert!(text.contains("HIPSTACK_HOST_GUARD=1"), "{text}");
        });
    });
}

#[test]
fn too_many_allocations_are_an_error() {
    let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
    if limit.trim().parse::<usize>().is_ok_and(|limit| limit > 200_000) {
        println!("skipped: this machine allows {} mappings", limit.trim());
        return;
    }
    let name = "too_many_allocations_are_an_error";
    let text = apart(name, GUARDED, |hip| {
        let (mut memories, mut memory) = (Vec::with_capacity(200_000), null_mut());
        let code = loop {
            match call!(hip, hipMalloc(&mut memory, 4)) {
                0 => memories.push(memory),
                code => break code,
            }
            assert!(memories.len() < 150_000);
        };
        assert_eq!(code, 2);
        for memory in memories.drain(..) {
            assert_eq!(call!(hip, hipFree(memory)), 0);
        }
        hip.works();
    });
    if let Some(text) = text {
        assert!(text.contains("vm.max_map_count"), "{text}");
    }
}

#[test]
fn the_host_is_not_protected() {
    // The host's own invalid access is not a kernel's fault, and ends the process as usual.
    let left = left_by("the_host_is_not_protected", GUARDED, |hip| {
        let mut memory = null_mut();
        ok!(hip, hipHostMalloc(&mut memory, 1024, 0));
        hip.works();
        // SAFETY: S2: deliberately violated; the process ends here.
        unsafe { memory.cast::<u8>().add(1024).write_volatile(1) };
    });
    if let Some(left) = left {
        assert_eq!(left.signal, Some(libc::SIGSEGV), "{}", left.text);
        assert!(!left.text.contains("kernel "), "{}", left.text);
    }
}
