//! Where the functions come from: AMD's library, or the replacement on other platforms.

use hip_safe::Platform;
use hip_sys::{LoadError, PlatformKind, Rocsolver};

/// rocSOLVER's functions on a platform's streams and memory and on the handles of its rocBLAS, opened at the first call: its version, its file,
/// and the table that [`Solver`](crate::Solver) calls.
///
/// On AMD's HIP that is rocSOLVER; on hip-host, with the feature `host`, functions on threads of the CPU; on hip-nvidia, with the feature
/// `nvidia`, cuSOLVER. For a platform that a program makes, see [`Platform::library`].
///
/// # Errors
/// Why there is none: a library was not found, it is linked to another rocBLAS, or a cargo feature is off.
pub fn library(platform: &Platform) -> Result<&Rocsolver, &LoadError> {
    // SAFETY: S1, S11: each of these libraries says whether it takes the streams and the memory of that platform's HIP.
    unsafe { platform.library(|| open(platform)) }
}

fn open(platform: &Platform) -> Result<Rocsolver, LoadError> {
    let rocblas = rocblas_safe::library(platform).map_err(Clone::clone)?;
    #[cfg(feature = "host")]
    if hip_host_rocsolver::serves(platform) {
        return Ok(hip_host_rocsolver::library());
    }
    #[cfg(feature = "nvidia")]
    if hip_nvidia_rocsolver::serves(platform) {
        return hip_nvidia_rocsolver::library();
    }
    if platform.kind == PlatformKind::Amd {
        return Rocsolver::load_with(platform, rocblas);
    }
    let reason = hip_sys::why_no_library!("hipstack-rocsolver-safe", platform.kind);
    Err(LoadError::NotProvided { library: "rocSOLVER", reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "host")]
    #[test]
    fn hip_host_has_one_with_the_feature() {
        let platform = hip_host::platform();
        let found = library(&platform).map(|found| found.library().to_owned()).map_err(ToString::to_string);
        assert_eq!(found, Ok("hip-host".into()));
    }
}
