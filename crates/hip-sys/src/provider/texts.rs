//! Texts that rocBLAS and rocSOLVER answer.

use crate::rocblas::rocblas_status;
use std::ffi::{CStr, c_char};

/// Writes a version's text for C, as rocBLAS and rocSOLVER answer it.
///
/// # Safety
/// `out` is null or has `len` bytes.
pub unsafe fn give_version(text: &CStr, out: *mut c_char, len: usize) -> rocblas_status {
    let bytes = text.to_bytes_with_nul().len();
    if out.is_null() {
        return rocblas_status::rocblas_status_invalid_pointer;
    }
    if len < bytes {
        return rocblas_status::rocblas_status_invalid_size;
    }
    // SAFETY: S11: the caller's buffer has so many bytes.
    unsafe { out.copy_from_nonoverlapping(text.as_ptr(), bytes) };
    rocblas_status::rocblas_status_success
}

/// The C name of a status, as rocBLAS answers it.
#[doc(alias = "rocblas_status_to_string")]
pub fn rocblas_status_name(status: rocblas_status) -> &'static CStr {
    const NAMES: [&CStr; 16] = [
        c"rocblas_status_success",
        c"rocblas_status_invalid_handle",
        c"rocblas_status_not_implemented",
        c"rocblas_status_invalid_pointer",
        c"rocblas_status_invalid_size",
        c"rocblas_status_memory_error",
        c"rocblas_status_internal_error",
        c"rocblas_status_perf_degraded",
        c"rocblas_status_size_query_mismatch",
        c"rocblas_status_size_increased",
        c"rocblas_status_size_unchanged",
        c"rocblas_status_invalid_value",
        c"rocblas_status_continue",
        c"rocblas_status_check_numerics_fail",
        c"rocblas_status_excluded_from_build",
        c"rocblas_status_arch_mismatch",
    ];
    NAMES.get(status.0 as usize).copied().unwrap_or(c"<undefined rocblas_status value>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_the_headers_names() {
        for status in (0..17).map(rocblas_status) {
            let known = crate::layout::ROCBLAS.status_name("rocblas_status_", status.0);
            let known = if status.0 < 16 { known } else { "<undefined rocblas_status value>" };
            assert_eq!(rocblas_status_name(status).to_str(), Ok(known));
        }
    }
}
