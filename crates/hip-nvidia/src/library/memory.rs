//! Stream-ordered copies and fills.

use super::{RawStream, opened};
use crate::context::check;
use cudarc::driver::sys::{CUDA_MEMCPY2D_st, CUmemorytype_enum};
use hip_sys::hip::hipError_t;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// Copies bytes of the device's memory.
///
/// # Errors
/// The driver refuses.
///
/// # Safety
/// Both ranges are memory of the stream's device, of so many bytes, and stay allocated until the stream has copied them. They do not
/// overlap, and the stream is live.
pub unsafe fn copy(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    stream: RawStream,
) -> Result<(), hipError_t> {
    // SAFETY: S2, S11: the caller vouches for the memory and the stream.
    check(unsafe { (opened()?.driver.cuMemcpyDtoDAsync)(to as u64, from as u64, bytes, stream) })
}

/// Copies so many rows of `width` bytes. Each side is the address of its first row and the distance between its rows.
///
/// # Errors
/// The driver refuses.
///
/// # Safety
/// The driver can reach both sides from the stream's device; host memory is allowed. Both have so many rows and stay allocated until
/// the stream has copied them. They do not overlap, and the stream is live.
pub unsafe fn copy_rows(
    (to, to_pitch): (*mut c_void, usize),
    (from, from_pitch): (*const c_void, usize),
    width: usize,
    rows: usize,
    stream: RawStream,
) -> Result<(), hipError_t> {
    let unified = CUmemorytype_enum::CU_MEMORYTYPE_UNIFIED;
    let copy = CUDA_MEMCPY2D_st {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: unified,
        srcHost: null(),
        srcDevice: from as u64,
        srcArray: null_mut(),
        srcPitch: from_pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: unified,
        dstHost: null_mut(),
        dstDevice: to as u64,
        dstArray: null_mut(),
        dstPitch: to_pitch,
        WidthInBytes: width,
        Height: rows,
    };
    // SAFETY: S2, S11: the caller vouches for the memory and the stream; the driver reads the description before it returns.
    check(unsafe { (opened()?.driver.cuMemcpy2DAsync)(&copy, stream) })
}

/// Sets bytes of the device's memory to zero.
///
/// # Errors
/// The driver refuses.
///
/// # Safety
/// The range is memory of the stream's device and stays allocated until the stream has written it; the stream is live.
pub unsafe fn fill_with_zeros(to: *mut c_void, bytes: usize, stream: RawStream) -> Result<(), hipError_t> {
    // SAFETY: S2, S11: the caller vouches for the memory and the stream.
    check(unsafe { (opened()?.driver.cuMemsetD8Async)(to as u64, 0, bytes, stream) })
}

/// Sets the first `words` words of 32 bits of so many rows to a number. The rows begin at the address, `pitch` bytes from one to the next.
///
/// # Errors
/// The driver refuses.
///
/// # Safety
/// The rows are memory of the stream's device and stay allocated until the stream has written them; the stream is live.
pub unsafe fn fill_rows(
    (to, pitch): (*mut c_void, usize),
    number: u32,
    words: usize,
    rows: usize,
    stream: RawStream,
) -> Result<(), hipError_t> {
    // SAFETY: S2, S11: the caller vouches for the memory and the stream.
    check(unsafe { (opened()?.driver.cuMemsetD2D32Async)(to as u64, pitch, number, words, rows, stream) })
}
