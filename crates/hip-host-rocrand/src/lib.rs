//! rocRAND's C functions on the threads of the CPU: the rocRAND of the platform hip-host.
//!
//! rocrand-safe uses this crate if its feature `host` is on; C's functions are in [`library()`]'s table.
//!
//! ```
//! use hip_sys::hip::hipMemcpyKind;
//! use hip_sys::rocrand::{rocrand_rng_type, rocrand_status};
//! use std::ptr::null_mut;
//!
//! let hip = hip_host::platform();
//! let rocrand = hip_host_rocrand::library();
//! let (mut generator, mut memory, mut numbers) = (null_mut(), null_mut(), [0_u32; 4]);
//! let to_host = hipMemcpyKind::hipMemcpyDeviceToHost;
//! // SAFETY: S1, S11: live variables, memory of four numbers, and a generator that is destroyed last.
//! unsafe {
//!     let table = rocrand.table();
//!     let philox = rocrand_rng_type::ROCRAND_RNG_PSEUDO_PHILOX4_32_10;
//!     assert_eq!((hip.hip().hipMalloc)(&mut memory, 16).0, 0);
//!     assert_eq!((table.rocrand_create_generator)(&mut generator, philox), rocrand_status::ROCRAND_STATUS_SUCCESS);
//!     assert_eq!((table.rocrand_generate)(generator, memory.cast(), 4), rocrand_status::ROCRAND_STATUS_SUCCESS);
//!     assert_eq!((hip.hip().hipMemcpy)(numbers.as_mut_ptr().cast(), memory, 16, to_host).0, 0);
//!     (table.rocrand_destroy_generator)(generator);
//!     (hip.hip().hipFree)(memory);
//! }
//! // Philox's published answer for key 0 and counter 0.
//! assert_eq!(numbers, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
//! ```
//!
//! The words of a generator, and the way in which a call divides them among its outputs, are rocRAND's for its default ordering. So raw bits
//! and uniform numbers are the same bit for bit. Normal numbers differ in the last places, because a GPU has other functions for
//! logarithms, sines and exponentials. rocRAND permutes the outputs if a call's memory is not aligned to a vector of them; this crate does not.
//!
//! Generators of the kinds MTGP32, MT19937, MRG31k3p and LFSR113 and scrambled Sobol are refused with `ROCRAND_STATUS_TYPE_ERROR`.

mod engine;
mod generator;
mod law;
mod status;
mod table;

pub use hip_host::library::serves;

use hip_sys::{Rocrand, Version};

/// The version of rocRAND whose behaviour this follows.
const VERSION: Version = Version { major: 4, minor: 2, patch: 0 };

/// The library.
pub fn library() -> Rocrand {
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    unsafe { Rocrand::from_table(VERSION, "hip-host".into(), table::functions()) }
}
