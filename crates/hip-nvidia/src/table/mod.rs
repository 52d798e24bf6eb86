//! HIP's C functions over the CUDA driver, and the table of them. Each checks what the driver does not: null places, stale
//! handles, what HIP limits and CUDA does not.

mod captures;
mod copies;
mod devices;
mod errors;
mod events;
mod graphs;
mod launches;
mod memory;
mod modules;
mod pools;
mod properties;
mod streams;

pub(crate) use launches::func_param_info;

use crate::context::Outcome;
use hip_sys::hip::hipError_t;
use hip_sys::{HipTable, Optional};

/// Version of HIP whose behaviour this follows, as hipRuntimeGetVersion writes it.
pub(crate) const VERSION: i32 = 60_400_000;

/// Stores a result through the caller's pointer.
///
/// # Safety
/// `place` is null or writable.
unsafe fn give<T>(place: *mut T, value: T) -> Outcome {
    if place.is_null() {
        return Err(hipError_t::hipErrorInvalidValue);
    }
    // SAFETY: S11: not null, and the C contract makes it writable.
    unsafe { place.write(value) };
    Ok(())
}

/// An error if the place is null: for calls that must not be made in vain.
fn place_is_there<T>(place: *mut T) -> Outcome {
    if place.is_null() { Err(hipError_t::hipErrorInvalidValue) } else { Ok(()) }
}

/// All functions, by name.
pub(crate) fn table() -> HipTable {
    use captures::*;
    use copies::*;
    use devices::*;
    use errors::*;
    use events::*;
    use graphs::*;
    use launches::*;
    use memory::*;
    use modules::*;
    use pools::*;
    use properties::*;
    use streams::*;
    HipTable {
        hipInit,
        hipRuntimeGetVersion,
        hipDriverGetVersion,
        hipGetDeviceCount,
        hipGetDevice,
        hipSetDevice,
        hipDeviceGet,
        hipDeviceGetName,
        hipDeviceGetUuid,
        hipDeviceGetPCIBusId,
        hipDeviceGetByPCIBusId,
        hipDeviceGetAttribute,
        hipGetDevicePropertiesR0000,
        hipDeviceTotalMem,
        hipDeviceSynchronize,
        hipDeviceReset,
        hipDeviceGetLimit,
        hipDeviceGetStreamPriorityRange,
        hipGetErrorName,
        hipGetErrorString,
        hipGetLastError,
        hipPeekAtLastError,
        hipDeviceCanAccessPeer,
        hipDeviceEnablePeerAccess,
        hipDeviceDisablePeerAccess,
        hipDeviceGetP2PAttribute,
        hipIpcGetMemHandle,
        hipIpcOpenMemHandle,
        hipIpcCloseMemHandle,
        hipMalloc,
        hipFree,
        hipExtMallocWithFlags,
        hipMallocManaged,
        hipHostMalloc,
        hipHostFree,
        hipHostRegister,
        hipHostUnregister,
        hipHostGetDevicePointer,
        hipMemGetInfo,
        hipPointerGetAttributes,
        hipMemGetAddressRange,
        hipMemPrefetchAsync,
        hipMemAdvise,
        hipMemcpy,
        hipMemcpyAsync,
        hipMemcpyWithStream,
        hipMemcpyHtoDAsync,
        hipMemcpyDtoHAsync,
        hipMemcpyDtoDAsync,
        hipMemcpyPeerAsync,
        hipMemcpy2DAsync,
        hipMemset,
        hipMemsetAsync,
        hipMemsetD8Async,
        hipMemsetD16Async,
        hipMemsetD32Async,
        hipMallocAsync,
        hipFreeAsync,
        hipMallocFromPoolAsync,
        hipMemPoolCreate,
        hipMemPoolDestroy,
        hipMemPoolTrimTo,
        hipMemPoolSetAttribute,
        hipMemPoolGetAttribute,
        hipDeviceGetDefaultMemPool,
        hipDeviceSetMemPool,
        hipStreamCreateWithFlags,
        hipStreamCreateWithPriority,
        hipExtStreamCreateWithCUMask,
        hipStreamDestroy,
        hipStreamSynchronize,
        hipStreamQuery,
        hipStreamWaitEvent,
        hipStreamGetFlags,
        hipStreamGetPriority,
        hipEventCreateWithFlags,
        hipEventDestroy,
        hipEventRecord,
        hipEventSynchronize,
        hipEventQuery,
        hipEventElapsedTime,
        hipModuleLoad,
        hipModuleLoadData,
        hipModuleUnload,
        hipModuleGetFunction,
        hipModuleGetGlobal,
        hipFuncGetAttribute,
        hipFuncSetAttribute,
        hipModuleLaunchKernel,
        hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,
        hipModuleOccupancyMaxPotentialBlockSize,
        hipStreamBeginCapture,
        hipStreamEndCapture,
        hipStreamIsCapturing,
        hipStreamGetCaptureInfo_v2,
        hipThreadExchangeStreamCaptureMode,
        hipGraphCreate,
        hipGraphDestroy,
        hipGraphInstantiateWithFlags,
        hipGraphLaunch,
        hipGraphExecDestroy,
        hipGraphExecUpdate,
        hipGraphGetNodes,
        hipGraphNodeGetType,
        hipDeviceSetLimit: Optional::present(hipDeviceSetLimit, "hipDeviceSetLimit", "5.3"),
        hipLaunchHostFunc: Optional::present(hipLaunchHostFunc, "hipLaunchHostFunc", "5.3"),
        hipUserObjectCreate: Optional::present(hipUserObjectCreate, "hipUserObjectCreate", "5.3"),
        hipGraphRetainUserObject: Optional::present(
            hipGraphRetainUserObject,
            "hipGraphRetainUserObject",
            "5.3",
        ),
        hipGraphUpload: Optional::present(hipGraphUpload, "hipGraphUpload", "5.3"),
        hipModuleLaunchCooperativeKernel: Optional::present(
            hipModuleLaunchCooperativeKernel,
            "hipModuleLaunchCooperativeKernel",
            "5.5",
        ),
        hipGetDevicePropertiesR0600: Optional::present(
            hipGetDevicePropertiesR0600,
            "hipGetDevicePropertiesR0600",
            "6.0",
        ),
        hipExtGetLastError: Optional::present(hipExtGetLastError, "hipExtGetLastError", "6.0"),
    }
}
