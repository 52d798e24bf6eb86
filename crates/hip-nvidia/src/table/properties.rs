//! Device properties in both layouts, and the attributes derived from them.
#![allow(non_snake_case, reason = "HIP's names")]

use super::{check_not_null, give};
use crate::context::{self, Device, Outcome, check, driver, status};
use cudarc::driver::sys::CUdevice_attribute_enum as A;
use hip_sys::hip::{
    hipDeviceArch_t, hipDeviceAttribute_t, hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipError_t,
};
use hip_sys::provider::{common_arch, device_attribute, legacy_properties};
use std::ffi::{c_char, c_int};

fn arch() -> hipDeviceArch_t {
    let mut arch = common_arch();
    arch.set_hasFunnelShift(1);
    arch.set_hasSurfaceFuncs(1);
    arch.set_hasDynamicParallelism(1);
    arch
}

/// The architecture name of a compute capability.
fn arch_name(major: c_int, minor: c_int) -> [c_char; 256] {
    let mut name = [0; 256];
    for (slot, byte) in name.iter_mut().zip(format!("sm_{major}{minor}").bytes()) {
        *slot = byte as c_char;
    }
    name
}

/// All properties of a device. Those that only AMD's devices have are zero.
fn properties(device: &Device) -> Result<hipDeviceProp_tR0600, hipError_t> {
    let get = |attribute: A| {
        let mut value = 0;
        // SAFETY: S1: a live output pointer.
        check(unsafe { (driver().cuDeviceGetAttribute)(&mut value, attribute as u32, device.handle) })?;
        Ok::<c_int, hipError_t>(value)
    };
    let size = |attribute: A| get(attribute).map(|value| usize::try_from(value).unwrap_or(0));
    let mut p = hipDeviceProp_tR0600::default();
    // SAFETY: S1: output buffers of the given sizes.
    unsafe {
        check((driver().cuDeviceGetName)(p.name.as_mut_ptr(), p.name.len() as c_int, device.handle))?;
        check((driver().cuDeviceGetUuid)(p.uuid.bytes.as_mut_ptr(), device.handle))?;
        check((driver().cuDeviceTotalMem)(&mut p.totalGlobalMem, device.handle))?;
    }
    p.sharedMemPerBlock = size(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?;
    p.regsPerBlock = get(A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)?;
    p.warpSize = get(A::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?;
    p.memPitch = size(A::CU_DEVICE_ATTRIBUTE_MAX_PITCH)?;
    p.maxThreadsPerBlock = get(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
    p.maxThreadsDim = [
        get(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
        get(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
        get(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
    ];
    p.maxGridSize = [
        get(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
        get(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
        get(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
    ];
    p.clockRate = get(A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?;
    p.totalConstMem = size(A::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY)?;
    p.major = get(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    p.minor = get(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    p.textureAlignment = size(A::CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)?;
    p.texturePitchAlignment = size(A::CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT)?;
    p.deviceOverlap = get(A::CU_DEVICE_ATTRIBUTE_GPU_OVERLAP)?;
    p.multiProcessorCount = get(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    p.kernelExecTimeoutEnabled = get(A::CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT)?;
    p.integrated = get(A::CU_DEVICE_ATTRIBUTE_INTEGRATED)?;
    p.canMapHostMemory = get(A::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY)?;
    p.computeMode = get(A::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)?;
    p.concurrentKernels = get(A::CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS)?;
    p.ECCEnabled = get(A::CU_DEVICE_ATTRIBUTE_ECC_ENABLED)?;
    p.pciBusID = get(A::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?;
    p.pciDeviceID = get(A::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?;
    p.pciDomainID = get(A::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?;
    p.tccDriver = get(A::CU_DEVICE_ATTRIBUTE_TCC_DRIVER)?;
    p.asyncEngineCount = get(A::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT)?;
    p.unifiedAddressing = get(A::CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING)?;
    p.memoryClockRate = get(A::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?;
    p.memoryBusWidth = get(A::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?;
    p.l2CacheSize = get(A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?;
    p.maxThreadsPerMultiProcessor = get(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?;
    p.streamPrioritiesSupported = get(A::CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED)?;
    p.sharedMemPerMultiprocessor = size(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?;
    p.maxSharedMemoryPerMultiProcessor = p.sharedMemPerMultiprocessor;
    p.regsPerMultiprocessor = get(A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?;
    p.managedMemory = get(A::CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)?;
    p.isMultiGpuBoard = get(A::CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD)?;
    p.hostNativeAtomicSupported = get(A::CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED)?;
    p.singleToDoublePrecisionPerfRatio = get(A::CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO)?;
    p.pageableMemoryAccess = get(A::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS)?;
    p.concurrentManagedAccess = get(A::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)?;
    p.computePreemptionSupported = get(A::CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED)?;
    p.canUseHostPointerForRegisteredMem =
        get(A::CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM)?;
    p.cooperativeLaunch = get(A::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)?;
    p.sharedMemPerBlockOptin = size(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
    p.pageableMemoryAccessUsesHostPageTables =
        get(A::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES)?;
    p.directManagedMemAccessFromHost = get(A::CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST)?;
    p.maxBlocksPerMultiProcessor = get(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)?;
    p.reservedSharedMemPerBlock = size(A::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK)?;
    p.hostRegisterSupported = get(A::CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED)?;
    p.memoryPoolsSupported = get(A::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)?;
    p.memoryPoolSupportedHandleTypes =
        get(A::CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES)?.cast_unsigned();
    p.gcnArchName = arch_name(p.major, p.minor);
    p.clockInstructionRate = p.clockRate;
    p.arch = arch();
    Ok(p)
}

pub(super) unsafe extern "C" fn hipGetDevicePropertiesR0600(
    out: *mut hipDeviceProp_tR0600,
    device: c_int,
) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    status(context::get(device).and_then(properties).and_then(|p| unsafe { give(out, p) }))
}

pub(super) unsafe extern "C" fn hipGetDevicePropertiesR0000(
    out: *mut hipDeviceProp_tR0000,
    device: c_int,
) -> hipError_t {
    let legacy = context::get(device).and_then(properties).map(|p| legacy_properties(&p));
    // SAFETY: S11: the caller's output pointer.
    status(legacy.and_then(|p| unsafe { give(out, p) }))
}

/// wall_clock64() counts nanoseconds here.
const WALL_CLOCK_KHZ: c_int = 1_000_000;

pub(super) unsafe extern "C" fn hipDeviceGetAttribute(
    out: *mut c_int,
    attribute: hipDeviceAttribute_t,
    device: c_int,
) -> hipError_t {
    let answer = || -> Outcome {
        check_not_null(out)?;
        let properties = properties(context::get(device)?)?;
        let value = match attribute {
            hipDeviceAttribute_t::hipDeviceAttributeWallClockRate => WALL_CLOCK_KHZ,
            _ => device_attribute(&properties, attribute).ok_or(hipError_t::hipErrorInvalidValue)?,
        };
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, value) }
    };
    status(answer())
}
