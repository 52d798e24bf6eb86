//! Two devices, of which each thread has one current.
#![allow(non_snake_case, reason = "HIP's names")]

use super::{SUCCESS, set};
use hip_sys::hip::*;
use hip_sys::{HipTable, Optional, provider};
use std::cell::Cell;
use std::ffi::{c_char, c_int};

thread_local! {
    static CURRENT: Cell<c_int> = const { Cell::new(0) };
}

pub(super) fn fill(table: &mut HipTable) {
    set!(table, hipGetDeviceCount, hipGetDevice, hipSetDevice, hipGetErrorName, hipMemGetInfo);
    table.hipGetDevicePropertiesR0600 =
        Optional::present(hipGetDevicePropertiesR0600, "hipGetDevicePropertiesR0600", "6.0");
}

unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> hipError_t {
    // SAFETY: S11: the caller's out-pointer.
    unsafe { count.write(2) };
    SUCCESS
}

unsafe extern "C" fn hipGetDevice(device: *mut c_int) -> hipError_t {
    // SAFETY: S11: the caller's out-pointer.
    unsafe { device.write(CURRENT.get()) };
    SUCCESS
}

unsafe extern "C" fn hipSetDevice(device: c_int) -> hipError_t {
    CURRENT.set(device);
    SUCCESS
}

unsafe extern "C" fn hipGetErrorName(code: hipError_t) -> *const c_char {
    provider::error_name(code).as_ptr()
}

unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t {
    // SAFETY: S11: the caller's out-pointers.
    unsafe {
        free.write(1 << 30);
        total.write(1 << 30);
    }
    SUCCESS
}

unsafe extern "C" fn hipGetDevicePropertiesR0600(
    out: *mut hipDeviceProp_tR0600,
    _ordinal: c_int,
) -> hipError_t {
    let mut properties = hipDeviceProp_tR0600 {
        totalGlobalMem: 1 << 30,
        sharedMemPerBlock: 1 << 16,
        warpSize: 32,
        maxThreadsPerBlock: 1024,
        maxThreadsDim: [1024; 3],
        maxGridSize: [1 << 20; 3],
        ..hipDeviceProp_tR0600::default()
    };
    for (to, from) in properties.gcnArchName.iter_mut().zip(b"toy") {
        *to = *from as c_char;
    }
    // SAFETY: S11: the caller's out-pointer.
    unsafe { out.write(properties) };
    SUCCESS
}
