//! HIP on NVIDIA's GPUs: a platform whose tables call the CUDA driver and NVRTC, both found at run time.
//!
//! HIP has two official platforms, AMD's and NVIDIA's. This is the second, as a value like any other platform: the same
//! programs, tests and parity cases run on it. Without NVIDIA's driver, [`platform`] returns a [`LoadError`].
//!
//! ```
//! match hip_nvidia::platform() {
//!     Ok(platform) => {
//!         let mut count = 0;
//!         // SAFETY: S1: a function of this crate; `count` is live and writable.
//!         let status = unsafe { (platform.hip().hipGetDeviceCount)(&mut count) };
//!         println!("status {}, {count} device(s)", status.0);
//!     }
//!     Err(missing) => println!("{missing}"),
//! }
//! ```
//!
//! # What differs from AMD's
//! - Waves have 32 lanes. Kernels are cubins, fatbins or PTX that ends with a zero byte.
//! - `hipExtStreamCreateWithCUMask` returns `hipErrorNotSupported`.
//! - Flags that only AMD has (coherence of host memory, release scopes of events) are accepted and have no effect.
//! - Handles are numbers of this crate that are never issued twice, so a stale one is recognised. Nodes of graphs are the exception:
//!   they are the driver's addresses. As in C, an object must not be destroyed, nor its device reset, while a call of another
//!   thread uses it.
//!
//! This crate is HIP and hiprtc alone. rocBLAS's functions over cuBLAS and MIOpen's over cuDNN are the crates
//! `hipstack-hip-nvidia-rocblas` and `hipstack-hip-nvidia-miopen`, made with what [`library`] offers.

mod context;
mod driver;
mod handles;
pub mod library;
mod nvrtc;
mod table;

use hip_sys::{Extensions, LoadError, Platform, PlatformKind};
use std::sync::{Arc, LazyLock};

/// The platform. Its devices belong to the process: every call gives the same ones.
///
/// # Errors
/// [`LoadError::NotFound`] with the names that were tried if there is no driver, [`LoadError::TooOld`] for a
/// driver before CUDA 12.0, [`LoadError::MissingSymbol`] for a driver that lacks a required function,
/// [`LoadError::Refused`] if it does not start. A driver without a card is not an error here; the calls
/// report it.
pub fn platform() -> Result<Arc<Platform>, LoadError> {
    static PLATFORM: LazyLock<Result<Arc<Platform>, LoadError>> = LazyLock::new(|| {
        let cuda = context::open()?;
        let ext = Extensions {
            func_param_info: cuda.driver.cuFuncGetParamInfo.map(|_| table::func_param_info as _),
            compiler: Some(nvrtc::identity),
            ..Extensions::default()
        };
        // SAFETY: S1, S11: the functions are this crate's; they or the driver check the arguments.
        Ok(Arc::new(unsafe {
            Platform::from_tables(PlatformKind::Nvidia, table::VERSION, table::table(), nvrtc::table(), ext)
        }))
    });
    PLATFORM.clone()
}

/// The CUDA version of the installed driver, in the format of `cuDriverGetVersion` (12080 is 12.8), and the
/// driver's file.
///
/// # Errors
/// As [`platform`].
pub fn driver_version() -> Result<(i32, &'static std::path::Path), LoadError> {
    context::open().map(|cuda| (cuda.version, cuda.path.as_path()))
}
