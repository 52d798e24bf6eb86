//! Launches, where this platform checks more than a driver does, and queries of functions.

#[macro_use]
mod common;

use common::{hip, shape};
use hip_sys::hip::*;
use hip_sys::{HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_END};
use std::ffi::c_void;
use std::ptr::null_mut;

const VALUE: u32 = 1;
const HANDLE: u32 = 400;

#[test]
fn unknown_handles() {
    let hip = hip();
    let nothing = hip.function("test_threads", "nothing");
    assert_eq!(hip.launch_code(0x77 as hipFunction_t, shape(1, 1), null_mut(), &mut []), HANDLE);
    assert_eq!(hip.launch_code(nothing, shape(1, 1), 0x77 as hipStream_t, &mut []), HANDLE);
}

#[test]
fn missing_arguments() {
    #[repr(C)]
    struct Packed {
        pointer: *mut c_void,
        value: i32,
    }
    let hip = hip();
    let function = hip.function("test_plain", "write_one");
    let out = hip.zeros::<i32>(1);
    let mut packed = Packed { pointer: out.pointer, value: 77 };
    // The kernel's arguments take 12 bytes; the struct has four bytes of padding after them.
    let (mut size, mut small) = (size_of::<Packed>(), 11_usize);
    let (at, size_at, small_at) =
        ((&raw mut packed).cast(), (&raw mut size).cast(), (&raw mut small).cast::<c_void>());
    let (pointer, bytes, end) =
        (HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_END);
    let launch = |extra: &mut [*mut c_void]| {
        let (extra, list) = (extra.as_mut_ptr(), null_mut());
        call!(hip, hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), list, extra))
    };
    // Too few bytes, one entry twice, an empty list, a null address.
    assert_eq!(launch(&mut [pointer, at, bytes, small_at, end]), VALUE);
    assert_eq!(launch(&mut [pointer, at, pointer, at, end]), VALUE);
    assert_eq!(launch(&mut [end]), VALUE);
    assert_eq!(launch(&mut [pointer, null_mut(), bytes, size_at, end]), VALUE);
    // The kernel has arguments, but none are passed; then one of them is missing.
    let none = null_mut();
    assert_eq!(
        call!(hip, hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, none, null_mut(), null_mut())),
        VALUE
    );
    let mut list = [(&raw mut packed.pointer).cast::<c_void>(), null_mut()];
    assert_eq!(hip.launch_code(function, shape(1, 1), null_mut(), &mut list), VALUE);
    hip.sync();
    assert_eq!((out.read(), packed.value), (vec![0], 77));
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
        // SAFETY: S1: a live function and live output pointers.
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
fn occupancy_by_the_numbers_of_the_properties() {
    let hip = hip();
    let (function, mut blocks) = (hip.function("test_threads", "block_reduce"), 0);
    for (size, bytes, expected) in [(256, 0, 8), (1024, 0, 2), (32, 0, 32), (256, 32_768, 2), (64, 65_536, 1)]
    {
        ok!(hip, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, size, bytes));
        assert_eq!(blocks, expected, "{size} {bytes}");
    }
    let (mut grid, mut block) = (0, 0);
    ok!(hip, hipModuleOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, 0, 256));
    assert!(block == 256 && grid >= 8 && grid % 8 == 0, "{grid} {block}");
}
