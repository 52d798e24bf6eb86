//! The host time of one small addition, without the driver: sums of 16 x 16 elements on a platform whose
//! launches do nothing.
//!
//! It prints the nanoseconds of a call; `valgrind --tool=callgrind --collect-atstart=no
//! --toggle-collect='small_add::additions*'` counts its instructions. The first argument is the number of
//! calls, by default 100,000. With a second argument the platform reports only one device, like most machines
//! with a GPU.

use hip_sys::Platform;
use hip_sys::hip::{hipError_t, hipFunction_t, hipStream_t};
use std::error::Error;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;
use std::time::Instant;
use tensor_core::{DType, Device, HipDevice, Tensor};

extern "C" fn launch_nothing(
    _function: hipFunction_t,
    _grid_x: c_uint,
    _grid_y: c_uint,
    _grid_z: c_uint,
    _block_x: c_uint,
    _block_y: c_uint,
    _block_z: c_uint,
    _shared_bytes: c_uint,
    _stream: hipStream_t,
    _parameters: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> hipError_t {
    hipError_t::hipSuccess
}

unsafe extern "C" fn one_device(count: *mut c_int) -> hipError_t {
    // SAFETY: S11: the caller's output pointer.
    unsafe { count.write(1) };
    hipError_t::hipSuccess
}

#[inline(never)]
fn additions(calls: u32, a: &Tensor, b: &Tensor) -> tensor_core::Result<()> {
    (0..calls).try_for_each(|_| a.add(b).map(drop))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let calls: u32 = arguments.next().map_or(Ok(100_000), |number| number.parse())?;
    let host = hip_host::platform();
    let mut table = host.hip().clone();
    table.hipModuleLaunchKernel = launch_nothing;
    if arguments.next().is_some() {
        table.hipGetDeviceCount = one_device;
    }
    let rtc = host.rtc().cloned().map_err(Clone::clone);
    // SAFETY: S1: the functions are hip-host's, one that does nothing, and one that reports fewer devices.
    let platform = unsafe { Platform::from_tables(host.kind, host.raw_version, table, rtc, *host.ext()) };
    let device = Device::Hip(HipDevice::new(&Arc::new(platform), 0)?);
    let ones = || Tensor::ones([16, 16], DType::F32, &device);
    let (a, b) = (ones()?, ones()?);
    a.add(&b)?;
    let start = Instant::now();
    additions(calls, &a, &b)?;
    println!("{:.1} ns a call", start.elapsed().as_secs_f64() * 1e9 / f64::from(calls.max(1)));
    Ok(())
}
