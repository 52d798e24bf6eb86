//! Device properties in both layouts, and the attributes derived from them.
#![allow(non_snake_case, reason = "HIP's names")]

use super::devices::{BUS, uuid};
use super::give;
use crate::context::status;
use crate::device::{self, Device};
use crate::run::{self, MAX_BLOCK, MAX_SHARED};
use hip_sys::hip::{hipDeviceAttribute_t, hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipError_t};
use hip_sys::provider::{common_arch, device_attribute, legacy_properties};
use std::ffi::{c_char, c_int};

/// Blocks and threads that one multiprocessor holds.
pub(super) const BLOCKS_PER_PROCESSOR: c_int = 32;
pub(super) const THREADS_PER_PROCESSOR: c_int = run::THREADS_PER_PROCESSOR as c_int;
/// Largest grid, in blocks.
pub(super) const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65_536, 65_536];

fn text<const N: usize>(text: &str) -> [c_char; N] {
    let mut out = [0; N];
    // The last byte stays zero.
    for (slot, byte) in out[..N - 1].iter_mut().zip(text.bytes()) {
        *slot = byte as c_char;
    }
    out
}

/// Number of "multiprocessors". All their threads must fit onto stacks at once, because a cooperative launch
/// may fill every multiprocessor.
pub(super) fn processors() -> c_int {
    run::threads().min(run::most_stacks() / run::THREADS_PER_PROCESSOR).max(1) as c_int
}

/// All properties of a device. One "multiprocessor" is one OS thread that runs blocks.
fn properties(device: &Device) -> hipDeviceProp_tR0600 {
    hipDeviceProp_tR0600 {
        name: text(&format!("hip-host (wave {})", device.wave)),
        uuid: uuid(device.ordinal),
        totalGlobalMem: device.memory.total as usize,
        sharedMemPerBlock: MAX_SHARED as usize,
        regsPerBlock: 65_536,
        warpSize: device.wave as c_int,
        memPitch: i32::MAX as usize,
        maxThreadsPerBlock: MAX_BLOCK as c_int,
        maxThreadsDim: [MAX_BLOCK as c_int; 3],
        maxGridSize: MAX_GRID.map(|n| n as c_int),
        clockRate: 1_000_000,
        totalConstMem: i32::MAX as usize,
        major: 1,
        minor: 0,
        textureAlignment: 256,
        texturePitchAlignment: 256,
        deviceOverlap: 1,
        multiProcessorCount: processors(),
        integrated: 1,
        canMapHostMemory: 1,
        concurrentKernels: 1,
        cooperativeLaunch: 1,
        pciBusID: (BUS + device.ordinal) as c_int,
        asyncEngineCount: 2,
        unifiedAddressing: 1,
        memoryClockRate: 1_000_000,
        memoryBusWidth: 64,
        maxThreadsPerMultiProcessor: THREADS_PER_PROCESSOR,
        streamPrioritiesSupported: 1,
        sharedMemPerMultiprocessor: MAX_SHARED as usize,
        regsPerMultiprocessor: 65_536,
        managedMemory: 1,
        hostNativeAtomicSupported: 1,
        singleToDoublePrecisionPerfRatio: 2,
        concurrentManagedAccess: 1,
        canUseHostPointerForRegisteredMem: 1,
        sharedMemPerBlockOptin: MAX_SHARED as usize,
        directManagedMemAccessFromHost: 1,
        maxBlocksPerMultiProcessor: BLOCKS_PER_PROCESSOR,
        hostRegisterSupported: 1,
        memoryPoolsSupported: 1,
        gcnArchName: text(&format!("host-w{}", device.wave)),
        maxSharedMemoryPerMultiProcessor: MAX_SHARED as usize,
        clockInstructionRate: 1_000_000,
        arch: common_arch(),
        isLargeBar: 1,
        ..Default::default()
    }
}

pub(super) unsafe extern "C" fn hipGetDevicePropertiesR0600(
    out: *mut hipDeviceProp_tR0600,
    device: c_int,
) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(device::get(device).and_then(|device| unsafe { give(out, properties(device)) }))
}

pub(super) unsafe extern "C" fn hipGetDevicePropertiesR0000(
    out: *mut hipDeviceProp_tR0000,
    device: c_int,
) -> hipError_t {
    status(device::get(device).and_then(|device| {
        let old = legacy_properties(&properties(device));
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, old) }
    }))
}

pub(super) unsafe extern "C" fn hipDeviceGetAttribute(
    out: *mut c_int,
    attribute: hipDeviceAttribute_t,
    device: c_int,
) -> hipError_t {
    let value = device::get(device).and_then(|device| {
        device_attribute(&properties(device), attribute).ok_or(hipError_t::hipErrorInvalidValue)
    });
    // SAFETY: S11: the caller's output pointer.
    status(value.and_then(|value| unsafe { give(out, value) }))
}
