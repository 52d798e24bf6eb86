//! The functions of handles, and functions that take none.
#![allow(non_snake_case, reason = "rocBLAS's names")]

use crate::check::{HANDLE, MISMATCH, Outcome, POINTER, SIZE, SUCCESS, VALUE, ensure};
use crate::handle::{self, Settings, WORKSPACE, get, status, there};
use hip_sys::RocblasTable;
use hip_sys::hip::hipStream_t;
use hip_sys::rocblas::{
    rocblas_atomics_mode, rocblas_handle, rocblas_math_mode, rocblas_performance_metric,
    rocblas_pointer_mode, rocblas_status,
};
use std::ffi::{CStr, c_char, c_void};

/// The result of rocblas_get_version_string.
const VERSION: &CStr = c"4.4.0.hip-host";

/// Puts the functions into the table.
pub(crate) fn fill(table: &mut RocblasTable) {
    *table = RocblasTable {
        rocblas_create_handle,
        rocblas_destroy_handle,
        rocblas_set_stream,
        rocblas_get_stream,
        rocblas_set_pointer_mode,
        rocblas_get_pointer_mode,
        rocblas_set_atomics_mode,
        rocblas_get_atomics_mode,
        rocblas_set_math_mode: hip_sys::Optional::present(
            rocblas_set_math_mode,
            "rocblas_set_math_mode",
            "5.7",
        ),
        rocblas_get_math_mode: hip_sys::Optional::present(
            rocblas_get_math_mode,
            "rocblas_get_math_mode",
            "5.7",
        ),
        rocblas_set_performance_metric,
        rocblas_get_performance_metric,
        rocblas_get_version_string,
        rocblas_get_version_string_size,
        rocblas_status_to_string,
        rocblas_initialize,
        rocblas_set_workspace,
        rocblas_set_device_memory_size,
        rocblas_get_device_memory_size,
        rocblas_is_managing_device_memory,
        rocblas_start_device_memory_size_query,
        rocblas_stop_device_memory_size_query,
        ..*table
    };
}

/// Changes a setting of a handle.
fn change(handle: rocblas_handle, act: impl FnOnce(&mut Settings) -> Outcome) -> rocblas_status {
    status(get(handle).and_then(|handle| act(&mut handle.settings.lock())))
}

/// Returns a setting of a handle.
///
/// # Safety
/// The pointer is null or writable.
unsafe fn give<T>(handle: rocblas_handle, out: *mut T, which: impl FnOnce(&Settings) -> T) -> rocblas_status {
    status(get(handle).and_then(|handle| {
        there(out)?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { out.write(which(&handle.settings.lock())) };
        Ok(())
    }))
}

unsafe extern "C" fn rocblas_create_handle(out: *mut rocblas_handle) -> rocblas_status {
    if out.is_null() {
        return HANDLE;
    }
    // SAFETY: S11: the caller's output pointer for the result.
    unsafe { out.write(handle::create()) };
    SUCCESS
}

unsafe extern "C" fn rocblas_destroy_handle(handle: rocblas_handle) -> rocblas_status {
    status(handle::destroy(handle))
}

unsafe extern "C" fn rocblas_set_stream(handle: rocblas_handle, stream: hipStream_t) -> rocblas_status {
    status(get(handle).and_then(|handle| {
        handle.stream_of(stream as usize).map_err(|_| VALUE)?;
        handle.settings.lock().stream = stream as usize;
        Ok(())
    }))
}

unsafe extern "C" fn rocblas_get_stream(handle: rocblas_handle, out: *mut hipStream_t) -> rocblas_status {
    // SAFETY: S11: the caller's output pointer for the result.
    unsafe { give(handle, out, |settings| settings.stream as hipStream_t) }
}

unsafe extern "C" fn rocblas_set_pointer_mode(
    handle: rocblas_handle,
    mode: rocblas_pointer_mode,
) -> rocblas_status {
    let known =
        [rocblas_pointer_mode::rocblas_pointer_mode_host, rocblas_pointer_mode::rocblas_pointer_mode_device]
            .contains(&mode);
    change(handle, |settings| {
        ensure(known, VALUE)?;
        settings.pointers = mode;
        Ok(())
    })
}

unsafe extern "C" fn rocblas_get_pointer_mode(
    handle: rocblas_handle,
    out: *mut rocblas_pointer_mode,
) -> rocblas_status {
    // SAFETY: S11: the caller's output pointer for the result.
    unsafe { give(handle, out, |settings| settings.pointers) }
}

/// Sums are the same in either mode, so the mode is only stored.
unsafe extern "C" fn rocblas_set_atomics_mode(
    handle: rocblas_handle,
    mode: rocblas_atomics_mode,
) -> rocblas_status {
    change(handle, |settings| {
        settings.atomics = mode;
        Ok(())
    })
}

unsafe extern "C" fn rocblas_get_atomics_mode(
    handle: rocblas_handle,
    out: *mut rocblas_atomics_mode,
) -> rocblas_status {
    // SAFETY: S11: the caller's output pointer for the result.
    unsafe { give(handle, out, |settings| settings.atomics) }
}

/// As on a card without XF32, the result is always the default mode.
unsafe extern "C" fn rocblas_set_math_mode(
    handle: rocblas_handle,
    mode: rocblas_math_mode,
) -> rocblas_status {
    change(handle, |settings| {
        if mode == rocblas_math_mode::rocblas_default_math {
            settings.math = mode;
        }
        Ok(())
    })
}

unsafe extern "C" fn rocblas_get_math_mode(
    handle: rocblas_handle,
    out: *mut rocblas_math_mode,
) -> rocblas_status {
    // SAFETY: S11: the caller's output pointer for the result.
    unsafe { give(handle, out, |settings| settings.math) }
}

unsafe extern "C" fn rocblas_set_performance_metric(
    handle: rocblas_handle,
    metric: rocblas_performance_metric,
) -> rocblas_status {
    change(handle, |settings| {
        settings.metric = metric;
        Ok(())
    })
}

unsafe extern "C" fn rocblas_get_performance_metric(
    handle: rocblas_handle,
    out: *mut rocblas_performance_metric,
) -> rocblas_status {
    // SAFETY: S11: the caller's output pointer for the result.
    unsafe { give(handle, out, |settings| settings.metric) }
}

unsafe extern "C" fn rocblas_get_version_string(out: *mut c_char, len: usize) -> rocblas_status {
    let text = VERSION.to_bytes_with_nul();
    if out.is_null() {
        return POINTER;
    }
    if len < text.len() {
        return SIZE;
    }
    // SAFETY: S11: the caller's output pointer is valid for `len` bytes.
    unsafe { out.copy_from_nonoverlapping(VERSION.as_ptr(), text.len()) };
    SUCCESS
}

unsafe extern "C" fn rocblas_get_version_string_size(out: *mut usize) -> rocblas_status {
    if out.is_null() {
        return POINTER;
    }
    // SAFETY: S11: the caller's output pointer for the result.
    unsafe { out.write(VERSION.to_bytes_with_nul().len()) };
    SUCCESS
}

unsafe extern "C" fn rocblas_status_to_string(status: rocblas_status) -> *const c_char {
    hip_sys::provider::rocblas_status_name(status).as_ptr()
}

unsafe extern "C" fn rocblas_initialize() {}

/// Stores the program's workspace, which nothing here uses. Null restores the library's own.
unsafe extern "C" fn rocblas_set_workspace(
    handle: rocblas_handle,
    address: *mut c_void,
    size: usize,
) -> rocblas_status {
    change(handle, |settings| {
        settings.managed = address.is_null() || size == 0;
        settings.workspace = if settings.managed { WORKSPACE } else { size };
        Ok(())
    })
}

/// Only stores the size; nothing is allocated. 0 restores the library's own choice.
unsafe extern "C" fn rocblas_set_device_memory_size(handle: rocblas_handle, size: usize) -> rocblas_status {
    change(handle, |settings| {
        settings.managed = size == 0;
        settings.workspace = if size == 0 { WORKSPACE } else { size };
        Ok(())
    })
}

unsafe extern "C" fn rocblas_get_device_memory_size(
    handle: rocblas_handle,
    out: *mut usize,
) -> rocblas_status {
    // SAFETY: S11: the caller's output pointer for the result.
    unsafe { give(handle, out, |settings| settings.workspace) }
}

unsafe extern "C" fn rocblas_is_managing_device_memory(handle: rocblas_handle) -> bool {
    get(handle).is_ok_and(|handle| handle.settings.lock().managed)
}

unsafe extern "C" fn rocblas_start_device_memory_size_query(handle: rocblas_handle) -> rocblas_status {
    change(handle, |settings| {
        ensure(!settings.asked, MISMATCH)?;
        settings.asked = true;
        Ok(())
    })
}

/// The answer is always 0: no call needs device memory.
unsafe extern "C" fn rocblas_stop_device_memory_size_query(
    handle: rocblas_handle,
    out: *mut usize,
) -> rocblas_status {
    change(handle, |settings| {
        ensure(settings.asked, MISMATCH)?;
        there(out)?;
        settings.asked = false;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { out.write(0) };
        Ok(())
    })
}
