//! Errors: their names, and the last one of the calling thread.
#![allow(non_snake_case, reason = "HIP's names")]

use crate::context;
use hip_sys::hip::hipError_t;
use hip_sys::provider;
use std::ffi::c_char;

pub(super) unsafe extern "C" fn hipGetErrorName(error: hipError_t) -> *const c_char {
    provider::error_name(error).as_ptr()
}

pub(super) unsafe extern "C" fn hipGetErrorString(error: hipError_t) -> *const c_char {
    provider::error_text(error).as_ptr()
}

pub(super) unsafe extern "C" fn hipGetLastError() -> hipError_t {
    context::take_last_error()
}

pub(super) unsafe extern "C" fn hipPeekAtLastError() -> hipError_t {
    context::last_error()
}

pub(super) unsafe extern "C" fn hipExtGetLastError() -> hipError_t {
    context::take_last_error()
}
