//! Where the functions come from: AMD's library, or the replacement on other platforms.

use hip_safe::Platform;
use hip_sys::{LoadError, Rocsolver};

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
    hip_sys::open_library!(
        "rocSOLVER",
        "hipstack-rocsolver-safe",
        platform,
        hip_host_rocsolver,
        hip_nvidia_rocsolver,
        Rocsolver::load_with(platform, rocblas)
    )
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
