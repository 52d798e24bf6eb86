//! Functions for handles and their settings, the version, and the names of statuses.
#![allow(non_snake_case, reason = "rocBLAS's names")]

use super::check::{Outcome, POINTER, SIZE, VALUE, ensure, status, there};
use super::convert::{self, AtomicsMode, PointerMode};
use super::handle::{self, Handle, Workspace, handle_of};
use super::library;
use super::table::present;
use hip_sys::RocblasTable;
use hip_sys::hip::hipStream_t;
use hip_sys::rocblas::{rocblas_atomics_mode, rocblas_handle, rocblas_math_mode, rocblas_performance_metric};
use hip_sys::rocblas::{rocblas_pointer_mode, rocblas_status};
use std::ffi::{c_char, c_void};
use std::sync::atomic::Ordering::Relaxed;

pub(super) fn fill(table: &mut RocblasTable) {
    table.rocblas_create_handle = rocblas_create_handle;
    table.rocblas_destroy_handle = rocblas_destroy_handle;
    table.rocblas_set_stream = rocblas_set_stream;
    table.rocblas_get_stream = rocblas_get_stream;
    table.rocblas_set_pointer_mode = rocblas_set_pointer_mode;
    table.rocblas_get_pointer_mode = rocblas_get_pointer_mode;
    table.rocblas_set_atomics_mode = rocblas_set_atomics_mode;
    table.rocblas_get_atomics_mode = rocblas_get_atomics_mode;
    present(&mut table.rocblas_set_math_mode, rocblas_set_math_mode);
    present(&mut table.rocblas_get_math_mode, rocblas_get_math_mode);
    table.rocblas_set_performance_metric = rocblas_set_performance_metric;
    table.rocblas_get_performance_metric = rocblas_get_performance_metric;
    table.rocblas_set_workspace = rocblas_set_workspace;
    table.rocblas_get_device_memory_size = rocblas_get_device_memory_size;
    table.rocblas_is_managing_device_memory = rocblas_is_managing_device_memory;
    table.rocblas_start_device_memory_size_query = rocblas_start_device_memory_size_query;
    table.rocblas_stop_device_memory_size_query = rocblas_stop_device_memory_size_query;
    table.rocblas_initialize = rocblas_initialize;
    table.rocblas_get_version_string = rocblas_get_version_string;
    table.rocblas_get_version_string_size = rocblas_get_version_string_size;
    table.rocblas_status_to_string = rocblas_status_to_string;
}

/// The alignment of a workspace that cuBLAS requires.
const WORKSPACE_ALIGN: usize = 256;

/// Calls a function with the object of a handle.
fn set(handle: rocblas_handle, change: impl FnOnce(&Handle) -> Outcome) -> rocblas_status {
    status(handle_of(handle).and_then(|handle| change(&handle)))
}

/// Writes a handle's setting through the caller's output pointer.
///
/// # Safety
/// The output pointer is null or live.
unsafe fn get<T>(handle: rocblas_handle, out: *mut T, ask: impl FnOnce(&Handle) -> T) -> rocblas_status {
    set(handle, |handle| {
        there(out)?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { out.write(ask(handle)) };
        Ok(())
    })
}

unsafe extern "C" fn rocblas_create_handle(out: *mut rocblas_handle) -> rocblas_status {
    if out.is_null() {
        return rocblas_status::rocblas_status_invalid_handle;
    }
    // SAFETY: S11: the caller's output pointer for the result.
    status(handle::insert().map(|made| unsafe { out.write(made) }))
}

unsafe extern "C" fn rocblas_destroy_handle(handle: rocblas_handle) -> rocblas_status {
    handle::remove(handle)
}

unsafe extern "C" fn rocblas_set_stream(handle: rocblas_handle, stream: hipStream_t) -> rocblas_status {
    set(handle, |handle| handle.set_stream(stream))
}

unsafe extern "C" fn rocblas_get_stream(handle: rocblas_handle, out: *mut hipStream_t) -> rocblas_status {
    // SAFETY: S11: the caller's output pointer.
    unsafe { get(handle, out, Handle::stream) }
}

unsafe extern "C" fn rocblas_set_pointer_mode(
    handle: rocblas_handle,
    mode: rocblas_pointer_mode,
) -> rocblas_status {
    set(handle, |handle| {
        ensure(mode.0 <= 1, VALUE)?;
        handle.set_pointer_mode(PointerMode(mode.0))
    })
}

unsafe extern "C" fn rocblas_get_pointer_mode(
    handle: rocblas_handle,
    out: *mut rocblas_pointer_mode,
) -> rocblas_status {
    // SAFETY: S11: the caller's output pointer.
    unsafe { get(handle, out, |handle| rocblas_pointer_mode(handle.pointer_mode.load(Relaxed))) }
}

unsafe extern "C" fn rocblas_set_atomics_mode(
    handle: rocblas_handle,
    mode: rocblas_atomics_mode,
) -> rocblas_status {
    set(handle, |handle| {
        ensure(mode.0 <= 1, VALUE)?;
        handle.set_atomics_mode(AtomicsMode(mode.0))
    })
}

unsafe extern "C" fn rocblas_get_atomics_mode(
    handle: rocblas_handle,
    out: *mut rocblas_atomics_mode,
) -> rocblas_status {
    // SAFETY: S11: the caller's output pointer.
    unsafe { get(handle, out, |handle| rocblas_atomics_mode(handle.atomics_mode.load(Relaxed))) }
}

/// xf32 is AMD's name for NVIDIA's TF32: products of 32-bit elements with a reduced mantissa.
unsafe extern "C" fn rocblas_set_math_mode(
    handle: rocblas_handle,
    mode: rocblas_math_mode,
) -> rocblas_status {
    set(handle, |handle| {
        ensure(mode.0 <= 1, VALUE)?;
        handle.set_math_mode(mode.0, convert::math_mode(mode))
    })
}

unsafe extern "C" fn rocblas_get_math_mode(
    handle: rocblas_handle,
    out: *mut rocblas_math_mode,
) -> rocblas_status {
    // SAFETY: S11: the caller's output pointer.
    unsafe { get(handle, out, |handle| rocblas_math_mode(handle.math_mode.load(Relaxed))) }
}

/// Stored without effect: cuBLAS has no such setting.
unsafe extern "C" fn rocblas_set_performance_metric(
    handle: rocblas_handle,
    metric: rocblas_performance_metric,
) -> rocblas_status {
    set(handle, |handle| {
        ensure(metric.0 <= 2, VALUE)?;
        handle.metric.store(metric.0, Relaxed);
        Ok(())
    })
}

unsafe extern "C" fn rocblas_get_performance_metric(
    handle: rocblas_handle,
    out: *mut rocblas_performance_metric,
) -> rocblas_status {
    // SAFETY: S11: the caller's output pointer.
    unsafe { get(handle, out, |handle| rocblas_performance_metric(handle.metric.load(Relaxed))) }
}

/// Null or 0 bytes: cuBLAS uses its own memory again.
unsafe extern "C" fn rocblas_set_workspace(
    handle: rocblas_handle,
    start: *mut c_void,
    bytes: usize,
) -> rocblas_status {
    set(handle, |handle| {
        let start = if bytes == 0 { 0 } else { start as usize };
        ensure(start.is_multiple_of(WORKSPACE_ALIGN), POINTER)?;
        handle.set_workspace(Workspace { start, bytes: if start == 0 { 0 } else { bytes } })
    })
}

/// The size of the program's workspace; 0 while cuBLAS uses its own memory, whose size it does not report.
unsafe extern "C" fn rocblas_get_device_memory_size(
    handle: rocblas_handle,
    out: *mut usize,
) -> rocblas_status {
    // SAFETY: S11: the caller's output pointer.
    unsafe { get(handle, out, |handle| handle.workspace().bytes) }
}

unsafe extern "C" fn rocblas_is_managing_device_memory(handle: rocblas_handle) -> bool {
    handle_of(handle).is_ok_and(|handle| handle.workspace().start == 0)
}

unsafe extern "C" fn rocblas_start_device_memory_size_query(handle: rocblas_handle) -> rocblas_status {
    set(handle, |handle| {
        let open = handle.querying.swap(true, Relaxed);
        ensure(!open, rocblas_status::rocblas_status_size_query_mismatch)
    })
}

unsafe extern "C" fn rocblas_stop_device_memory_size_query(
    handle: rocblas_handle,
    out: *mut usize,
) -> rocblas_status {
    set(handle, |handle| {
        let open = handle.querying.load(Relaxed);
        ensure(open, rocblas_status::rocblas_status_size_query_mismatch)?;
        there(out)?;
        handle.querying.store(false, Relaxed);
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { out.write(0) };
        Ok(())
    })
}

/// cuBLAS is initialised when its first handle is created.
unsafe extern "C" fn rocblas_initialize() {}

/// The rocBLAS version whose behaviour this follows, with cuBLAS's version where rocBLAS has the commit.
fn version_string() -> String {
    let [major, minor, patch] = library::open().map(library::version).unwrap_or_default();
    let rocblas = super::VERSION;
    format!("{}.{}.{}.cublas-{major}.{minor}.{patch}", rocblas.major, rocblas.minor, rocblas.patch)
}

unsafe extern "C" fn rocblas_get_version_string(out: *mut c_char, length: usize) -> rocblas_status {
    status((|| {
        there(out)?;
        let text = version_string();
        ensure(length > text.len(), SIZE)?;
        // SAFETY: S11: the caller's buffer, which is long enough for the text and its zero byte.
        unsafe {
            out.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
            out.add(text.len()).write(0);
        }
        Ok(())
    })())
}

unsafe extern "C" fn rocblas_get_version_string_size(out: *mut usize) -> rocblas_status {
    // SAFETY: S11: the caller's output pointer for the result.
    status(there(out).map(|()| unsafe { out.write(version_string().len() + 1) }))
}

unsafe extern "C" fn rocblas_status_to_string(status: rocblas_status) -> *const c_char {
    hip_sys::provider::rocblas_status_name(status).as_ptr()
}
