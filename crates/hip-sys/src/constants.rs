//! Constants that bindgen cannot read from the headers, and the layouts that this crate relies on.

use crate::hip::{hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipIpcMemHandle_st, hipPointerAttribute_t};
use core::ffi::c_void;
use core::mem::{offset_of, size_of};

/// In the `extra` list of a launch: the next entry is the address of the packed arguments.
pub const HIP_LAUNCH_PARAM_BUFFER_POINTER: *mut c_void = core::ptr::without_provenance_mut(1);
/// In the `extra` list of a launch: the next entry is the address of their size.
pub const HIP_LAUNCH_PARAM_BUFFER_SIZE: *mut c_void = core::ptr::without_provenance_mut(2);
/// Ends the `extra` list of a launch (3 in HIP; 0 in CUDA).
pub const HIP_LAUNCH_PARAM_END: *mut c_void = core::ptr::without_provenance_mut(3);

// Two layouts of the device properties: the export `hipGetDeviceProperties` fills the one from before 6.0,
// `hipGetDevicePropertiesR0600` the later one. bindgen asserts every field; this crate relies on these.
const _: () = {
    assert!(size_of::<hipDeviceProp_tR0600>() == 1472);
    assert!(offset_of!(hipDeviceProp_tR0600, gcnArchName) == 1160);
    assert!(offset_of!(hipDeviceProp_tR0000, gcnArchName) == 396);
    assert!(size_of::<hipPointerAttribute_t>() == 32);
    assert!(offset_of!(hipPointerAttribute_t, type_) == 0);
    assert!(size_of::<hipIpcMemHandle_st>() == 64);
};
