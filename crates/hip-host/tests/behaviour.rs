//! The error codes that HIP's own tests demand, one line each: the call, the code.

#[macro_use]
mod common;

use common::hip;
use hip_sys::hip::*;
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

const VALUE: u32 = 1;
const MEMORY: u32 = 2;
const DIRECTION: u32 = 21;
const DEVICE: u32 = 101;
const HANDLE: u32 = 400;
const DESTROYED: u32 = 709;
const ANY: hipMemcpyKind = hipMemcpyKind::hipMemcpyDefault;

macro_rules! expect {
    ($hip:expr; $($name:ident($($argument:expr),* $(,)?) => $code:expr;)*) => {
        $(assert_eq!(call!($hip, $name($($argument),*)), $code, "{}", stringify!($name($($argument),*)));)*
    };
}

macro_rules! expect_optional {
    ($hip:expr; $($name:ident($($argument:expr),* $(,)?) => $code:expr;)*) => {
        $(assert_eq!(call_optional!($hip, $name($($argument),*)), $code, "{}", stringify!($name($($argument),*)));)*
    };
}

#[test]
fn memory() {
    let hip = hip();
    let (mut p, mut on_stack) = (null_mut::<c_void>(), 0_u64);
    let stack = (&raw mut on_stack).cast::<c_void>();
    expect! { hip;
        hipMalloc(null_mut(), 8) => VALUE;
        hipMalloc(&mut p, usize::MAX) => MEMORY;
        hipMalloc(&mut p, usize::MAX / 2) => MEMORY;
        hipFree(null_mut()) => 0;
        hipFree(stack) => VALUE;
        hipHostFree(stack) => VALUE;
    }
    p = stack;
    expect! { hip; hipMalloc(&mut p, 0) => 0; }
    assert!(p.is_null());
    expect! { hip; hipMalloc(&mut p, 64) => 0; }
    expect! { hip;
        hipFree(p.wrapping_byte_add(1)) => VALUE;
        hipMemcpy(null_mut(), p, 4, ANY) => VALUE;
        hipMemcpy(p, null(), 4, ANY) => VALUE;
        hipMemcpy(p, stack, 4, hipMemcpyKind(u32::MAX)) => DIRECTION;
        hipMemcpy(p, stack, 4, hipMemcpyKind(5)) => DIRECTION;
        hipMemcpyAsync(p, stack, 4, ANY, 0x1234 as hipStream_t) => HANDLE;
        hipMemset(null_mut(), 0, 4) => VALUE;
        hipMemset(stack, 0, 4) => VALUE;
        hipFree(p) => 0;
        hipFree(p) => VALUE;
        hipFreeAsync(null_mut(), null_mut()) => VALUE;
        hipMallocAsync(&mut p, 8, 0x1234 as hipStream_t) => HANDLE;
        hipMallocAsync(null_mut(), 8, null_mut()) => VALUE;
        hipMallocAsync(&mut p, 8, null_mut()) => 0;
        hipFreeAsync(p, 0x1234 as hipStream_t) => HANDLE;
        hipFreeAsync(p, null_mut()) => 0;
        hipFreeAsync(p, null_mut()) => VALUE;
        hipHostRegister(null_mut(), 8, 0) => VALUE;
        hipHostRegister(stack, 0, 0) => VALUE;
        hipHostUnregister(null_mut()) => VALUE;
        hipHostUnregister(stack) => 713;
        hipHostGetDevicePointer(&mut p, null_mut(), 0) => VALUE;
        hipHostGetDevicePointer(&mut p, stack, 0) => VALUE;
        hipPointerGetAttributes(null_mut(), stack) => VALUE;
        hipPointerGetAttributes(&mut hipPointerAttribute_t::default(), null()) => VALUE;
        hipMemGetInfo(null_mut(), null_mut()) => VALUE;
        hipExtMallocWithFlags(&mut p, 8, 99) => VALUE;
        hipMemPoolDestroy(null_mut()) => VALUE;
    }
}

#[test]
fn devices() {
    let hip = hip();
    let (mut n, mut size) = (-7, 0);
    let mut short = [0x55 as c_char; 4];
    expect! { hip;
        hipInit(0) => 0;
        hipInit(1) => VALUE;
        hipGetDevice(null_mut()) => VALUE;
        hipGetDeviceCount(null_mut()) => VALUE;
        hipSetDevice(-1) => DEVICE;
        hipSetDevice(2) => DEVICE;
        hipDeviceGet(&mut n, 1) => 0;
        hipDeviceGet(&mut n, 2) => DEVICE;
        hipRuntimeGetVersion(null_mut()) => VALUE;
        hipDeviceGetLimit(&mut size, hipLimit_t(u32::MAX)) => 215;
        hipDeviceGetLimit(&mut size, hipLimit_t::hipLimitStackSize) => 0;
        hipDeviceTotalMem(&mut size, 5) => DEVICE;
        hipDeviceGetName(short.as_mut_ptr(), 0, 0) => VALUE;
        hipDeviceGetName(null_mut(), 9, 0) => VALUE;
        hipDeviceGetName(short.as_mut_ptr(), 4, 1) => 0;
        hipDeviceGetPCIBusId(short.as_mut_ptr(), 4, 0) => VALUE;
        hipDeviceGetByPCIBusId(&mut n, c"0000:f1:00.0".as_ptr()) => 0;
        hipDeviceGetByPCIBusId(null_mut(), c"0000:f1:00.0".as_ptr()) => VALUE;
        hipGetDevicePropertiesR0000(null_mut(), 0) => VALUE;
        hipDeviceGetAttribute(&mut n, hipDeviceAttribute_t(77_777), 0) => VALUE;
    }
    assert_eq!(short.map(|c| c as u8), *b"hip\0");
    expect_optional! { hip;
        hipDeviceSetLimit(hipLimit_t(u32::MAX), 1) => 215;
        hipDeviceSetLimit(hipLimit_t::hipLimitStackSize, 4096) => 0;
        hipGetDevicePropertiesR0600(null_mut(), 0) => VALUE;
        hipGetDevicePropertiesR0600(&mut hipDeviceProp_tR0600::default(), 2) => DEVICE;
    }
    expect! { hip; hipDeviceGetLimit(&mut size, hipLimit_t::hipLimitStackSize) => 0; }
    assert_eq!(size, 4096);
}

#[test]
fn what_the_devices_say_of_themselves() {
    let hip = hip();
    let text = |chars: &[c_char]| {
        let bytes: Vec<u8> = chars.iter().map(|c| *c as u8).take_while(|c| *c != 0).collect();
        String::from_utf8(bytes).expect("plain text")
    };
    for (device, wave) in [(0, 32), (1, 64)] {
        let mut new = hipDeviceProp_tR0600::default();
        let mut old = hipDeviceProp_tR0000::default();
        assert_eq!(call_optional!(hip, hipGetDevicePropertiesR0600(&mut new, device)), 0);
        ok!(hip, hipGetDevicePropertiesR0000(&mut old, device));
        assert_eq!(text(&new.name), format!("hip-host (wave {wave})"));
        assert_eq!(text(&new.gcnArchName), format!("host-w{wave}"));
        assert_eq!(new.warpSize, wave);
        assert_eq!((new.name, new.gcnArchName), (old.name, old.gcnArchName));
        assert_eq!((new.warpSize, new.totalGlobalMem), (old.warpSize, old.totalGlobalMem));
        let attribute = |attribute| {
            let mut value = -7;
            ok!(hip, hipDeviceGetAttribute(&mut value, attribute, device));
            value
        };
        assert_eq!(attribute(hipDeviceAttribute_t::hipDeviceAttributeWarpSize), wave);
        assert_eq!(attribute(hipDeviceAttribute_t::hipDeviceAttributeMaxThreadsPerBlock), 1024);
        assert_eq!(attribute(hipDeviceAttribute_t::hipDeviceAttributeMaxGridDimY), 65_536);
        assert_eq!(attribute(hipDeviceAttribute_t::hipDeviceAttributeMaxSharedMemoryPerBlock), 65_536);
        assert!(attribute(hipDeviceAttribute_t::hipDeviceAttributeMultiprocessorCount) >= 1);
        let mut uuid = hipUUID::default();
        ok!(hip, hipDeviceGetUuid(&mut uuid, device));
        assert_eq!(uuid, new.uuid);
    }
    let mut version = 0;
    ok!(hip, hipRuntimeGetVersion(&mut version));
    assert_eq!(hip_host::platform().version().to_string(), "6.4.0");
    assert_eq!(hip_sys::Version::from_raw(version), hip_host::platform().version());
}

#[test]
fn streams() {
    let hip = hip();
    let (mut stream, mut flags, mut priority) = (null_mut(), 9, 9);
    let garbage = 0x1234 as hipStream_t;
    expect! { hip;
        hipStreamCreateWithFlags(null_mut(), 0) => VALUE;
        hipStreamCreateWithFlags(&mut stream, 2) => VALUE;
        hipStreamCreateWithFlags(&mut stream, 1) => 0;
        hipStreamGetFlags(stream, &mut flags) => 0;
        hipStreamGetFlags(stream, null_mut()) => VALUE;
        hipStreamGetPriority(stream, &mut priority) => 0;
        hipStreamGetPriority(stream, null_mut()) => VALUE;
        hipStreamDestroy(null_mut()) => HANDLE;
        hipStreamDestroy(garbage) => HANDLE;
        hipStreamDestroy(stream) => 0;
        hipStreamDestroy(stream) => DESTROYED;
        hipStreamSynchronize(stream) => DESTROYED;
        hipStreamQuery(stream) => DESTROYED;
        hipStreamGetFlags(stream, &mut flags) => DESTROYED;
        hipStreamSynchronize(garbage) => HANDLE;
        hipStreamQuery(null_mut()) => 0;
        hipExtStreamCreateWithCUMask(&mut stream, 0, null()) => VALUE;
        hipExtStreamCreateWithCUMask(&mut stream, 1, &1) => 0;
        hipStreamDestroy(stream) => 0;
        hipDeviceGetStreamPriorityRange(null_mut(), null_mut()) => 0;
    }
    assert_eq!((flags, priority), (1, 0));
    let (mut least, mut greatest) = (0, 0);
    ok!(hip, hipDeviceGetStreamPriorityRange(&mut least, &mut greatest));
    assert_eq!((least, greatest), (1, -1));
    for (asked, given) in [(-5, -1), (-1, -1), (0, 0), (1, 1), (7, 1)] {
        ok!(hip, hipStreamCreateWithPriority(&mut stream, 0, asked));
        ok!(hip, hipStreamGetPriority(stream, &mut priority));
        assert_eq!(priority, given);
        ok!(hip, hipStreamDestroy(stream));
    }
    expect_optional! { hip;
        hipLaunchHostFunc(null_mut(), None, null_mut()) => VALUE;
        hipLaunchHostFunc(garbage, None, null_mut()) => HANDLE;
    }
}

#[test]
fn events() {
    let hip = hip();
    let (mut event, mut time) = (null_mut(), 0.0);
    expect! { hip;
        hipEventCreateWithFlags(null_mut(), 0) => VALUE;
        hipEventCreateWithFlags(&mut event, 0x0800_0000) => VALUE;
        hipEventCreateWithFlags(&mut event, hipEventInterprocess) => VALUE;
        hipEventRecord(null_mut(), null_mut()) => HANDLE;
        hipEventQuery(null_mut()) => HANDLE;
        hipEventSynchronize(null_mut()) => HANDLE;
        hipEventDestroy(null_mut()) => HANDLE;
        hipStreamWaitEvent(null_mut(), null_mut(), 0) => HANDLE;
        hipEventCreateWithFlags(&mut event, hipEventDisableTiming) => 0;
        hipStreamWaitEvent(null_mut(), event, 77) => VALUE;
        hipStreamWaitEvent(0x1234 as hipStream_t, event, 0) => HANDLE;
        hipEventRecord(event, 0x1234 as hipStream_t) => HANDLE;
        hipEventRecord(event, null_mut()) => 0;
        hipEventSynchronize(event) => 0;
        hipEventElapsedTime(null_mut(), event, event) => VALUE;
        hipEventElapsedTime(&mut time, event, event) => HANDLE;
        hipEventElapsedTime(&mut time, null_mut(), event) => HANDLE;
        hipEventElapsedTime(&mut time, event, null_mut()) => HANDLE;
        hipEventDestroy(event) => 0;
        hipEventDestroy(event) => DESTROYED;
        hipEventQuery(event) => DESTROYED;
        hipEventRecord(event, null_mut()) => DESTROYED;
        hipEventCreateWithFlags(&mut event, 0) => 0;
        hipSetDevice(1) => 0;
        hipEventRecord(event, null_mut()) => HANDLE;
        hipEventDestroy(event) => 0;
    }
}

#[test]
fn modules() {
    let hip = hip();
    let (mut module, mut function, mut global, mut size) = (null_mut(), null_mut(), null_mut(), 0);
    let text = std::env::temp_dir().join(format!("hip-host-test-{}.txt", std::process::id()));
    let image = text.with_extension("image");
    std::fs::write(&text, "not a code object").expect("a folder for temporary files");
    std::fs::write(&image, hip_host::image("test_plain")).expect("a folder for temporary files");
    let path =
        |path: &std::path::Path| std::ffi::CString::new(path.to_str().expect("UTF-8")).expect("no zero byte");
    let (text_path, image_path) = (path(&text), path(&image));
    let unknown = hip_host::image("no_such_module");
    expect! { hip;
        hipModuleLoad(&mut module, c"/no/such/file.hsaco".as_ptr()) => 301;
        hipModuleLoad(&mut module, text_path.as_ptr()) => 200;
        hipModuleLoad(&mut module, c"".as_ptr()) => VALUE;
        hipModuleLoad(&mut module, null()) => VALUE;
        hipModuleLoad(null_mut(), image_path.as_ptr()) => VALUE;
        hipModuleLoad(&mut module, image_path.as_ptr()) => 0;
        hipModuleUnload(module) => 0;
        hipModuleUnload(module) => 500;
        hipModuleUnload(null_mut()) => HANDLE;
        hipModuleLoadData(&mut module, null()) => VALUE;
        hipModuleLoadData(&mut module, c"not a code object".as_ptr().cast()) => 200;
        hipModuleLoadData(&mut module, unknown.as_ptr().cast()) => 209;
    }
    std::fs::remove_file(text).expect("written above");
    std::fs::remove_file(image).expect("written above");
    module = hip.module("test_plain");
    expect! { hip;
        hipModuleGetFunction(&mut function, module, c"absent".as_ptr()) => 500;
        hipModuleGetFunction(&mut function, module, c"".as_ptr()) => VALUE;
        hipModuleGetFunction(&mut function, module, null()) => VALUE;
        hipModuleGetFunction(null_mut(), module, c"nothing".as_ptr()) => VALUE;
        hipModuleGetFunction(&mut function, null_mut(), c"nothing".as_ptr()) => HANDLE;
        hipModuleGetFunction(&mut function, module, c"nothing".as_ptr()) => 0;
        hipModuleGetGlobal(&mut global, &mut size, module, c"absent".as_ptr()) => 500;
        hipModuleGetGlobal(&mut global, &mut size, module, c"".as_ptr()) => VALUE;
        hipModuleGetGlobal(&mut global, &mut size, null_mut(), c"scale".as_ptr()) => HANDLE;
        hipModuleGetGlobal(null_mut(), &mut size, module, c"table".as_ptr()) => 0;
        hipModuleUnload(module) => 0;
        hipModuleGetFunction(&mut function, module, c"nothing".as_ptr()) => HANDLE;
    }
    assert_eq!(size, 32);
    // A function goes with its module.
    let none = null_mut();
    assert_eq!(
        call!(hip, hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, none, null_mut(), null_mut())),
        HANDLE
    );
}

#[test]
fn captures() {
    let hip = hip();
    let (stream, global) = (hip.stream(0), hipStreamCaptureMode::hipStreamCaptureModeGlobal);
    let (mut capturing, mut mode) =
        (hipStreamCaptureStatus(9), hipStreamCaptureMode::hipStreamCaptureModeRelaxed);
    expect! { hip;
        hipStreamBeginCapture(null_mut(), global) => 900;
        hipStreamBeginCapture(stream, hipStreamCaptureMode(3)) => VALUE;
        hipStreamIsCapturing(stream, &mut capturing) => 0;
        hipStreamIsCapturing(stream, null_mut()) => VALUE;
        hipThreadExchangeStreamCaptureMode(&mut mode) => 0;
        hipThreadExchangeStreamCaptureMode(null_mut()) => VALUE;
    }
    assert_eq!((capturing, mode), (hipStreamCaptureStatus::hipStreamCaptureStatusNone, global));
}

#[test]
fn the_last_error_is_told_once() {
    let hip = hip();
    let name = |code| {
        let (name, text) = (hip.table.hipGetErrorName, hip.table.hipGetErrorString);
        // SAFETY: S1: both return C strings that live as long as the program.
        unsafe {
            assert!(!std::ffi::CStr::from_ptr(text(hipError_t(code))).is_empty());
            std::ffi::CStr::from_ptr(name(hipError_t(code)))
        }
    };
    expect! { hip;
        hipGetLastError() => 0;
        hipSetDevice(-1) => DEVICE;
        hipPeekAtLastError() => DEVICE;
        // A success does not hide it.
        hipSetDevice(0) => 0;
        hipGetLastError() => DEVICE;
        hipGetLastError() => 0;
        hipInit(7) => VALUE;
    }
    expect_optional! { hip; hipExtGetLastError() => VALUE; }
    expect! { hip; hipPeekAtLastError() => 0; }
    assert_eq!((name(0), name(719)), (c"hipSuccess", c"hipErrorLaunchFailure"));
    assert_eq!((name(2), name(123_456)), (c"hipErrorOutOfMemory", c"hipErrorUnknown"));
}
