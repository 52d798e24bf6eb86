//! Priorities of streams, and functions that they call on the host.

use super::{Result, call, status};
use crate::handle::Handle;
use hip_sys::hip::*;
use hip_sys::{Platform, Unsupported};
use std::ffi::{c_int, c_uint, c_void};

/// The least and the greatest priority of the current device's streams; greater ones have smaller numbers.
pub(crate) unsafe fn priorities(p: &Platform) -> Result<(c_int, c_int)> {
    let (mut least, mut greatest) = (0, 0);
    // SAFETY: S1, S3: both out-pointers are live; the caller made the device current.
    call!(p, hipDeviceGetStreamPriorityRange(&mut least, &mut greatest))?;
    Ok((least, greatest))
}

pub(crate) unsafe fn create_with_priority(
    p: &Platform,
    flags: c_uint,
    priority: c_int,
) -> Result<Handle<ihipStream_t>> {
    let mut stream = std::ptr::null_mut();
    // SAFETY: S1, S3: the out-pointer is live; the caller made the device current.
    call!(p, hipStreamCreateWithPriority(&mut stream, flags, priority))?;
    Ok(Handle::new(stream))
}

pub(crate) unsafe fn priority(p: &Platform, stream: hipStream_t) -> Result<c_int> {
    let mut priority = 0;
    // SAFETY: S1: the stream is live, and so is the out-pointer.
    call!(p, hipStreamGetPriority(stream, &mut priority))?;
    Ok(priority)
}

/// The function for [`launch_host`].
pub(crate) fn host_launcher(p: &Platform) -> std::result::Result<hipLaunchHostFunc_fn, Unsupported> {
    p.hip().hipLaunchHostFunc.get()
}

pub(crate) unsafe fn launch_host(
    p: &Platform,
    launcher: hipLaunchHostFunc_fn,
    stream: hipStream_t,
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
) -> Result<()> {
    // SAFETY: S1, S4: the stream is live; the caller vouches for the function and what it gets.
    status(p, "hipLaunchHostFunc", unsafe { launcher(stream, Some(function), data) })
}
