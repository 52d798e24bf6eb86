//! Where the functions come from: AMD's library, or the replacement on other platforms.

use hip_safe::Platform;
use hip_sys::{LoadError, Rocsparse};

/// rocSPARSE's functions on a platform's streams and memory, opened at the first call: its version, its file, and the table that
/// [`Handle`](crate::Handle) calls.
///
/// On AMD's HIP that is rocSPARSE; on hip-host, with the feature `host`, functions on threads of the CPU; on hip-nvidia, with the feature
/// `nvidia`, cuSPARSE. For a platform that a program makes, see [`Platform::library`].
///
/// # Errors
/// Why there is none: a library was not found, or a cargo feature is off.
pub fn library(platform: &Platform) -> Result<&Rocsparse, &LoadError> {
    // SAFETY: S1, S11: each of these libraries says whether it takes the streams and the memory of that platform's HIP.
    unsafe { platform.library(|| open(platform)) }
}

fn open(platform: &Platform) -> Result<Rocsparse, LoadError> {
    hip_sys::open_library!(
        "rocSPARSE",
        "hipstack-rocsparse-safe",
        platform,
        hip_host_rocsparse,
        hip_nvidia_rocsparse,
        Rocsparse::load_for(platform)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hip_host_has_one_with_the_feature() {
        let platform = hip_host::platform();
        let found = library(&platform).map(|found| found.library().to_owned()).map_err(ToString::to_string);
        let off = "rocSPARSE does not exist on this platform: the feature `host` of hipstack-rocsparse-safe brings it, and is off in this program";
        let expected = if cfg!(feature = "host") { Ok("hip-host".into()) } else { Err(off.to_owned()) };
        assert_eq!(found, expected);
    }
}
