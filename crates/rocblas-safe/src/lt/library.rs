//! Where the functions come from: AMD's library, or the replacement on other platforms.

use hip_safe::Platform;
use hip_sys::{Hipblaslt, LoadError};

/// hipBLASLt's functions on a platform's streams and memory, opened at the first call: its version, its file, and the table that
/// [`LtHandle`](super::LtHandle) calls.
///
/// On AMD's HIP that is hipBLASLt; on hip-host, with the feature `host`, functions on threads of the CPU; on hip-nvidia, with the feature
/// `nvidia`, cuBLASLt. For a platform that a program makes, see [`Platform::library`].
///
/// # Errors
/// Why there is none: a library was not found, or a cargo feature is off.
#[doc(alias = "hipblasLtGetVersion")]
pub fn library(platform: &Platform) -> Result<&Hipblaslt, &LoadError> {
    // SAFETY: S1, S11: each of these libraries says whether it takes the streams and the memory of that platform's HIP.
    unsafe { platform.library(|| open(platform)) }
}

fn open(platform: &Platform) -> Result<Hipblaslt, LoadError> {
    hip_sys::open_library!(
        "hipBLASLt",
        "hipstack-rocblas-safe",
        platform,
        hip_host_hipblaslt,
        hip_nvidia_hipblaslt,
        Hipblaslt::load_for(platform)
    )
}
