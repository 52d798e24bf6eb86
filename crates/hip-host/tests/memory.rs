//! Memory: every direction of copy, ranges, host memory, managed memory, pools, running out.

#[macro_use]
mod common;

use common::{Hip, hip};
use hip_sys::hip::*;
use std::ffi::c_void;
use std::ptr::null_mut;

const VALUE: u32 = 1;
const H2H: hipMemcpyKind = hipMemcpyKind::hipMemcpyHostToHost;
const H2D: hipMemcpyKind = hipMemcpyKind::hipMemcpyHostToDevice;
const D2H: hipMemcpyKind = hipMemcpyKind::hipMemcpyDeviceToHost;
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
fn copies_in_every_direction() {
    let hip = hip();
    let (mut from, mut to) = ([1_i32, 2, 3, 4], [0_i32; 4]);
    let (a, b) = (hip.zeros::<i32>(4), hip.zeros::<i32>(4));
    for default in [false, true] {
        let kind = |kind| if default { ANY } else { kind };
        from.iter_mut().for_each(|v| *v += 10);
        ok!(hip, hipMemcpy(a.pointer, address(&mut from), 16, kind(H2D)));
        ok!(hip, hipMemcpy(b.pointer, a.pointer, 16, kind(D2D)));
        ok!(hip, hipMemcpy(address(&mut to), b.pointer, 16, kind(D2H)));
        assert_eq!(to, from);
        let mut third = [0_i32; 4];
        ok!(hip, hipMemcpy(address(&mut third), address(&mut to), 16, kind(H2H)));
        assert_eq!(third, from);
    }
    // Part of a range, from the middle, with every asynchronous form.
    let stream = hip.stream(hipStreamNonBlocking);
    let at = |buffer: &common::Buffer<'_, i32>, index: usize| buffer.pointer.wrapping_byte_add(4 * index);
    ok!(hip, hipMemcpyHtoDAsync(at(&a, 1), address(&mut [7_i32, 8]), 8, stream));
    ok!(hip, hipMemcpyDtoDAsync(at(&b, 2), at(&a, 1), 8, stream));
    ok!(hip, hipMemcpyDtoHAsync(address(&mut to), at(&b, 1), 12, stream));
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!(to[..3], [22, 7, 8]);
    ok!(hip, hipMemcpyWithStream(address(&mut to), a.pointer, 16, D2H, stream));
    assert_eq!(to, [21, 7, 8, 24]);
}

#[test]
fn copies_that_do_not_fit_are_refused() {
    let hip = hip();
    let (device, mut host) = (hip.zeros::<u8>(16), [0_u8; 64]);
    let host = address(&mut host);
    assert_eq!(call!(hip, hipMemcpy(device.pointer, host, 17, H2D)), VALUE);
    assert_eq!(call!(hip, hipMemcpy(device.pointer.wrapping_byte_add(8), host, 9, H2D)), VALUE);
    assert_eq!(call!(hip, hipMemcpy(host, device.pointer.wrapping_byte_add(15), 2, D2H)), VALUE);
    ok!(hip, hipMemcpy(device.pointer.wrapping_byte_add(8), host, 8, H2D));
    assert_eq!(call!(hip, hipMemset(device.pointer.wrapping_byte_add(1), 0, 16)), VALUE);
    // The direction is held against what the pointers are.
    assert_eq!(call!(hip, hipMemcpy(host, host.wrapping_byte_add(8), 8, D2D)), VALUE);
    assert_eq!(call!(hip, hipMemcpy(host, host.wrapping_byte_add(8), 8, H2D)), VALUE);
    assert_eq!(call!(hip, hipMemcpy(device.pointer, device.pointer, 8, H2D)), VALUE);
    // Nothing to copy is nothing to check.
    ok!(hip, hipMemcpy(null_mut(), null_mut(), 0, ANY));
}

#[test]
fn large_pageable_copies() {
    let hip = hip();
    let values: Vec<i32> = (0..6_000_000).collect();
    let device = hip.zeros::<i32>(values.len());
    let (stream, bytes) = (hip.stream(hipStreamNonBlocking), size_of_val(values.as_slice()));
    ok!(hip, hipMemcpyAsync(device.pointer, values.as_ptr().cast(), bytes, H2D, stream));
    ok!(hip, hipStreamSynchronize(stream));
    assert!(device.read() == values);
}

#[test]
fn rows_with_a_pitch() {
    let hip = hip();
    let device = hip.buffer(&[0_u8; 40]);
    let mut host: Vec<u8> = (0..30).collect();
    let stream = hip.stream(hipStreamNonBlocking);
    let (to, from) = (device.pointer, address(&mut host));
    // Three rows of 4 bytes: 10 apart here, 16 apart there.
    ok!(hip, hipMemcpy2DAsync(to, 16, from, 10, 4, 3, H2D, stream));
    ok!(hip, hipStreamSynchronize(stream));
    let mut expected = [0_u8; 40];
    for row in 0..3 {
        for column in 0..4 {
            expected[16 * row + column] = (10 * row + column) as u8;
        }
    }
    assert_eq!(device.read(), expected);
    // The last row need not fill its pitch, but a fourth does not fit.
    assert_eq!(call!(hip, hipMemcpy2DAsync(to, 16, from, 4, 4, 4, H2D, stream)), VALUE);
    assert_eq!(call!(hip, hipMemcpy2DAsync(to, 3, from, 10, 4, 3, H2D, stream)), 12);
    assert_eq!(call!(hip, hipMemcpy2DAsync(to, usize::MAX / 2, from, 10, 4, 3, H2D, stream)), VALUE);
    ok!(hip, hipMemcpy2DAsync(null_mut(), 0, null_mut(), 0, 0, 3, H2D, stream));
}

#[test]
fn fills_of_three_widths() {
    let hip = hip();
    let (device, stream) = (hip.zeros::<u8>(12), hip.stream(hipStreamDefault));
    ok!(hip, hipMemset(device.pointer, 0x1ff, 12));
    assert_eq!(device.read(), [0xff; 12]);
    let at = |offset| device.pointer.wrapping_byte_add(offset);
    ok!(hip, hipMemsetD8Async(at(1), 3, 2, stream));
    ok!(hip, hipMemsetD16Async(at(4), 0x0102, 2, stream));
    ok!(hip, hipMemsetD32Async(at(8), 0x0403_0201, 1, stream));
    ok!(hip, hipMemsetAsync(at(0), 9, 1, stream));
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!(device.read(), [9, 3, 3, 0xff, 2, 1, 2, 1, 1, 2, 3, 4]);
    assert_eq!(call!(hip, hipMemsetD32Async(at(2), 0, 1, stream)), VALUE);
    ok!(hip, hipMemsetAsync(null_mut(), 0, 0, stream));
}

#[test]
fn peers() {
    let hip = hip();
    let here = hip.buffer(&[5_i32, 6]);
    ok!(hip, hipSetDevice(1));
    let there = hip.zeros::<i32>(2);
    let (stream, mut can) = (hip.stream(hipStreamNonBlocking), -1);
    ok!(hip, hipMemcpyPeerAsync(there.pointer, 1, here.pointer, 0, 8, stream));
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!(there.read(), [5, 6]);
    assert_eq!(call!(hip, hipMemcpyPeerAsync(there.pointer, 2, here.pointer, 0, 8, stream)), 101);
    ok!(hip, hipDeviceCanAccessPeer(&mut can, 0, 1));
    assert_eq!(can, 1);
    ok!(hip, hipDeviceCanAccessPeer(&mut can, 1, 1));
    assert_eq!(can, 0);
    assert_eq!(call!(hip, hipDeviceEnablePeerAccess(0, 1)), VALUE);
    assert_eq!(call!(hip, hipDeviceEnablePeerAccess(1, 0)), 101);
    assert_eq!(call!(hip, hipDeviceDisablePeerAccess(0)), 705);
    ok!(hip, hipDeviceEnablePeerAccess(0, 0));
    assert_eq!(call!(hip, hipDeviceEnablePeerAccess(0, 0)), 704);
    ok!(hip, hipDeviceDisablePeerAccess(0));
    let attribute = hipDeviceP2PAttr::hipDevP2PAttrAccessSupported;
    ok!(hip, hipDeviceGetP2PAttribute(&mut can, attribute, 0, 1));
    assert_eq!(can, 1);
    assert_eq!(attributes(&hip, there.pointer).device, 1);
    assert_eq!(attributes(&hip, here.pointer).device, 0);
}

#[test]
fn what_a_pointer_is() {
    let hip = hip();
    let device = hip.zeros::<i32>(100);
    let inside = device.pointer.wrapping_byte_add(399);
    let found = attributes(&hip, inside);
    assert_eq!((found.type_, found.devicePointer), (hipMemoryType::hipMemoryTypeDevice, inside));
    assert!(found.hostPointer.is_null());
    assert_eq!(attributes(&hip, inside.wrapping_byte_add(1)).type_, hipMemoryType::hipMemoryTypeUnregistered);
    let (mut base, mut size) = (null_mut(), 0);
    ok!(hip, hipMemGetAddressRange(&mut base, &mut size, inside));
    assert_eq!((base, size), (device.pointer, 400));
    assert_eq!(call!(hip, hipMemGetAddressRange(&mut base, &mut size, inside.wrapping_byte_add(1))), 500);
}

#[test]
fn managed_memory_is_everywhere() {
    let hip = hip();
    let mut pointer = null_mut();
    ok!(hip, hipMallocManaged(&mut pointer, 16, hipMemAttachGlobal));
    let found = attributes(&hip, pointer);
    assert_eq!((found.type_, found.isManaged), (hipMemoryType::hipMemoryTypeManaged, 1));
    assert_eq!((found.hostPointer, found.devicePointer), (pointer, pointer));
    ok!(hip, hipMemset(pointer, 1, 16));
    // SAFETY: S2: managed memory of 16 bytes; hipMemset has waited.
    assert_eq!(unsafe { pointer.cast::<[u8; 16]>().read() }, [1; 16]);
    ok!(hip, hipMemPrefetchAsync(pointer, 16, 1, null_mut()));
    ok!(hip, hipMemPrefetchAsync(pointer, 16, -1, null_mut()));
    assert_eq!(call!(hip, hipMemPrefetchAsync(pointer, 17, 0, null_mut())), VALUE);
    assert_eq!(call!(hip, hipMemPrefetchAsync(pointer, 16, 2, null_mut())), 101);
    ok!(hip, hipMemAdvise(pointer, 16, hipMemoryAdvise::hipMemAdviseSetReadMostly, 0));
    assert_eq!(call!(hip, hipMemAdvise(pointer, 16, hipMemoryAdvise(7), 0)), VALUE);
    ok!(hip, hipFree(pointer));
    assert_eq!(call!(hip, hipMallocManaged(&mut pointer, 0, 1)), VALUE);
    assert_eq!(call!(hip, hipMallocManaged(&mut pointer, 8, 9)), VALUE);
}

#[test]
fn host_memory() {
    let hip = hip();
    let (mut pointer, mut device) = (null_mut(), null_mut());
    ok!(hip, hipHostMalloc(&mut pointer, 32, hipHostMallocMapped));
    assert_eq!(attributes(&hip, pointer).type_, hipMemoryType::hipMemoryTypeHost);
    ok!(hip, hipHostGetDevicePointer(&mut device, pointer.wrapping_byte_add(4), 0));
    assert_eq!(device, pointer.wrapping_byte_add(4));
    assert_eq!(call!(hip, hipHostGetDevicePointer(&mut device, pointer, 1)), VALUE);
    // Host memory is not hipFree's.
    assert_eq!(call!(hip, hipFree(pointer)), VALUE);
    ok!(hip, hipHostFree(pointer));
    assert_eq!(call!(hip, hipHostFree(pointer)), VALUE);
    ok!(hip, hipHostFree(null_mut()));
    let both = hipHostMallocCoherent | hipHostMallocNonCoherent;
    assert_eq!(call!(hip, hipHostMalloc(&mut pointer, 32, both)), VALUE);
    assert_eq!(call!(hip, hipHostMalloc(&mut pointer, 32, 0x100)), VALUE);

    let mut own = vec![3_u8; 100];
    let own_at = address(&mut own);
    assert_eq!(call!(hip, hipHostGetDevicePointer(&mut device, own_at, 0)), VALUE);
    ok!(hip, hipHostRegister(own_at, 50, 0));
    assert_eq!(call!(hip, hipHostRegister(own_at, 50, 0)), 712);
    assert_eq!(call!(hip, hipHostRegister(own_at.wrapping_byte_add(49), 10, 0)), 712);
    ok!(hip, hipHostGetDevicePointer(&mut device, own_at, 0));
    assert_eq!(device, own_at);
    assert_eq!(attributes(&hip, own_at.wrapping_byte_add(49)).type_, hipMemoryType::hipMemoryTypeHost);
    ok!(hip, hipMemset(own_at, 4, 50));
    assert_eq!((own[49], own[50]), (4, 3));
    assert_eq!(call!(hip, hipHostUnregister(own_at.wrapping_byte_add(1))), 713);
    ok!(hip, hipHostUnregister(own_at));
    assert_eq!(call!(hip, hipHostUnregister(own_at)), 713);
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
        // Each takes more than half of the memory: the next has to wait for the free before it.
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
fn pools() {
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
    let mut value = 0_u64;
    let mut get = |attribute| {
        ok!(hip, hipMemPoolGetAttribute(pool, attribute, (&raw mut value).cast()));
        value
    };
    assert_eq!(get(hipMemPoolAttr::hipMemPoolAttrUsedMemCurrent), 400);
    assert_eq!(get(hipMemPoolAttr::hipMemPoolAttrUsedMemHigh), 1000);
    let mut threshold = 12_345_u64;
    let attribute = hipMemPoolAttr::hipMemPoolAttrReleaseThreshold;
    ok!(hip, hipMemPoolSetAttribute(pool, attribute, (&raw mut threshold).cast()));
    assert_eq!(get(attribute), 12_345);
    ok!(hip, hipMemPoolTrimTo(pool, 0));
    ok!(hip, hipDeviceSetMemPool(0, pool));
    assert_eq!(call!(hip, hipDeviceSetMemPool(1, pool)), VALUE);
    ok!(hip, hipMallocAsync(&mut a, 600, stream));
    assert_eq!(get(hipMemPoolAttr::hipMemPoolAttrUsedMemCurrent), 1000);
    ok!(hip, hipMemPoolDestroy(pool));
    assert_eq!(call!(hip, hipMemPoolDestroy(pool)), VALUE);
    // What came from the pool lives on; the device is back to its own pool, which has no limit.
    ok!(hip, hipMemset(b, 0, 400));
    let mut c = null_mut();
    ok!(hip, hipMallocAsync(&mut c, 5000, stream));
    for pointer in [a, b, c] {
        ok!(hip, hipFree(pointer));
    }
    let mut default = null_mut();
    ok!(hip, hipDeviceGetDefaultMemPool(&mut default, 0));
    assert_eq!(call!(hip, hipMemPoolDestroy(default)), VALUE);
}

#[test]
fn a_reset_frees_the_devices_memory() {
    let hip = hip();
    ok!(hip, hipSetDevice(1));
    let (before, mut pointer) = (free_memory(&hip).0, null_mut());
    ok!(hip, hipMalloc(&mut pointer, 5000));
    assert_eq!(call!(hip, hipDeviceReset()), 0);
    assert_eq!(free_memory(&hip).0, before);
    assert_eq!(call!(hip, hipFree(pointer)), VALUE);
}
