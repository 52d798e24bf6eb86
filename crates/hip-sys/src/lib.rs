//! C types and run-time function tables of ROCm's libraries. There is no policy: nothing here decides or retries.
//!
//! A *platform* is a [`Platform`] value: the tables of HIP and hiprtc. [`Platform::load_amd`] fills it from AMD's libraries;
//! other crates implement HIP and fill it with their functions. Nothing is linked at build time, so this builds without ROCm.
//!
//! ```
//! use hip_sys::{Platform, hip::hipError_t};
//!
//! match Platform::load_amd() {
//!     Ok(platform) => {
//!         let mut count = 0;
//!         // SAFETY: S1: the table was filled by name from the library; `count` is live and writable.
//!         let status = unsafe { (platform.hip().hipGetDeviceCount)(&mut count) };
//!         if status == hipError_t::hipSuccess {
//!             println!("HIP {} with {count} device(s)", platform.version());
//!         } else {
//!             println!("HIP {}: error {}", platform.version(), status.0);
//!         }
//!     }
//!     Err(missing) => println!("{missing}"),
//! }
//! ```
//!
//! `hipModuleLoadData` takes an address without a length. An [`Image`] is bytes that were checked for it.
//!
//! Functions of every ROCm since 5.2 are plain fields; later ones are [`Optional`]. Asking for an absent one returns
//! [`Unsupported`] with the version that introduced it. [`Rocrand`], [`Rocfft`], [`Rocblas`], [`Rocsolver`], [`Rocsparse`], [`Hipblaslt`] and [`Miopen`] are libraries beside
//! HIP; [`Library::load_for`] loads AMD's for AMD's HIP, and [`Platform::library`] keeps a platform's. [`AmdSmi`] belongs to no HIP.

mod amd_smi;
mod architectures;
mod cache;
mod chain;
mod constants;
mod error;
mod exit;
mod files;
mod folders;
mod foreign;
mod generated;
mod image;
pub mod layout;
mod libraries;
pub(crate) mod loader;
mod memory_type;
mod optional;
mod panics;
mod platform;
pub mod provider;
mod rocm_libraries;

pub use amd_smi::AmdSmi;
pub use amdsmi::AmdsmiTable;
pub use architectures::UnknownArchitecture;
pub use cache::cache_folder;
pub use chain::fmt_chain;
pub use constants::{HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_END};
pub use error::{LoadError, Unsupported};
pub use exit::{at_exit, exiting, watch_exit};
pub use files::{check_owner, check_owner_of, file_identity};
pub use foreign::{WithSlack, text_in};
pub use generated::{amdsmi, hip, hipblaslt, miopen, rocblas, rocfft, rocrand, rocsolver, rocsparse, rtc};
pub use hip::HipTable;
pub use hipblaslt::HipblasltTable;
pub use image::{Image, ImageError};
pub use memory_type::MemoryKind;
pub use miopen::MiopenTable;
pub use optional::{Optional, Symbol};
pub use panics::catch_panic;
pub use platform::{Access, Extensions, Extent, Platform, PlatformKind, Version};
pub use rocblas::RocblasTable;
pub use rocfft::RocfftTable;
pub use rocm_libraries::{Hipblaslt, Library, Miopen, Rocblas, Rocfft, Rocrand, Rocsolver, Rocsparse, Table};
pub use rocrand::RocrandTable;
pub use rocsolver::RocsolverTable;
pub use rocsparse::RocsparseTable;
pub use rtc::RtcTable;
