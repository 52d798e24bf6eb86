//! Handles and their modes.

use super::call::{Failure, Result, status};
use hip_sys::hip::hipStream_t;
use hip_sys::rocblas::{rocblas_atomics_mode, rocblas_handle, rocblas_math_mode, rocblas_pointer_mode};
use hip_sys::{RocblasTable, Unsupported};
use std::ffi::c_void;

macro_rules! call {
    ($table:ident, $name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: S1, S3: each use says why its arguments are what the C function asks for.
        status(stringify!($name), unsafe { ($table.$name)($($argument),*) })
    };
}

pub(crate) unsafe fn create(table: &RocblasTable) -> Result<rocblas_handle> {
    let mut handle = std::ptr::null_mut();
    // SAFETY: S1, S3: the out-pointer is live; the caller made the device current.
    call!(table, rocblas_create_handle(&mut handle))?;
    Ok(handle)
}

pub(crate) unsafe fn destroy(table: &RocblasTable, handle: rocblas_handle) -> Result<()> {
    // SAFETY: S1, S4: the caller owns the handle and nothing uses it any more.
    call!(table, rocblas_destroy_handle(handle))
}

pub(crate) unsafe fn set_stream(
    table: &RocblasTable,
    handle: rocblas_handle,
    stream: hipStream_t,
) -> Result<()> {
    // SAFETY: S1: both handles are live and of one device.
    call!(table, rocblas_set_stream(handle, stream))
}

/// No bytes: the library's own memory.
pub(crate) unsafe fn set_workspace(
    table: &RocblasTable,
    handle: rocblas_handle,
    address: *mut c_void,
    bytes: usize,
) -> Result<()> {
    // SAFETY: S1, S2: the caller vouches for the range.
    call!(table, rocblas_set_workspace(handle, address, bytes))
}

pub(crate) unsafe fn set_pointer_mode(
    table: &RocblasTable,
    handle: rocblas_handle,
    mode: rocblas_pointer_mode,
) -> Result<()> {
    // SAFETY: S1: the handle is live and the mode one that C names.
    call!(table, rocblas_set_pointer_mode(handle, mode))
}

pub(crate) unsafe fn set_atomics_mode(
    table: &RocblasTable,
    handle: rocblas_handle,
    mode: rocblas_atomics_mode,
) -> Result<()> {
    // SAFETY: S1: the handle is live and the mode one that C names.
    call!(table, rocblas_set_atomics_mode(handle, mode))
}

/// Whether the library has such modes at all.
pub(crate) fn has_math_modes(table: &RocblasTable) -> std::result::Result<(), Unsupported> {
    table.rocblas_set_math_mode.get().map(drop)
}

pub(crate) unsafe fn set_math_mode(
    table: &RocblasTable,
    handle: rocblas_handle,
    mode: rocblas_math_mode,
) -> Result<()> {
    match table.rocblas_set_math_mode.get() {
        // SAFETY: S1: the handle is live and the mode one that C names.
        Ok(function) => status("rocblas_set_math_mode", unsafe { function(handle, mode) }),
        Err(Unsupported { symbol, since }) => Err(Failure::Absent { function: symbol, since }),
    }
}
