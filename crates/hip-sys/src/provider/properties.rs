//! Device properties as ROCm 6 lays them out, read in the two other forms that HIP has: single attributes, and the older
//! layout.

use crate::hip::{hipDeviceArch_t, hipDeviceAttribute_t, hipDeviceProp_tR0000, hipDeviceProp_tR0600};
use std::ffi::c_int;

/// The features that the devices of all our platforms have.
pub fn common_arch() -> hipDeviceArch_t {
    let mut arch = hipDeviceArch_t::default();
    arch.set_hasGlobalInt32Atomics(1);
    arch.set_hasGlobalFloatAtomicExch(1);
    arch.set_hasSharedInt32Atomics(1);
    arch.set_hasSharedFloatAtomicExch(1);
    arch.set_hasFloatAtomicAdd(1);
    arch.set_hasGlobalInt64Atomics(1);
    arch.set_hasSharedInt64Atomics(1);
    arch.set_hasDoubles(1);
    arch.set_hasWarpVote(1);
    arch.set_hasWarpBallot(1);
    arch.set_hasWarpShuffle(1);
    arch.set_hasThreadFenceSystem(1);
    arch.set_hasSyncThreadsExt(1);
    arch.set_has3dGrid(1);
    arch
}

/// The same properties in the layout from before ROCm 6. Fields that only that layout has are zero.
pub fn legacy_properties(p: &hipDeviceProp_tR0600) -> hipDeviceProp_tR0000 {
    hipDeviceProp_tR0000 {
        name: p.name,
        totalGlobalMem: p.totalGlobalMem,
        sharedMemPerBlock: p.sharedMemPerBlock,
        regsPerBlock: p.regsPerBlock,
        warpSize: p.warpSize,
        maxThreadsPerBlock: p.maxThreadsPerBlock,
        maxThreadsDim: p.maxThreadsDim,
        maxGridSize: p.maxGridSize,
        clockRate: p.clockRate,
        memoryClockRate: p.memoryClockRate,
        memoryBusWidth: p.memoryBusWidth,
        totalConstMem: p.totalConstMem,
        major: p.major,
        minor: p.minor,
        multiProcessorCount: p.multiProcessorCount,
        maxThreadsPerMultiProcessor: p.maxThreadsPerMultiProcessor,
        clockInstructionRate: p.clockInstructionRate,
        arch: p.arch,
        concurrentKernels: p.concurrentKernels,
        pciBusID: p.pciBusID,
        maxSharedMemoryPerMultiProcessor: p.maxSharedMemoryPerMultiProcessor,
        canMapHostMemory: p.canMapHostMemory,
        gcnArchName: p.gcnArchName,
        integrated: p.integrated,
        memPitch: p.memPitch,
        textureAlignment: p.textureAlignment,
        texturePitchAlignment: p.texturePitchAlignment,
        isLargeBar: p.isLargeBar,
        managedMemory: p.managedMemory,
        directManagedMemAccessFromHost: p.directManagedMemAccessFromHost,
        concurrentManagedAccess: p.concurrentManagedAccess,
        cooperativeLaunch: p.cooperativeLaunch,
        l2CacheSize: p.l2CacheSize,
        computeMode: p.computeMode,
        pciDomainID: p.pciDomainID,
        pciDeviceID: p.pciDeviceID,
        isMultiGpuBoard: p.isMultiGpuBoard,
        cooperativeMultiDeviceLaunch: p.cooperativeMultiDeviceLaunch,
        maxTexture1DLinear: p.maxTexture1DLinear,
        maxTexture1D: p.maxTexture1D,
        maxTexture2D: p.maxTexture2D,
        maxTexture3D: p.maxTexture3D,
        hdpMemFlushCntl: p.hdpMemFlushCntl,
        hdpRegFlushCntl: p.hdpRegFlushCntl,
        kernelExecTimeoutEnabled: p.kernelExecTimeoutEnabled,
        ECCEnabled: p.ECCEnabled,
        tccDriver: p.tccDriver,
        cooperativeMultiDeviceUnmatchedFunc: p.cooperativeMultiDeviceUnmatchedFunc,
        cooperativeMultiDeviceUnmatchedGridDim: p.cooperativeMultiDeviceUnmatchedGridDim,
        cooperativeMultiDeviceUnmatchedBlockDim: p.cooperativeMultiDeviceUnmatchedBlockDim,
        cooperativeMultiDeviceUnmatchedSharedMem: p.cooperativeMultiDeviceUnmatchedSharedMem,
        asicRevision: p.asicRevision,
        pageableMemoryAccess: p.pageableMemoryAccess,
        pageableMemoryAccessUsesHostPageTables: p.pageableMemoryAccessUsesHostPageTables,
        ..Default::default()
    }
}

/// The value of an attribute that is also a property; `None` for one that HIP does not have or that is neither.
#[doc(alias = "hipDeviceGetAttribute")]
pub fn device_attribute(p: &hipDeviceProp_tR0600, attribute: hipDeviceAttribute_t) -> Option<c_int> {
    use hipDeviceAttribute_t as A;
    Some(match attribute {
        A::hipDeviceAttributeEccEnabled => p.ECCEnabled,
        A::hipDeviceAttributeAccessPolicyMaxWindowSize => p.accessPolicyMaxWindowSize,
        A::hipDeviceAttributeAsyncEngineCount => p.asyncEngineCount,
        A::hipDeviceAttributeCanMapHostMemory => p.canMapHostMemory,
        A::hipDeviceAttributeCanUseHostPointerForRegisteredMem => p.canUseHostPointerForRegisteredMem,
        A::hipDeviceAttributeClockRate => p.clockRate,
        A::hipDeviceAttributeComputeMode => p.computeMode,
        A::hipDeviceAttributeComputePreemptionSupported => p.computePreemptionSupported,
        A::hipDeviceAttributeConcurrentKernels => p.concurrentKernels,
        A::hipDeviceAttributeConcurrentManagedAccess => p.concurrentManagedAccess,
        A::hipDeviceAttributeCooperativeLaunch => p.cooperativeLaunch,
        A::hipDeviceAttributeCooperativeMultiDeviceLaunch => p.cooperativeMultiDeviceLaunch,
        A::hipDeviceAttributeDeviceOverlap => p.deviceOverlap,
        A::hipDeviceAttributeDirectManagedMemAccessFromHost => p.directManagedMemAccessFromHost,
        A::hipDeviceAttributeHostNativeAtomicSupported => p.hostNativeAtomicSupported,
        A::hipDeviceAttributeIntegrated => p.integrated,
        A::hipDeviceAttributeIsMultiGpuBoard => p.isMultiGpuBoard,
        A::hipDeviceAttributeKernelExecTimeout => p.kernelExecTimeoutEnabled,
        A::hipDeviceAttributeL2CacheSize => p.l2CacheSize,
        A::hipDeviceAttributeComputeCapabilityMajor => p.major,
        A::hipDeviceAttributeComputeCapabilityMinor => p.minor,
        A::hipDeviceAttributeManagedMemory => p.managedMemory,
        A::hipDeviceAttributeMaxBlocksPerMultiProcessor => p.maxBlocksPerMultiProcessor,
        A::hipDeviceAttributeMaxBlockDimX | A::hipDeviceAttributeMaxThreadsDim => p.maxThreadsDim[0],
        A::hipDeviceAttributeMaxBlockDimY => p.maxThreadsDim[1],
        A::hipDeviceAttributeMaxBlockDimZ => p.maxThreadsDim[2],
        A::hipDeviceAttributeMaxGridDimX => p.maxGridSize[0],
        A::hipDeviceAttributeMaxGridDimY => p.maxGridSize[1],
        A::hipDeviceAttributeMaxGridDimZ => p.maxGridSize[2],
        A::hipDeviceAttributeMaxThreadsPerBlock => p.maxThreadsPerBlock,
        A::hipDeviceAttributeMaxThreadsPerMultiProcessor => p.maxThreadsPerMultiProcessor,
        A::hipDeviceAttributeMaxPitch => int(p.memPitch),
        A::hipDeviceAttributeMemoryBusWidth => p.memoryBusWidth,
        A::hipDeviceAttributeMemoryClockRate => p.memoryClockRate,
        A::hipDeviceAttributeMultiprocessorCount | A::hipDeviceAttributePhysicalMultiProcessorCount => {
            p.multiProcessorCount
        }
        A::hipDeviceAttributePageableMemoryAccess => p.pageableMemoryAccess,
        A::hipDeviceAttributePageableMemoryAccessUsesHostPageTables => {
            p.pageableMemoryAccessUsesHostPageTables
        }
        A::hipDeviceAttributePciBusId => p.pciBusID,
        A::hipDeviceAttributePciDeviceId => p.pciDeviceID,
        A::hipDeviceAttributePciDomainID => p.pciDomainID,
        A::hipDeviceAttributeMaxRegistersPerBlock => p.regsPerBlock,
        A::hipDeviceAttributeMaxRegistersPerMultiprocessor => p.regsPerMultiprocessor,
        A::hipDeviceAttributeReservedSharedMemPerBlock => int(p.reservedSharedMemPerBlock),
        A::hipDeviceAttributeMaxSharedMemoryPerBlock => int(p.sharedMemPerBlock),
        A::hipDeviceAttributeSharedMemPerBlockOptin => int(p.sharedMemPerBlockOptin),
        A::hipDeviceAttributeSharedMemPerMultiprocessor => int(p.sharedMemPerMultiprocessor),
        A::hipDeviceAttributeMaxSharedMemoryPerMultiprocessor => int(p.maxSharedMemoryPerMultiProcessor),
        A::hipDeviceAttributeSingleToDoublePrecisionPerfRatio => p.singleToDoublePrecisionPerfRatio,
        A::hipDeviceAttributeStreamPrioritiesSupported => p.streamPrioritiesSupported,
        A::hipDeviceAttributeTccDriver => p.tccDriver,
        A::hipDeviceAttributeTextureAlignment => int(p.textureAlignment),
        A::hipDeviceAttributeTexturePitchAlignment => int(p.texturePitchAlignment),
        A::hipDeviceAttributeTotalConstantMemory => int(p.totalConstMem),
        A::hipDeviceAttributeTotalGlobalMem => int(p.totalGlobalMem),
        A::hipDeviceAttributeUnifiedAddressing => p.unifiedAddressing,
        A::hipDeviceAttributeWarpSize => p.warpSize,
        A::hipDeviceAttributeMemoryPoolsSupported => p.memoryPoolsSupported,
        A::hipDeviceAttributeVirtualMemoryManagementSupported => 0,
        A::hipDeviceAttributeHostRegisterSupported => p.hostRegisterSupported,
        A::hipDeviceAttributeMemoryPoolSupportedHandleTypes => p.memoryPoolSupportedHandleTypes as c_int,
        A::hipDeviceAttributeClockInstructionRate | A::hipDeviceAttributeWallClockRate => {
            p.clockInstructionRate
        }
        A::hipDeviceAttributeIsLargeBar => p.isLargeBar,
        A::hipDeviceAttributeAsicRevision => p.asicRevision,
        A::hipDeviceAttributeCanUseStreamWaitValue | A::hipDeviceAttributeImageSupport => 0,
        A::hipDeviceAttributeFineGrainSupport => 1,
        _ => return None,
    })
}

/// A size as an int, as large as fits.
fn int(size: usize) -> c_int {
    c_int::try_from(size).unwrap_or(c_int::MAX)
}
