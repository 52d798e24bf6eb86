//! Copies and fills.
#![allow(non_snake_case, reason = "HIP's names")]

use super::captures::is_capturing;
use super::memory::{MemoryType, memory_type};
use crate::context::{self, Outcome, check, driver, enter, status};
use crate::driver::Stream;
use crate::handles::stream_of;
use crate::library::copy_rows;
use hip_sys::hip::{hipDeviceptr_t, hipError_t, hipMemcpyKind, hipStream_t};
use std::ffi::{c_int, c_uchar, c_ushort, c_void};

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;

/// Whether the copy kind declares each side as device memory; `None` if the driver has to find out.
fn sides(kind: hipMemcpyKind) -> Result<Option<(bool, bool)>, hipError_t> {
    match kind {
        hipMemcpyKind::hipMemcpyHostToHost => Ok(Some((false, false))),
        hipMemcpyKind::hipMemcpyHostToDevice => Ok(Some((false, true))),
        hipMemcpyKind::hipMemcpyDeviceToHost => Ok(Some((true, false))),
        hipMemcpyKind::hipMemcpyDeviceToDevice | hipMemcpyKind::hipMemcpyDeviceToDeviceNoCU => {
            Ok(Some((true, true)))
        }
        hipMemcpyKind::hipMemcpyDefault => Ok(None),
        _ => Err(hipError_t::hipErrorInvalidMemcpyDirection),
    }
}

/// Whether an address that the driver does not know may be device memory: memory that a graph will allocate.
fn may_come(stream: Option<Stream>) -> bool {
    stream.is_some_and(is_capturing)
}

/// Checks one side against the declared kind. The driver trusts the declaration and would read a device
/// address on the CPU.
fn fits(address: *const c_void, said_device: bool, stream: Option<Stream>) -> Outcome {
    let bad = match memory_type(address)? {
        MemoryType::Unknown => said_device && !may_come(stream),
        MemoryType::Device => !said_device,
        MemoryType::Host | MemoryType::Managed => false,
    };
    if bad { Err(VALUE) } else { Ok(()) }
}

/// Checks the arguments of a copy. `stream`: where it will be queued; `None` if it runs at once.
fn check_sides(
    to: *const c_void,
    from: *const c_void,
    kind: hipMemcpyKind,
    stream: Option<Stream>,
) -> Outcome {
    let said = sides(kind)?;
    if to.is_null() || from.is_null() {
        return Err(VALUE);
    }
    let Some((from_device, to_device)) = said else { return Ok(()) };
    fits(from, from_device, stream)?;
    fits(to, to_device, stream)
}

/// Queues a copy. The driver finds out where each side is.
fn enqueue(
    stream: Stream,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: hipMemcpyKind,
) -> Outcome {
    check_sides(to, from, kind, Some(stream))?;
    // SAFETY: S2, S11: the driver checks the ranges that it knows; the program guarantees pageable memory.
    check(unsafe { (driver().cuMemcpyAsync)(to as u64, from as u64, size, stream) })
}

pub(super) unsafe extern "C" fn hipMemcpy(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    status((|| {
        enter()?;
        if size == 0 {
            return Ok(());
        }
        check_sides(to, from, kind, None)?;
        // SAFETY: S2, S11: as in `enqueue`.
        check(unsafe { (driver().cuMemcpy)(to as u64, from as u64, size) })
    })())
}

pub(super) unsafe extern "C" fn hipMemcpyAsync(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    status(stream_of(stream).and_then(
        |(stream, _)| {
            if size == 0 { Ok(()) } else { enqueue(stream, to, from, size, kind) }
        },
    ))
}

pub(super) unsafe extern "C" fn hipMemcpyWithStream(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    status(stream_of(stream).and_then(|(stream, _)| {
        if size == 0 {
            return Ok(());
        }
        enqueue(stream, to, from, size, kind)?;
        if is_capturing(stream) {
            return Ok(());
        }
        // SAFETY: S11: a live stream.
        check(unsafe { (driver().cuStreamSynchronize)(stream) })
    }))
}

/// The stream, or `None` if the size is zero; an error if an address is null.
fn one_way(
    to: *const c_void,
    from: *const c_void,
    size: usize,
    stream: hipStream_t,
) -> Result<Option<Stream>, hipError_t> {
    let (stream, _) = stream_of(stream)?;
    if size == 0 {
        return Ok(None);
    }
    if to.is_null() || from.is_null() { Err(VALUE) } else { Ok(Some(stream)) }
}

pub(super) unsafe extern "C" fn hipMemcpyHtoDAsync(
    to: hipDeviceptr_t,
    from: *const c_void,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    status(one_way(to, from, size, stream).and_then(|stream| {
        let Some(stream) = stream else { return Ok(()) };
        // SAFETY: S2, S7, S11: the driver checks the device's range; the program guarantees the host's.
        check(unsafe { (driver().cuMemcpyHtoDAsync)(to as u64, from, size, stream) })
    }))
}

pub(super) unsafe extern "C" fn hipMemcpyDtoHAsync(
    to: *mut c_void,
    from: hipDeviceptr_t,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    status(one_way(to, from, size, stream).and_then(|stream| {
        let Some(stream) = stream else { return Ok(()) };
        // SAFETY: S2, S7, S11: as above.
        check(unsafe { (driver().cuMemcpyDtoHAsync)(to, from as u64, size, stream) })
    }))
}

pub(super) unsafe extern "C" fn hipMemcpyDtoDAsync(
    to: hipDeviceptr_t,
    from: hipDeviceptr_t,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    status(one_way(to, from, size, stream).and_then(|stream| {
        let Some(stream) = stream else { return Ok(()) };
        // SAFETY: S2: the driver checks both ranges.
        check(unsafe { (driver().cuMemcpyDtoDAsync)(to as u64, from as u64, size, stream) })
    }))
}

pub(super) unsafe extern "C" fn hipMemcpyPeerAsync(
    to: *mut c_void,
    to_device: c_int,
    from: *const c_void,
    from_device: c_int,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    status((|| {
        let (to_context, from_context) =
            (context::get(to_device)?.context()?, context::get(from_device)?.context()?);
        let Some(stream) = one_way(to, from, size, stream)? else { return Ok(()) };
        if is_capturing(stream) {
            // The driver can capture only the general form of the copy. It derives the devices from the
            // addresses.
            // SAFETY: S2: the driver checks both ranges.
            return check(unsafe { (driver().cuMemcpyAsync)(to as u64, from as u64, size, stream) });
        }
        // SAFETY: S2: the driver checks both ranges; the contexts stay retained.
        check(unsafe {
            (driver().cuMemcpyPeerAsync)(to as u64, to_context, from as u64, from_context, size, stream)
        })
    })())
}

pub(super) unsafe extern "C" fn hipMemcpy2DAsync(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    status(stream_of(stream).and_then(|(stream, _)| {
        if width == 0 || height == 0 {
            return Ok(());
        }
        if to_pitch < width || from_pitch < width {
            return Err(hipError_t::hipErrorInvalidPitchValue);
        }
        check_sides(to, from, kind, Some(stream))?;
        // SAFETY: S2, S11: the driver checks the ranges that it knows.
        unsafe { copy_rows((to, to_pitch), (from, from_pitch), width, height, stream) }
    }))
}

/// Checks the arguments of a fill. `None` if there is nothing to fill.
fn fill(
    to: *mut c_void,
    size: usize,
    count: usize,
    stream: Option<Stream>,
) -> Result<Option<u64>, hipError_t> {
    if count == 0 {
        return Ok(None);
    }
    count.checked_mul(size).ok_or(VALUE)?;
    // The driver treats a null address as an offset and may report the error only later.
    if to.is_null() || (memory_type(to)? == MemoryType::Unknown && !may_come(stream)) {
        Err(VALUE)
    } else {
        Ok(Some(to as u64))
    }
}

pub(super) unsafe extern "C" fn hipMemset(to: *mut c_void, value: c_int, size: usize) -> hipError_t {
    status((|| {
        enter()?;
        let Some(to) = fill(to, 1, size, None)? else { return Ok(()) };
        // SAFETY: S2: the driver checks the range.
        check(unsafe { (driver().cuMemsetD8)(to, value as u8, size) })
    })())
}

macro_rules! fills {
    ($($name:ident($value:ty, $size:expr) calls $call:ident as $cast:ty;)*) => {
        $(pub(super) unsafe extern "C" fn $name(
            to: *mut c_void,
            value: $value,
            count: usize,
            stream: hipStream_t,
        ) -> hipError_t {
            status(stream_of(stream).and_then(|(stream, _)| {
                let Some(to) = fill(to, $size, count, Some(stream))? else { return Ok(()) };
                // SAFETY: S2: the driver checks the range and the alignment.
                check(unsafe { (driver().$call)(to, value as $cast, count, stream) })
            }))
        })*
    };
}

fills! {
    hipMemsetAsync(c_int, 1) calls cuMemsetD8Async as u8;
    hipMemsetD8Async(c_uchar, 1) calls cuMemsetD8Async as u8;
    hipMemsetD16Async(c_ushort, 2) calls cuMemsetD16Async as u16;
    hipMemsetD32Async(c_int, 4) calls cuMemsetD32Async as u32;
}
