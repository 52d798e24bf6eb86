//! rocFFT's C functions on the threads of the CPU, by the crates rustfft and realfft: the rocFFT of the platform hip-host.
//!
//! rocfft-safe uses this crate if its feature `host` is on; C's functions are in [`library()`]'s table.
//!
//! ```
//! use hip_sys::hip::hipMemcpyKind;
//! use hip_sys::rocfft::*;
//! use std::ptr::null_mut;
//!
//! let hip = hip_host::platform();
//! let rocfft = hip_host_rocfft::library();
//! let (mut plan, mut memory, lengths) = (null_mut(), null_mut(), [4_usize]);
//! // Two f32 a complex number.
//! let mut numbers = [1.0_f32, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0];
//! // SAFETY: S1, S11: live variables, memory of four complex numbers, and a plan that is destroyed last.
//! unsafe {
//!     let (hip, table) = (hip.hip(), rocfft.table());
//!     assert_eq!((hip.hipMalloc)(&mut memory, 32).0, 0);
//!     assert_eq!((hip.hipMemcpy)(memory, numbers.as_ptr().cast(), 32, hipMemcpyKind::hipMemcpyHostToDevice).0, 0);
//!     let made = (table.rocfft_plan_create)(
//!         &mut plan,
//!         rocfft_result_placement::rocfft_placement_inplace,
//!         rocfft_transform_type::rocfft_transform_type_complex_forward,
//!         rocfft_precision::rocfft_precision_single,
//!         1,
//!         lengths.as_ptr(),
//!         1,
//!         null_mut(),
//!     );
//!     assert_eq!(made, rocfft_status::rocfft_status_success);
//!     let done = (table.rocfft_execute)(plan, &mut memory, null_mut(), null_mut());
//!     assert_eq!(done, rocfft_status::rocfft_status_success);
//!     assert_eq!((hip.hipMemcpy)(numbers.as_mut_ptr().cast(), memory, 32, hipMemcpyKind::hipMemcpyDeviceToHost).0, 0);
//!     (table.rocfft_plan_destroy)(plan);
//!     (hip.hipFree)(memory);
//! }
//! assert_eq!(numbers, [10.0, 0.0, -2.0, 2.0, -2.0, 0.0, -2.0, -2.0]);
//! ```
//!
//! Complex numbers are interleaved: planar arrays, half precision, callbacks and the cache of compiled kernels are refused. A plan needs no work
//! buffer.

mod geometry;
mod objects;
mod status;
mod table;
mod transform;

pub use hip_host::library::serves;

use hip_sys::{Rocfft, Version};

/// The version of rocFFT whose behaviour this follows.
const VERSION: Version = Version { major: 1, minor: 0, patch: 36 };

/// The library.
pub fn library() -> Rocfft {
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    unsafe { Rocfft::from_table(VERSION, "hip-host".into(), table::functions()) }
}
