//! Memory, where this platform guarantees more than others: exact budgets, and checks that go further than a
//! driver's.

#[macro_use]
mod common;

use common::gate::{gate, pinned, read_host, soon};
use common::{Hip, hip};
use hip_sys::hip::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

const VALUE: u32 = 1;
const H2D: hipMemcpyKind = hipMemcpyKind::hipMemcpyHostToDevice;
const D2D: hipMemcpyKind = hipMemcpyKind::hipMemcpyDeviceToDevice;
const ANY: hipMemcpyKind = hipMemcpyKind::hipMemcpyDefault;

fn address<T>(values: &mut [T]) -> *mut c_void {
    values.as_mut_ptr().cast()
}

fn attributes(hip: &Hip, pointer: *const c_void) -> hipPointerAttribute_t {
    let mut attributes = hipPointerAttribute_t::default();
    ok!(hip, hipPointerGetAttributes(&mut attributes, pointer));
    attributes
}

fn free_memory(hip: &Hip) -> (usize, usize) {
    let (mut free, mut total) = (0, 0);
    ok!(hip, hipMemGetInfo(&mut free, &mut total));
    (free, total)
}

#[test]
fn copies_against_their_direction_are_refused() {
    let hip = hip();
    let (device, mut host) = (hip.zeros::<u8>(16), [0_u8; 64]);
    let host = address(&mut host);
    assert_eq!(call!(hip, hipMemcpy(host, host.wrapping_byte_add(8), 8, D2D)), VALUE);
    assert_eq!(call!(hip, hipMemcpy(host, host.wrapping_byte_add(8), 8, H2D)), VALUE);
    assert_eq!(call!(hip, hipMemcpy(device.pointer, device.pointer, 8, H2D)), VALUE);
    assert_eq!(call!(hip, hipMemcpy(device.pointer, host, 4, hipMemcpyKind(5))), 21);
    // With size 0 nothing is checked.
    ok!(hip, hipMemcpy(null_mut(), null_mut(), 0, ANY));
    // A fill of words must start at an aligned address.
    assert_eq!(call!(hip, hipMemsetD32Async(device.pointer.wrapping_byte_add(2), 0, 1, null_mut())), VALUE);
}

#[test]
fn host_memory_is_known_to_the_byte() {
    let hip = hip();
    let (mut pointer, mut device) = (null_mut(), null_mut());
    ok!(hip, hipHostMalloc(&mut pointer, 32, hipHostMallocMapped));
    ok!(hip, hipHostGetDevicePointer(&mut device, pointer.wrapping_byte_add(4), 0));
    assert_eq!(device, pointer.wrapping_byte_add(4));
    // hipFree refuses host memory.
    assert_eq!(call!(hip, hipFree(pointer)), VALUE);
    ok!(hip, hipHostFree(pointer));

    let mut own = vec![3_u8; 100];
    let own_at = address(&mut own);
    ok!(hip, hipHostRegister(own_at, 50, 0));
    assert_eq!(call!(hip, hipHostRegister(own_at.wrapping_byte_add(49), 10, 0)), 712);
    ok!(hip, hipHostGetDevicePointer(&mut device, own_at, 0));
    assert_eq!(device, own_at);
    let kind = |offset| attributes(&hip, own_at.wrapping_byte_add(offset)).type_;
    assert_eq!(kind(49), hipMemoryType::hipMemoryTypeHost);
    assert_eq!(kind(50), hipMemoryType::hipMemoryTypeUnregistered);
    ok!(hip, hipHostUnregister(own_at));
}

#[test]
fn memory_runs_out_and_comes_back() {
    let hip = hip();
    let (free, total) = free_memory(&hip);
    assert!(free <= total && total >= 1 << 20);
    let (mut large, mut more) = (null_mut(), null_mut());
    ok!(hip, hipMalloc(&mut large, free - 1000));
    assert_eq!(free_memory(&hip).0, 1000);
    assert_eq!(call!(hip, hipMalloc(&mut more, 1001)), 2);
    assert_eq!(call!(hip, hipMallocAsync(&mut more, 1001, null_mut())), 2);
    assert!(more.is_null());
    ok!(hip, hipMalloc(&mut more, 1000));
    assert_eq!(free_memory(&hip).0, 0);
    // The other device has its own.
    ok!(hip, hipSetDevice(1));
    assert!(free_memory(&hip).0 > 1 << 20);
    ok!(hip, hipFree(large));
    ok!(hip, hipFree(more));
    ok!(hip, hipSetDevice(0));
    assert_eq!(free_memory(&hip).0, free);
}

#[test]
fn a_free_in_stream_order() {
    let hip = hip();
    let (stream, free) = (hip.stream(hipStreamNonBlocking), free_memory(&hip).0);
    for _ in 0..8 {
        // Each takes more than half of the memory, so the next has to wait for the previous free.
        let mut pointer = null_mut();
        ok!(hip, hipMallocAsync(&mut pointer, free / 2 + 4096, stream));
        ok!(hip, hipMemsetAsync(pointer, 1, 64, stream));
        ok!(hip, hipFreeAsync(pointer, stream));
        assert_eq!(call!(hip, hipFreeAsync(pointer, stream)), VALUE);
        assert_eq!(call!(hip, hipMemsetAsync(pointer, 1, 64, stream)), VALUE);
    }
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!(free_memory(&hip).0, free);
}

#[test]
fn a_free_waits_for_copies_in_streams_of_the_other_device() {
    let hip = hip();
    let (stream, word, gate) = (hip.stream(hipStreamNonBlocking), pinned(&hip), gate());
    ok!(hip, hipSetDevice(1));
    let mut memory = null_mut();
    ok!(hip, hipMalloc(&mut memory, 4));
    ok!(hip, hipSetDevice(0));
    gate.hold(&hip, stream);
    ok!(hip, hipMemsetAsync(memory, 6, 4, stream));
    ok!(hip, hipMemcpyAsync(word, memory, 4, hipMemcpyKind::hipMemcpyDeviceToHost, stream));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(soon(|| gate.reached.load(Ordering::SeqCst) == 1));
            gate.release();
        });
        ok!(hip, hipFree(memory));
        assert_eq!(read_host(word), 0x0606_0606);
    });
    ok!(hip, hipHostFree(word));
}

#[test]
fn a_pool_with_a_limit() {
    let hip = hip();
    let mut properties = hipMemPoolProps { maxSize: 1000, ..Default::default() };
    let mut pool = null_mut();
    assert_eq!(call!(hip, hipMemPoolCreate(&mut pool, &properties)), VALUE);
    properties.allocType = hipMemAllocationType::hipMemAllocationTypePinned;
    properties.location = hipMemLocation { type_: hipMemLocationType::hipMemLocationTypeDevice, id: 0 };
    ok!(hip, hipMemPoolCreate(&mut pool, &properties));
    let (mut a, mut b, stream) = (null_mut(), null_mut(), hip.stream(hipStreamNonBlocking));
    ok!(hip, hipMallocFromPoolAsync(&mut a, 600, pool, stream));
    assert_eq!(call!(hip, hipMallocFromPoolAsync(&mut b, 401, pool, stream)), 2);
    ok!(hip, hipMallocFromPoolAsync(&mut b, 400, pool, stream));
    ok!(hip, hipFreeAsync(a, stream));
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!(call!(hip, hipDeviceSetMemPool(1, pool)), VALUE);
    ok!(hip, hipDeviceSetMemPool(0, pool));
    ok!(hip, hipMallocAsync(&mut a, 600, stream));
    ok!(hip, hipMemPoolDestroy(pool));
    assert_eq!(call!(hip, hipMemPoolDestroy(pool)), VALUE);
    // The device is back to its default pool, which has no limit.
    let mut c = null_mut();
    ok!(hip, hipMallocAsync(&mut c, 5000, stream));
    for pointer in [a, b, c] {
        ok!(hip, hipFree(pointer));
    }
}
