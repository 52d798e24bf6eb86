//! The CUDA driver's functions with the signatures of CUDA 12.0. They are looked up by name and version, so a
//! newer driver's changed signatures are never used.
#![allow(non_snake_case, reason = "CUDA's names")]

use cudarc::driver::sys::{CUDA_MEMCPY2D_st, CUgraphExecUpdateResultInfo_st};
use hip_sys::LoadError;
use hip_sys::hip::{hipHostFn_t, hipIpcMemHandle_t, hipMemPoolProps};
use hip_sys::provider::SharedLibrary;
use std::ffi::{CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::mem::offset_of;
use std::path::PathBuf;
use std::ptr::null_mut;

/// The result of every function: a `CUresult`.
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
type Out<T> = *mut T;

/// The version whose signatures are requested, in the format of `cuDriverGetVersion`.
const SIGNATURES: c_int = 12_000;
/// The version that has `cuFuncGetParamInfo`.
const PARAM_INFO_SINCE: c_int = 12_040;

macro_rules! driver {
    ($($name:ident($($argument:ty),*);)*) => {
        /// The functions. Each field has the name of its C function.
        pub(crate) struct Driver {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> Code,)*
            /// Offset and size of a kernel's parameter: since CUDA 12.4.
            pub(crate) cuFuncGetParamInfo:
                Option<unsafe extern "C" fn(Function, usize, Out<usize>, Out<usize>) -> Code>,
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
                                unsafe extern "C" fn(Function, usize, Out<usize>, Out<usize>) -> Code,
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
    cuDriverGetVersion(Out<c_int>);
    cuDeviceGetCount(Out<c_int>);
    cuDeviceGet(Out<c_int>, c_int);
    cuDeviceGetName(*mut c_char, c_int, c_int);
    cuDeviceGetUuid(*mut c_char, c_int);
    cuDeviceGetPCIBusId(*mut c_char, c_int, c_int);
    cuDeviceGetByPCIBusId(Out<c_int>, *const c_char);
    cuDeviceTotalMem(Out<usize>, c_int);
    cuDeviceGetAttribute(Out<c_int>, c_uint, c_int);
    cuDevicePrimaryCtxRetain(Out<Context>, c_int);
    cuDevicePrimaryCtxReset(c_int);
    cuCtxSetCurrent(Context);
    cuCtxSynchronize();
    cuCtxGetLimit(Out<usize>, c_uint);
    cuCtxSetLimit(c_uint, usize);
    cuCtxGetStreamPriorityRange(Out<c_int>, Out<c_int>);
    cuDeviceCanAccessPeer(Out<c_int>, c_int, c_int);
    cuDeviceGetP2PAttribute(Out<c_int>, c_uint, c_int, c_int);
    cuCtxEnablePeerAccess(Context, c_uint);
    cuCtxDisablePeerAccess(Context);
    cuIpcGetMemHandle(Out<hipIpcMemHandle_t>, Address);
    cuIpcOpenMemHandle(Out<Address>, hipIpcMemHandle_t, c_uint);
    cuIpcCloseMemHandle(Address);
    cuMemAlloc(Out<Address>, usize);
    cuMemFree(Address);
    cuMemAllocManaged(Out<Address>, usize, c_uint);
    cuMemHostAlloc(Out<*mut c_void>, usize, c_uint);
    cuMemFreeHost(*mut c_void);
    cuMemHostRegister(*mut c_void, usize, c_uint);
    cuMemHostUnregister(*mut c_void);
    cuMemHostGetDevicePointer(Out<Address>, *mut c_void, c_uint);
    cuMemGetInfo(Out<usize>, Out<usize>);
    cuPointerGetAttributes(c_uint, *mut c_uint, *mut *mut c_void, Address);
    cuMemGetAddressRange(Out<Address>, Out<usize>, Address);
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
    cuMemsetD2D32Async(Address, usize, c_uint, usize, usize, Stream);
    cuMemAllocAsync(Out<Address>, usize, Stream);
    cuMemFreeAsync(Address, Stream);
    cuMemAllocFromPoolAsync(Out<Address>, usize, Pool, Stream);
    cuMemPoolCreate(Out<Pool>, *const hipMemPoolProps);
    cuMemPoolDestroy(Pool);
    cuMemPoolTrimTo(Pool, usize);
    cuMemPoolSetAttribute(Pool, c_uint, *mut c_void);
    cuMemPoolGetAttribute(Pool, c_uint, *mut c_void);
    cuDeviceGetDefaultMemPool(Out<Pool>, c_int);
    cuDeviceSetMemPool(c_int, Pool);
    cuStreamCreateWithPriority(Out<Stream>, c_uint, c_int);
    cuStreamDestroy(Stream);
    cuStreamSynchronize(Stream);
    cuStreamQuery(Stream);
    cuStreamWaitEvent(Stream, Event, c_uint);
    cuStreamGetFlags(Stream, Out<c_uint>);
    cuStreamGetPriority(Stream, Out<c_int>);
    cuLaunchHostFunc(Stream, hipHostFn_t, *mut c_void);
    cuEventCreate(Out<Event>, c_uint);
    cuEventDestroy(Event);
    cuEventRecord(Event, Stream);
    cuEventSynchronize(Event);
    cuEventQuery(Event);
    cuEventElapsedTime(Out<f32>, Event, Event);
    cuModuleLoadData(Out<Module>, *const c_void);
    cuModuleUnload(Module);
    cuModuleGetFunction(Out<Function>, Module, *const c_char);
    cuModuleGetGlobal(Out<Address>, Out<usize>, Module, *const c_char);
    cuFuncGetAttribute(Out<c_int>, c_uint, Function);
    cuFuncSetAttribute(Function, c_uint, c_int);
    cuLaunchKernel(Function, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Stream, *mut *mut c_void, *mut *mut c_void);
    cuLaunchCooperativeKernel(Function, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Stream, *mut *mut c_void);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(Out<c_int>, Function, c_int, usize);
    cuOccupancyMaxPotentialBlockSize(Out<c_int>, Out<c_int>, Function, *mut c_void, usize, c_int);
    cuStreamBeginCapture(Stream, c_uint);
    cuStreamEndCapture(Stream, Out<Graph>);
    cuStreamIsCapturing(Stream, Out<c_uint>);
    cuStreamGetCaptureInfo(Stream, Out<c_uint>, Out<c_ulonglong>, Out<Graph>, Out<*const GraphNode>, Out<usize>);
    cuThreadExchangeStreamCaptureMode(Out<c_uint>);
    cuGraphCreate(Out<Graph>, c_uint);
    cuGraphDestroy(Graph);
    cuGraphInstantiateWithFlags(Out<GraphExec>, Graph, c_ulonglong);
    cuGraphLaunch(GraphExec, Stream);
    cuGraphUpload(GraphExec, Stream);
    cuGraphExecDestroy(GraphExec);
    cuGraphExecUpdate(GraphExec, Graph, Out<CUgraphExecUpdateResultInfo_st>);
    cuGraphGetNodes(Graph, *mut GraphNode, Out<usize>);
    cuGraphNodeGetType(GraphNode, Out<c_uint>);
    cuUserObjectCreate(Out<UserObject>, *mut c_void, hipHostFn_t, c_uint, c_uint);
    cuGraphRetainUserObject(Graph, UserObject, c_uint, c_uint);
}

/// `cuGetProcAddress_v2`: takes a name, a version and flags; stores the function's address and the result of
/// the query.
type GetProcAddress = unsafe extern "C" fn(*const c_char, Out<*mut c_void>, c_int, u64, Out<c_uint>) -> Code;

/// Structures that are HIP's types here and CUDA's for the driver: their layouts must agree.
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
        // SAFETY: S1: the address of the function of that name; the type repeats its declaration.
        let get = unsafe { std::mem::transmute::<*mut c_void, GetProcAddress>(address) };
        let find = |symbol: &str, version: c_int| {
            let symbol = CString::new(symbol).ok()?;
            let (mut address, mut query_result) = (null_mut(), 0);
            // SAFETY: S1: a C string and live output pointers.
            let code = unsafe { get(symbol.as_ptr(), &mut address, version, 0, &mut query_result) };
            (code == 0 && !address.is_null()).then_some(address)
        };
        Ok((Self::fill(&find, &name)?, path))
    }
}
