//! Launches: both forms of arguments, every limit, dynamic shared memory, occupancy, what a function says of itself.

#[macro_use]
mod common;

use common::{Shape, hip, shape};
use hip_sys::hip::*;
use hip_sys::{HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_END};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

const VALUE: u32 = 1;
const HANDLE: u32 = 400;

#[test]
fn limits() {
    let hip = hip();
    let nothing = hip.function("test_threads", "nothing");
    let code =
        |grid, block, shared| hip.launch_code(nothing, Shape { grid, block, shared }, null_mut(), &mut []);
    assert_eq!(code([1, 1, 1], [1024, 1, 1], 65_536), 0);
    assert_eq!(code([1, 65_536, 1], [1, 1, 1], 0), 0);
    assert_eq!(code([1, 1, 1], [2, 8, 64], 0), 0);
    for zero in 0..3 {
        let mut grid = [1; 3];
        grid[zero] = 0;
        assert_eq!(code(grid, [1; 3], 0), VALUE);
        assert_eq!(code([1; 3], grid, 0), VALUE);
    }
    for (grid, block, shared) in [
        ([1, 1, 1], [1025, 1, 1], 0),
        ([1, 1, 1], [1, 1025, 1], 0),
        ([1, 1, 1], [32, 33, 1], 0),
        ([1, 1, 1], [u32::MAX, u32::MAX, u32::MAX], 0),
        ([1 << 31, 1, 1], [1, 1, 1], 0),
        ([1, 65_537, 1], [1, 1, 1], 0),
        ([1, 1, 65_537], [1, 1, 1], 0),
        ([1 << 22, 1, 1], [1024, 1, 1], 0),
        ([1, 1, 1], [1, 1, 1], 65_537),
    ] {
        assert_eq!(code(grid, block, shared), VALUE, "{grid:?} {block:?} {shared}");
    }
    assert_eq!(hip.launch_code(null_mut(), shape(1, 1), null_mut(), &mut []), HANDLE);
    assert_eq!(hip.launch_code(0x77 as hipFunction_t, shape(1, 1), null_mut(), &mut []), HANDLE);
    assert_eq!(hip.launch_code(nothing, shape(1, 1), 0x77 as hipStream_t, &mut []), HANDLE);
    hip.sync();
}

#[test]
fn packed_arguments() {
    #[repr(C)]
    struct Packed {
        place: *mut c_void,
        value: i32,
    }
    let hip = hip();
    let function = hip.function("test_plain", "write_one");
    let out = hip.zeros::<i32>(1);
    let mut packed = Packed { place: out.pointer, value: 77 };
    // The kernel's arguments are 12 bytes; the struct has four of padding behind them.
    let (mut size, mut small) = (size_of::<Packed>(), 11_usize);
    let (at, size_at, small_at) =
        ((&raw mut packed).cast(), (&raw mut size).cast(), (&raw mut small).cast::<c_void>());
    let (pointer, bytes, end) =
        (HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_END);
    let launch = |parameters: *mut *mut c_void, extra: &mut [*mut c_void]| {
        let extra = extra.as_mut_ptr();
        call!(hip, hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), parameters, extra))
    };
    assert_eq!(launch(null_mut(), &mut [pointer, at, bytes, size_at, end]), 0);
    assert_eq!(out.read(), [77]);
    packed.value = 78;
    assert_eq!(launch(null_mut(), &mut [bytes, size_at, pointer, at, end]), 0);
    assert_eq!(out.read(), [78]);
    // Too few bytes, no end, one thing twice, an unknown tag, no address; and both forms at once.
    assert_eq!(launch(null_mut(), &mut [pointer, at, bytes, small_at, end]), VALUE);
    assert_eq!(launch(null_mut(), &mut [pointer, at, bytes, size_at, null_mut()]), VALUE);
    assert_eq!(launch(null_mut(), &mut [pointer, at, pointer, at, end]), VALUE);
    assert_eq!(launch(null_mut(), &mut [9 as *mut c_void, at, bytes, size_at, end]), VALUE);
    assert_eq!(launch(null_mut(), &mut [end]), VALUE);
    assert_eq!(launch(null_mut(), &mut [pointer, null_mut(), bytes, size_at, end]), VALUE);
    let mut list = [(&raw mut packed.place).cast::<c_void>(), (&raw mut packed.value).cast()];
    assert_eq!(launch(list.as_mut_ptr(), &mut [pointer, at, bytes, size_at, end]), VALUE);
    // Arguments are wanted, and there are none.
    let none = null_mut();
    assert_eq!(
        call!(hip, hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, none, null_mut(), null_mut())),
        VALUE
    );
    list[1] = null_mut();
    assert_eq!(hip.launch_code(function, shape(1, 1), null_mut(), &mut list), VALUE);
    hip.sync();
    assert_eq!(out.read(), [78]);
}

#[test]
fn arguments_are_read_before_the_launch_returns() {
    let hip = hip();
    let out = hip.zeros::<i32>(100);
    let (function, stream) = (hip.function("test_plain", "write_one"), hip.stream(hipStreamNonBlocking));
    for index in 0..100 {
        let (mut place, mut value) = (out.pointer.wrapping_byte_add(4 * index), index as i32);
        hip.launch(function, shape(1, 1), stream, arguments![place, value]);
        (place, value) = (null_mut(), -1);
        std::hint::black_box((place, value));
    }
    ok!(hip, hipStreamSynchronize(stream));
    assert!(out.read().into_iter().eq(0..100));
}

#[test]
fn a_function_belongs_to_its_device() {
    let hip = hip();
    let function = hip.function("test_threads", "nothing");
    ok!(hip, hipSetDevice(1));
    assert_eq!(hip.launch_code(function, shape(1, 1), null_mut(), &mut []), HANDLE);
    let function = hip.function("test_threads", "nothing");
    assert_eq!(hip.launch_code(function, shape(1, 1), null_mut(), &mut []), 0);
    hip.sync();
}

#[test]
fn offsets_and_sizes_of_arguments() {
    let hip = hip();
    let info = hip_host::platform().ext().func_param_info.expect("hip-host has it");
    let function = hip.function("test_plain", "mixed_arguments");
    let mut read = Vec::new();
    for index in 0.. {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: S1: a live function and live places.
        let status = unsafe { info(function, index, &mut offset, &mut size) };
        if status == hipError_t::hipErrorInvalidValue {
            break;
        }
        assert_eq!(status, hipError_t::hipSuccess);
        read.push((offset, size));
    }
    // char, double, short, {double[3], char}, float, double*, unsigned char.
    assert_eq!(read, [(0, 1), (8, 8), (16, 2), (24, 32), (56, 4), (64, 8), (72, 1)]);
    // SAFETY: S11: a null handle is refused.
    assert_eq!(unsafe { info(null_mut(), 0, &mut 0, &mut 0) }, hipError_t::hipErrorInvalidHandle);
    assert_eq!(call!(hip, hipGetLastError()), 0);
}

#[test]
fn attributes_and_occupancy() {
    let hip = hip();
    let function = hip.function("test_threads", "block_reduce");
    let (mut value, mut blocks, mut grid, mut block) = (0, 0, 0, 0);
    let most = hipFunction_attribute::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    ok!(hip, hipFuncGetAttribute(&mut value, most, function));
    assert_eq!(value, 1024);
    assert_eq!(call!(hip, hipFuncGetAttribute(&mut value, most, null_mut())), HANDLE);
    assert_eq!(call!(hip, hipFuncGetAttribute(null_mut(), most, function)), VALUE);
    assert_eq!(call!(hip, hipFuncGetAttribute(&mut value, hipFunction_attribute(10), function)), VALUE);
    let shared = hipFuncAttribute::hipFuncAttributeMaxDynamicSharedMemorySize;
    ok!(hip, hipFuncSetAttribute(function.cast(), shared, 65_536));
    assert_eq!(call!(hip, hipFuncSetAttribute(function.cast(), shared, 65_537)), VALUE);
    assert_eq!(call!(hip, hipFuncSetAttribute(null(), shared, 1)), 98);
    for (size, bytes, expected) in [(256, 0, 8), (1024, 0, 2), (32, 0, 32), (256, 32_768, 2), (64, 65_536, 1)]
    {
        ok!(hip, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, size, bytes));
        assert_eq!(blocks, expected, "{size} {bytes}");
    }
    let f = function;
    assert_eq!(call!(hip, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, f, 0, 0)), VALUE);
    assert_eq!(
        call!(hip, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, f, 1025, 0)),
        VALUE
    );
    assert_eq!(call!(hip, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(null_mut(), f, 64, 0)), VALUE);
    ok!(hip, hipModuleOccupancyMaxPotentialBlockSize(&mut grid, &mut block, f, 0, 256));
    assert!(block == 256 && grid >= 8 && grid % 8 == 0, "{grid} {block}");
    ok!(hip, hipModuleOccupancyMaxPotentialBlockSize(&mut grid, &mut block, f, 0, 0));
    assert_eq!(block, 1024);
    assert_eq!(call!(hip, hipModuleOccupancyMaxPotentialBlockSize(null_mut(), &mut block, f, 0, 0)), VALUE);
}
