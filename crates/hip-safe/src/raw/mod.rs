//! One unsafe function for each C function that this crate calls: statuses become results. Nothing else here touches a
//! table.
//!
//! # Safety
//! Every function asks of its caller what the C function of the same name asks: live handles of this platform, ranges
//! inside live allocations, and the right device current where the C function depends on it (docs/SAFETY.md S1 to S3).

pub(crate) mod devices;
pub(crate) mod functions;
pub(crate) mod graphs;
pub(crate) mod memory;
pub(crate) mod rtc;
pub(crate) mod streams;

use crate::handle::Handle;
use crate::stream::wait_count;
use hip_sys::hip::*;
use hip_sys::{Extent, Platform, WithSlack};
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

/// A C call that did not answer `hipSuccess`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) call: &'static str,
    pub(crate) code: hipError_t,
}

type Result<T> = std::result::Result<T, Failure>;

/// Reads the status of a call, which the calling thread made.
fn status(p: &Platform, call: &'static str, code: hipError_t) -> Result<()> {
    if code == hipError_t::hipSuccess { Ok(()) } else { Err(failed(p, call, code)) }
}

/// Returns the error and clears the thread's last error. From HIP 7.0 on the last error stays through later successful calls, and code that checks
/// it after a launch, as AMD's libraries do, would report it as its own.
#[cold]
fn failed(p: &Platform, call: &'static str, code: hipError_t) -> Failure {
    // HIP does not store this one, and queries return it often.
    if code != hipError_t::hipErrorNotReady {
        // SAFETY: S1: no arguments.
        let _ = unsafe { (p.hip().hipGetLastError)() };
    }
    Failure { call, code }
}

/// Calls a function of the table by its C name and reads its status.
macro_rules! call {
    ($platform:expr, $name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: S1: each use says why its arguments are what the C function asks for.
        $crate::raw::status($platform, stringify!($name), unsafe { ($platform.hip().$name)($($argument),*) })
    };
}
use call;

/// The name of an error code, such as `hipErrorInvalidValue`.
pub(crate) fn error_name(platform: &Platform, code: hipError_t) -> String {
    // SAFETY: S1: any code may be asked for; the answer is null or a static C string.
    let name = unsafe { (platform.hip().hipGetErrorName)(code) };
    if name.is_null() {
        return String::from("an unnamed error");
    }
    // SAFETY: S1: not null, so it is one of the library's static strings.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

pub(crate) unsafe fn get_device_count(p: &Platform) -> Result<c_int> {
    let mut count = 0;
    // SAFETY: S1: the out-pointer is live.
    call!(p, hipGetDeviceCount(&mut count))?;
    Ok(count)
}

pub(crate) unsafe fn driver_version(p: &Platform) -> Result<c_int> {
    let mut version = 0;
    // SAFETY: S1: the out-pointer is live.
    call!(p, hipDriverGetVersion(&mut version))?;
    Ok(version)
}

pub(crate) unsafe fn get_device(p: &Platform) -> Result<c_int> {
    let mut ordinal = 0;
    // SAFETY: S1: the out-pointer is live.
    call!(p, hipGetDevice(&mut ordinal))?;
    Ok(ordinal)
}

pub(crate) unsafe fn set_device(p: &Platform, ordinal: c_int) -> Result<()> {
    // SAFETY: S1: any number is a valid argument.
    call!(p, hipSetDevice(ordinal))
}

pub(crate) unsafe fn device_synchronize(p: &Platform) -> Result<()> {
    wait_count::count();
    // SAFETY: S1: no arguments.
    call!(p, hipDeviceSynchronize())
}

/// The later layout of the properties; `None` where the library lacks it.
pub(crate) unsafe fn properties_r0600(
    p: &Platform,
    ordinal: c_int,
) -> Option<Result<Box<hipDeviceProp_tR0600>>> {
    let function = p.hip().hipGetDevicePropertiesR0600.get().ok()?;
    let mut space = Box::<WithSlack<hipDeviceProp_tR0600>>::default();
    // SAFETY: S1: the out-pointer is live, and larger than the layout asked for.
    let code = unsafe { function(space.as_mut_ptr(), ordinal) };
    Some(status(p, "hipGetDevicePropertiesR0600", code).map(|()| Box::new(space.value)))
}

/// The layout from before ROCm 6.0, which the plain symbol `hipGetDeviceProperties` fills.
pub(crate) unsafe fn properties_r0000(p: &Platform, ordinal: c_int) -> Result<Box<hipDeviceProp_tR0000>> {
    let mut space = Box::<WithSlack<hipDeviceProp_tR0000>>::default();
    // SAFETY: S1: the out-pointer is live, and larger than the layout asked for.
    call!(p, hipGetDevicePropertiesR0000(space.as_mut_ptr(), ordinal))?;
    Ok(Box::new(space.value))
}

/// Free and total bytes of the current device.
pub(crate) unsafe fn mem_get_info(p: &Platform) -> Result<(usize, usize)> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: S1: both out-pointers are live.
    call!(p, hipMemGetInfo(&mut free, &mut total))?;
    Ok((free, total))
}

pub(crate) unsafe fn malloc(p: &Platform, bytes: usize) -> Result<Handle<c_void>> {
    let mut address = null_mut();
    // SAFETY: S1, S3: the out-pointer is live; the caller made the device current.
    call!(p, hipMalloc(&mut address, bytes))?;
    Ok(Handle::new(address))
}

pub(crate) unsafe fn free(p: &Platform, address: Handle<c_void>) -> Result<()> {
    // SAFETY: S1, S4: the caller owns the allocation and nothing uses it any more.
    call!(p, hipFree(address.raw()))
}

pub(crate) unsafe fn host_malloc(p: &Platform, bytes: usize, flags: c_uint) -> Result<Handle<c_void>> {
    let mut address = null_mut();
    // SAFETY: S1: the out-pointer is live.
    call!(p, hipHostMalloc(&mut address, bytes, flags))?;
    Ok(Handle::new(address))
}

pub(crate) unsafe fn host_free(p: &Platform, address: Handle<c_void>) -> Result<()> {
    // SAFETY: S1, S4: the caller owns the memory and nothing uses it any more.
    call!(p, hipHostFree(address.raw()))
}

pub(crate) unsafe fn pointer_attributes(
    p: &Platform,
    address: *const c_void,
) -> Result<hipPointerAttribute_t> {
    let mut attributes = WithSlack::<hipPointerAttribute_t>::default();
    // SAFETY: S1: the out-pointer is live; the address is looked up, never followed.
    call!(p, hipPointerGetAttributes(attributes.as_mut_ptr(), address))?;
    Ok(attributes.value)
}

/// A copy that has read its source, and written its host destination, when it returns.
pub(crate) unsafe fn memcpy_with_stream(
    p: &Platform,
    destination: *mut c_void,
    source: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> Result<()> {
    wait_count::count();
    // SAFETY: S1, S2: the caller vouches for both ranges and the stream.
    call!(p, hipMemcpyWithStream(destination, source, bytes, kind, stream))
}

pub(crate) unsafe fn memcpy_async(
    p: &Platform,
    destination: *mut c_void,
    source: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> Result<()> {
    // SAFETY: S1, S2, S7: the caller vouches for both ranges until the copy is complete.
    call!(p, hipMemcpyAsync(destination, source, bytes, kind, stream))
}

pub(crate) unsafe fn memset_async(
    p: &Platform,
    destination: Handle<c_void>,
    byte: u8,
    bytes: usize,
    stream: hipStream_t,
) -> Result<()> {
    // SAFETY: S1, S2: the caller vouches for the range and the stream.
    call!(p, hipMemsetAsync(destination.raw(), c_int::from(byte), bytes, stream))
}

pub(crate) unsafe fn stream_create(p: &Platform, flags: c_uint) -> Result<Handle<ihipStream_t>> {
    let mut stream = null_mut();
    // SAFETY: S1, S3: the out-pointer is live; the caller made the device current.
    call!(p, hipStreamCreateWithFlags(&mut stream, flags))?;
    Ok(Handle::new(stream))
}

pub(crate) unsafe fn stream_destroy(p: &Platform, stream: Handle<ihipStream_t>) -> Result<()> {
    // SAFETY: S1, S4: the caller owns the stream and gives it up.
    call!(p, hipStreamDestroy(stream.raw()))
}

pub(crate) unsafe fn stream_synchronize(p: &Platform, stream: hipStream_t) -> Result<()> {
    wait_count::count();
    // SAFETY: S1: the stream is live.
    call!(p, hipStreamSynchronize(stream))
}

/// Whether everything submitted to the stream is complete.
pub(crate) unsafe fn stream_query(p: &Platform, stream: hipStream_t) -> Result<bool> {
    // SAFETY: S1: the stream is live.
    ready(call!(p, hipStreamQuery(stream)))
}

pub(crate) unsafe fn stream_wait_event(p: &Platform, stream: hipStream_t, event: hipEvent_t) -> Result<()> {
    // SAFETY: S1: stream and event are live; 0 is the only flag there is.
    call!(p, hipStreamWaitEvent(stream, event, 0))
}

pub(crate) unsafe fn event_create(p: &Platform, flags: c_uint) -> Result<Handle<ihipEvent_t>> {
    let mut event = null_mut();
    // SAFETY: S1, S3: the out-pointer is live; the caller made the device current.
    call!(p, hipEventCreateWithFlags(&mut event, flags))?;
    Ok(Handle::new(event))
}

pub(crate) unsafe fn event_destroy(p: &Platform, event: Handle<ihipEvent_t>) -> Result<()> {
    // SAFETY: S1, S4: the caller owns the event and gives it up.
    call!(p, hipEventDestroy(event.raw()))
}

pub(crate) unsafe fn event_record(p: &Platform, event: hipEvent_t, stream: hipStream_t) -> Result<()> {
    // SAFETY: S1: both are live and of one device.
    call!(p, hipEventRecord(event, stream))
}

/// Whether the event's last record is complete.
pub(crate) unsafe fn event_query(p: &Platform, event: hipEvent_t) -> Result<bool> {
    // SAFETY: S1: the event is live.
    ready(call!(p, hipEventQuery(event)))
}

pub(crate) unsafe fn event_synchronize(p: &Platform, event: hipEvent_t) -> Result<()> {
    wait_count::count();
    // SAFETY: S1: the event is live.
    call!(p, hipEventSynchronize(event))
}

/// Milliseconds from `start` to `stop`; `None` while one of them is pending.
pub(crate) unsafe fn event_elapsed(p: &Platform, start: hipEvent_t, stop: hipEvent_t) -> Result<Option<f32>> {
    let mut milliseconds = 0.0;
    // SAFETY: S1: both events are live, and so is the out-pointer.
    let done = ready(call!(p, hipEventElapsedTime(&mut milliseconds, start, stop)))?;
    Ok(done.then_some(milliseconds))
}

fn ready(answer: Result<()>) -> Result<bool> {
    match answer {
        Ok(()) => Ok(true),
        Err(Failure { code: hipError_t::hipErrorNotReady, .. }) => Ok(false),
        Err(failure) => Err(failure),
    }
}

pub(crate) unsafe fn module_load_data(p: &Platform, image: *const c_void) -> Result<Handle<ihipModule_t>> {
    let mut module = null_mut();
    // SAFETY: S1, S3: the caller checked the image's bounds, keeps it alive, and made the device current.
    call!(p, hipModuleLoadData(&mut module, image))?;
    Ok(Handle::new(module))
}

pub(crate) unsafe fn module_unload(p: &Platform, module: Handle<ihipModule_t>) -> Result<()> {
    // SAFETY: S1, S4: the caller owns the module, and none of its kernels runs any more.
    call!(p, hipModuleUnload(module.raw()))
}

pub(crate) unsafe fn module_get_function(
    p: &Platform,
    module: hipModule_t,
    name: &CStr,
) -> Result<Handle<ihipModuleSymbol_t>> {
    let mut function = null_mut();
    // SAFETY: S1: the module is live; name and out-pointer are valid for the call.
    call!(p, hipModuleGetFunction(&mut function, module, name.as_ptr()))?;
    Ok(Handle::new(function))
}

pub(crate) unsafe fn module_get_global(
    p: &Platform,
    module: hipModule_t,
    name: &CStr,
) -> Result<(*mut c_void, usize)> {
    let (mut address, mut bytes) = (null_mut(), 0);
    // SAFETY: S1: the module is live; name and out-pointers are valid for the call.
    call!(p, hipModuleGetGlobal(&mut address, &mut bytes, module, name.as_ptr()))?;
    Ok((address, bytes))
}

pub(crate) unsafe fn func_get_attribute(
    p: &Platform,
    function: hipFunction_t,
    attribute: hipFunction_attribute,
) -> Result<c_int> {
    let mut value = 0;
    // SAFETY: S1: the function is live, and so is the out-pointer.
    call!(p, hipFuncGetAttribute(&mut value, attribute, function))?;
    Ok(value)
}

/// Offset and size of argument `index`; `Ok(None)` past the last one. The outer `None`: the platform cannot say.
pub(crate) unsafe fn func_param_info(
    p: &Platform,
    function: hipFunction_t,
    index: usize,
) -> Option<Result<Option<(usize, usize)>>> {
    let ask = p.ext().func_param_info?;
    let (mut offset, mut size) = (0, 0);
    // SAFETY: S1: the function is live, and so are both out-pointers.
    let code = unsafe { ask(function, index, &mut offset, &mut size) };
    Some(match code {
        hipError_t::hipErrorInvalidValue => Ok(None),
        code => status(p, "func_param_info", code).map(|()| Some((offset, size))),
    })
}

/// Whether the platform wants to be told what operations use.
pub(crate) fn wants_extents(p: &Platform) -> bool {
    p.ext().announce.is_some()
}

/// Says what the next launch of this thread on the stream uses; `None` takes that back.
pub(crate) fn announce(p: &Platform, stream: hipStream_t, extents: Option<&[Extent]>) {
    let Some(announce) = p.ext().announce else { return };
    let (list, count) = extents.map_or((null(), 0), |extents| (extents.as_ptr(), extents.len()));
    // SAFETY: S1: the list is live for the call, or null. What is not understood is not checked: no reason to fail.
    let _ = unsafe { announce(stream, list, count) };
}

/// Says that our pool hands out a piece of an allocation.
pub(crate) fn reserve(p: &Platform, address: Handle<c_void>, bytes: usize, stream: hipStream_t) {
    if let Some(reserve) = p.ext().reserve {
        // SAFETY: S1: the address is looked up and never followed. What is not understood is not checked.
        let _ = unsafe { reserve(address.raw(), bytes, stream) };
    }
}

/// Says that our pool has a piece back.
pub(crate) fn release(p: &Platform, address: Handle<c_void>, bytes: usize, stream: hipStream_t) {
    if let Some(release) = p.ext().release {
        // SAFETY: S1: the address is looked up and never followed. What is not understood is not checked.
        let _ = unsafe { release(address.raw(), bytes, stream) };
    }
}

/// Says that this thread uses host memory itself.
pub(crate) fn touch(p: &Platform, extent: Extent) {
    if let Some(touch) = p.ext().touch {
        // SAFETY: S1: one extent, live for the call.
        let _ = unsafe { touch(&extent, 1) };
    }
}

/// What broke a device, in the platform's words; `None` if it is well or the platform does not say.
pub(crate) fn last_fault(p: &Platform, device: c_int) -> Option<Box<str>> {
    let ask = p.ext().last_fault?;
    let mut text = vec![0_u8; 1024];
    // SAFETY: S1: the length is the buffer's.
    let length = unsafe { ask(device, text.as_mut_ptr().cast(), text.len()) };
    let written = length.min(text.len() - 1);
    (written > 0).then(|| String::from_utf8_lossy(&text[..written]).into())
}

pub(crate) unsafe fn module_launch_kernel(
    p: &Platform,
    function: hipFunction_t,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    stream: hipStream_t,
    arguments: *mut *mut c_void,
) -> Result<()> {
    let [gx, gy, gz] = grid;
    let [bx, by, bz] = block;
    // SAFETY: S1, S9: function and stream are live, and `arguments` has as many entries as the kernel declares.
    call!(
        p,
        hipModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, shared_bytes, stream, arguments, null_mut())
    )
}
