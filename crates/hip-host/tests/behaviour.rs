//! This platform's behaviour where HIP leaves it open: names, identities, and handles that were never issued.

#[macro_use]
mod common;

use common::hip;
use hip_sys::hip::*;
use std::ffi::c_char;
use std::ptr::null_mut;

const VALUE: u32 = 1;
const HANDLE: u32 = 400;

macro_rules! expect {
    ($hip:expr; $($name:ident($($argument:expr),* $(,)?) => $code:expr;)*) => {
        $(assert_eq!(call!($hip, $name($($argument),*)), $code, "{}", stringify!($name($($argument),*)));)*
    };
}

#[test]
fn devices_report_their_properties() {
    let hip = hip();
    let text = |chars: &[c_char]| {
        let bytes: Vec<u8> = chars.iter().map(|c| *c as u8).take_while(|c| *c != 0).collect();
        String::from_utf8(bytes).expect("plain text")
    };
    for (device, wave) in [(0, 32), (1, 64)] {
        let mut properties = hipDeviceProp_tR0600::default();
        assert_eq!(call_optional!(hip, hipGetDevicePropertiesR0600(&mut properties, device)), 0);
        assert_eq!(text(&properties.name), format!("hip-host (wave {wave})"));
        assert_eq!(text(&properties.gcnArchName), format!("host-w{wave}"));
        assert_eq!(properties.warpSize, wave);
        assert_eq!(properties.maxGridSize, [i32::MAX, 65_536, 65_536]);
    }
    let mut device = -7;
    ok!(hip, hipDeviceGetByPCIBusId(&mut device, c"0000:f1:00.0".as_ptr()));
    assert_eq!(device, 1);
    assert_eq!(hip_host::platform().version().to_string(), "6.4.0");
}

#[test]
fn handles_that_were_never_issued() {
    let hip = hip();
    let (stream, event) = (0x1234 as hipStream_t, hip.event());
    let (mut out, mut flags) = (null_mut(), 0);
    expect! { hip;
        hipStreamDestroy(stream) => HANDLE;
        hipStreamSynchronize(stream) => HANDLE;
        hipStreamQuery(stream) => HANDLE;
        hipStreamGetFlags(stream, &mut flags) => HANDLE;
        hipStreamWaitEvent(stream, event, 0) => HANDLE;
        hipEventRecord(event, stream) => HANDLE;
        hipEventRecord(0x1234 as hipEvent_t, null_mut()) => HANDLE;
        hipMemsetAsync(null_mut(), 0, 0, stream) => HANDLE;
        hipModuleUnload(0x1234 as hipModule_t) => 500;
        hipModuleGetFunction(&mut out, 0x1234 as hipModule_t, c"add".as_ptr()) => HANDLE;
        hipMemPoolDestroy(0x1234 as hipMemPool_t) => VALUE;
        hipEventDestroy(event) => 0;
    }
}

#[test]
fn modules_that_the_program_registered() {
    let hip = hip();
    let (mut module, mut function) = (null_mut(), null_mut());
    let image = std::env::temp_dir().join(format!("hip-host-test-{}.image", std::process::id()));
    std::fs::write(&image, hip_host::image("test_plain")).expect("a folder for temporary files");
    let path = std::ffi::CString::new(image.to_str().expect("UTF-8")).expect("no zero byte");
    let unknown = hip_host::image("no_such_module");
    expect! { hip;
        hipModuleLoad(&mut module, path.as_ptr()) => 0;
        hipModuleUnload(module) => 0;
        hipModuleLoadData(&mut module, unknown.as_ptr().cast()) => 209;
    }
    std::fs::remove_file(image).expect("written above");
    module = hip.module("test_plain");
    expect! { hip;
        hipModuleGetFunction(&mut function, module, c"nothing".as_ptr()) => 0;
        hipModuleUnload(module) => 0;
        hipModuleGetFunction(&mut function, module, c"nothing".as_ptr()) => HANDLE;
    }
    // A function is destroyed with its module.
    let none = null_mut();
    assert_eq!(
        call!(hip, hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, none, null_mut(), null_mut())),
        HANDLE
    );
}
