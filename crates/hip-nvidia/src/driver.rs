//! The CUDA driver's functions, in the form that CUDA 12.0 gave them: asked for by name and version, so that a newer
//! driver's other signatures never come in.
#![allow(non_snake_case, reason = "CUDA's names")]

use cudarc::driver::sys::{CUDA_MEMCPY2D_st, CUgraphExecUpdateResultInfo_st};
use hip_sys::LoadError;
use hip_sys::hip::{hipHostFn_t, hipIpcMemHandle_t, hipMemPoolProps};
use hip_sys::provider::SharedLibrary;
use std::ffi::{CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::mem::offset_of;
use std::path::PathBuf;
use std::ptr::null_mut;

/// What every function answers: a `CUresult`.
pub(crate) type Code = c_uint;
/// A `CUdeviceptr`.
pub(crate) type Address = u64;
pub(crate) type Context = *mut c_void;
pub(crate) type Stream = *mut c_void;
pub(crate) type Event = *mut c_void;
pub(crate) type Module = *mut c_void;
pub(crate) type Function = *mut c_void;
pub(crate) type Pool = *mut c_void;
pub(crate) type Graph = *mut c_void;
pub(crate) type GraphExec = *mut c_void;
pub(crate) type GraphNode = *mut c_void;
pub(crate) type UserObject = *mut c_void;
type Place<T> = *mut T;

/// The version whose signatures are asked for, as `cuDriverGetVersion` writes it.
const SIGNATURES: c_int = 12_000;
/// The version that has `cuFuncGetParamInfo`.
const PARAM_INFO_SINCE: c_int = 12_040;

macro_rules! driver {
    ($($name:ident($($argument:ty),*);)*) => {
        /// The functions. A field has its C function's name.
        pub(crate) struct Driver {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> Code,)*
            /// Offset and size of a kernel's parameter: since CUDA 12.4.
            pub(crate) cuFuncGetParamInfo:
                Option<unsafe extern "C" fn(Function, usize, Place<usize>, Place<usize>) -> Code>,
        }

        impl Driver {
            fn fill(find: &impl Fn(&str, c_int) -> Option<*mut c_void>, library: &str) -> Result<Self, LoadError> {
                let required = |symbol: &str| {
                    let missing =
                        || LoadError::MissingSymbol { library: library.to_owned(), symbol: symbol.to_owned() };
                    find(symbol, SIGNATURES).ok_or_else(missing)
                };
                // SAFETY: S1: the driver was asked for this name in the version whose declaration the type repeats.
                unsafe {
                    Ok(Self {
                        $($name: std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> Code>(
                            required(stringify!($name))?,
                        ),)*
                        cuFuncGetParamInfo: find("cuFuncGetParamInfo", PARAM_INFO_SINCE).map(|address| {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn(Function, usize, Place<usize>, Place<usize>) -> Code,
                            >(address)
                        }),
                    })
                }
            }
        }
    };
}

driver! {
    cuInit(c_uint);
    cuDriverGetVersion(Place<c_int>);
    cuDeviceGetCount(Place<c_int>);
    cuDeviceGet(Place<c_int>, c_int);
    cuDeviceGetName(*mut c_char, c_int, c_int);
    cuDeviceGetUuid(*mut c_char, c_int);
    cuDeviceGetPCIBusId(*mut c_char, c_int, c_int);
    cuDeviceGetByPCIBusId(Place<c_int>, *const c_char);
    cuDeviceTotalMem(Place<usize>, c_int);
    cuDeviceGetAttribute(Place<c_int>, c_uint, c_int);
    cuDevicePrimaryCtxRetain(Place<Context>, c_int);
    cuDevicePrimaryCtxReset(c_int);
    cuCtxSetCurrent(Context);
    cuCtxSynchronize();
    cuCtxGetLimit(Place<usize>, c_uint);
    cuCtxSetLimit(c_uint, usize);
    cuCtxGetStreamPriorityRange(Place<c_int>, Place<c_int>);
    cuDeviceCanAccessPeer(Place<c_int>, c_int, c_int);
    cuDeviceGetP2PAttribute(Place<c_int>, c_uint, c_int, c_int);
    cuCtxEnablePeerAccess(Context, c_uint);
    cuCtxDisablePeerAccess(Context);
    cuIpcGetMemHandle(Place<hipIpcMemHandle_t>, Address);
    cuIpcOpenMemHandle(Place<Address>, hipIpcMemHandle_t, c_uint);
    cuIpcCloseMemHandle(Address);
    cuMemAlloc(Place<Address>, usize);
    cuMemFree(Address);
    cuMemAllocManaged(Place<Address>, usize, c_uint);
    cuMemHostAlloc(Place<*mut c_void>, usize, c_uint);
    cuMemFreeHost(*mut c_void);
    cuMemHostRegister(*mut c_void, usize, c_uint);
    cuMemHostUnregister(*mut c_void);
    cuMemHostGetDevicePointer(Place<Address>, *mut c_void, c_uint);
    cuMemGetInfo(Place<usize>, Place<usize>);
    cuPointerGetAttributes(c_uint, *mut c_uint, *mut *mut c_void, Address);
    cuMemGetAddressRange(Place<Address>, Place<usize>, Address);
    cuMemPrefetchAsync(Address, usize, c_int, Stream);
    cuMemAdvise(Address, usize, c_uint, c_int);
    cuMemcpy(Address, Address, usize);
    cuMemcpyAsync(Address, Address, usize, Stream);
    cuMemcpyHtoDAsync(Address, *const c_void, usize, Stream);
    cuMemcpyDtoHAsync(*mut c_void, Address, usize, Stream);
    cuMemcpyDtoDAsync(Address, Address, usize, Stream);
    cuMemcpyPeerAsync(Address, Context, Address, Context, usize, Stream);
    cuMemcpy2DAsync(*const CUDA_MEMCPY2D_st, Stream);
    cuMemsetD8(Address, u8, usize);
    cuMemsetD8Async(Address, u8, usize, Stream);
    cuMemsetD16Async(Address, u16, usize, Stream);
    cuMemsetD32Async(Address, c_uint, usize, Stream);
    cuMemAllocAsync(Place<Address>, usize, Stream);
    cuMemFreeAsync(Address, Stream);
    cuMemAllocFromPoolAsync(Place<Address>, usize, Pool, Stream);
    cuMemPoolCreate(Place<Pool>, *const hipMemPoolProps);
    cuMemPoolDestroy(Pool);
    cuMemPoolTrimTo(Pool, usize);
    cuMemPoolSetAttribute(Pool, c_uint, *mut c_void);
    cuMemPoolGetAttribute(Pool, c_uint, *mut c_void);
    cuDeviceGetDefaultMemPool(Place<Pool>, c_int);
    cuDeviceSetMemPool(c_int, Pool);
    cuStreamCreateWithPriority(Place<Stream>, c_uint, c_int);
    cuStreamDestroy(Stream);
    cuStreamSynchronize(Stream);
    cuStreamQuery(Stream);
    cuStreamWaitEvent(Stream, Event, c_uint);
    cuStreamGetFlags(Stream, Place<c_uint>);
    cuStreamGetPriority(Stream, Place<c_int>);
    cuLaunchHostFunc(Stream, hipHostFn_t, *mut c_void);
    cuEventCreate(Place<Event>, c_uint);
    cuEventDestroy(Event);
    cuEventRecord(Event, Stream);
    cuEventSynchronize(Event);
    cuEventQuery(Event);
    cuEventElapsedTime(Place<f32>, Event, Event);
    cuModuleLoadData(Place<Module>, *const c_void);
    cuModuleUnload(Module);
    cuModuleGetFunction(Place<Function>, Module, *const c_char);
    cuModuleGetGlobal(Place<Address>, Place<usize>, Module, *const c_char);
    cuFuncGetAttribute(Place<c_int>, c_uint, Function);
    cuFuncSetAttribute(Function, c_uint, c_int);
    cuLaunchKernel(Function, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Stream, *mut *mut c_void, *mut *mut c_void);
    cuLaunchCooperativeKernel(Function, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Stream, *mut *mut c_void);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(Place<c_int>, Function, c_int, usize);
    cuOccupancyMaxPotentialBlockSize(Place<c_int>, Place<c_int>, Function, *mut c_void, usize, c_int);
    cuStreamBeginCapture(Stream, c_uint);
    cuStreamEndCapture(Stream, Place<Graph>);
    cuStreamIsCapturing(Stream, Place<c_uint>);
    cuStreamGetCaptureInfo(Stream, Place<c_uint>, Place<c_ulonglong>, Place<Graph>, Place<*const GraphNode>, Place<usize>);
    cuThreadExchangeStreamCaptureMode(Place<c_uint>);
    cuGraphCreate(Place<Graph>, c_uint);
    cuGraphDestroy(Graph);
    cuGraphInstantiateWithFlags(Place<GraphExec>, Graph, c_ulonglong);
    cuGraphLaunch(GraphExec, Stream);
    cuGraphUpload(GraphExec, Stream);
    cuGraphExecDestroy(GraphExec);
    cuGraphExecUpdate(GraphExec, Graph, Place<CUgraphExecUpdateResultInfo_st>);
    cuGraphGetNodes(Graph, *mut GraphNode, Place<usize>);
    cuGraphNodeGetType(GraphNode, Place<c_uint>);
    cuUserObjectCreate(Place<UserObject>, *mut c_void, hipHostFn_t, c_uint, c_uint);
    cuGraphRetainUserObject(Graph, UserObject, c_uint, c_uint);
}

/// `cuGetProcAddress_v2`: it takes a name, a version and flags, and says where the function is and what it thinks of that.
type GetProcAddress =
    unsafe extern "C" fn(*const c_char, Place<*mut c_void>, c_int, u64, Place<c_uint>) -> Code;

/// Structures that are HIP's in our types and CUDA's for the driver.
const _: () = {
    use cudarc::driver::sys as cuda;
    assert!(size_of::<hipMemPoolProps>() == size_of::<cuda::CUmemPoolProps_st>());
    assert!(offset_of!(hipMemPoolProps, allocType) == offset_of!(cuda::CUmemPoolProps_st, allocType));
    assert!(offset_of!(hipMemPoolProps, handleTypes) == offset_of!(cuda::CUmemPoolProps_st, handleTypes));
    assert!(offset_of!(hipMemPoolProps, location) == offset_of!(cuda::CUmemPoolProps_st, location));
    assert!(size_of::<hipIpcMemHandle_t>() == size_of::<cuda::CUipcMemHandle_st>());
};

const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];
const REMEDY: &str = "Install NVIDIA's driver (on Debian the package nvidia-driver; in a container, start it with the GPUs made visible)";

impl Driver {
    /// Opens the driver's library and finds every function.
    pub(crate) fn load() -> Result<(Self, PathBuf), LoadError> {
        let library =
            SharedLibrary::open("CUDA's driver (libcuda)", REMEDY, NAMES.map(PathBuf::from).to_vec())?;
        let path = library.path().to_path_buf();
        let name = path.display().to_string();
        let Some(address) = library.address("cuGetProcAddress_v2") else {
            let found = "older than 12.0".to_owned();
            return Err(LoadError::TooOld { library: name, found, needed: "12.0" });
        };
        // SAFETY: S1: the address of the function of that name, whose declaration the type repeats.
        let get = unsafe { std::mem::transmute::<*mut c_void, GetProcAddress>(address) };
        let find = |symbol: &str, version: c_int| {
            let symbol = CString::new(symbol).ok()?;
            let (mut address, mut opinion) = (null_mut(), 0);
            // SAFETY: S1: a C string and live places for the results.
            let code = unsafe { get(symbol.as_ptr(), &mut address, version, 0, &mut opinion) };
            (code == 0 && !address.is_null()).then_some(address)
        };
        Ok((Self::fill(&find, &name)?, path))
    }
}
