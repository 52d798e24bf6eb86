//! A version as text.

use crate::rocblas::rocblas_status;
use std::ffi::{CStr, c_char};

/// Writes a version's text for C, as rocBLAS and rocSOLVER answer it.
///
/// # Safety
/// The place is null or has `len` bytes.
pub unsafe fn give_version(text: &CStr, place: *mut c_char, len: usize) -> rocblas_status {
    let bytes = text.to_bytes_with_nul().len();
    if place.is_null() {
        return rocblas_status::rocblas_status_invalid_pointer;
    }
    if len < bytes {
        return rocblas_status::rocblas_status_invalid_size;
    }
    // SAFETY: S11: the caller's place has so many bytes.
    unsafe { place.copy_from_nonoverlapping(text.as_ptr(), bytes) };
    rocblas_status::rocblas_status_success
}
