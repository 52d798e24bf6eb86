//! Functions that this platform does not offer: memory shared between processes. A device's memory is this
//! process's heap, which no other process can map.
#![allow(non_snake_case, reason = "HIP's names")]

use crate::context::status;
use hip_sys::hip::{hipError_t, hipIpcMemHandle_t};
use std::ffi::{c_uint, c_void};

fn unsupported() -> hipError_t {
    status(Err(hipError_t::hipErrorNotSupported))
}

macro_rules! unsupported {
    ($($name:ident($($argument:ty),*);)*) => {
        $(pub(super) unsafe extern "C" fn $name($(_: $argument),*) -> hipError_t {
            unsupported()
        })*
    };
}

unsupported! {
    hipIpcGetMemHandle(*mut hipIpcMemHandle_t, *mut c_void);
    hipIpcOpenMemHandle(*mut *mut c_void, hipIpcMemHandle_t, c_uint);
    hipIpcCloseMemHandle(*mut c_void);
}
