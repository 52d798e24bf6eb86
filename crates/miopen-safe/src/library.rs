//! Where the functions come from: AMD's library, or the replacement on other platforms.

use hip_safe::Platform;
use hip_sys::{LoadError, Miopen};

/// MIOpen's functions on a platform's streams and memory, opened at the first call: its version, its file, and the table that
/// [`Handle`](crate::Handle) calls.
///
/// On AMD's HIP that is MIOpen; on hip-host, with the feature `host`, functions on threads of the CPU; on hip-nvidia, with the feature
/// `nvidia`, cuDNN. For a platform that a program makes, see [`Platform::library`].
///
/// # Errors
/// Why there is none: a library was not found, or a cargo feature is off.
pub fn library(platform: &Platform) -> Result<&Miopen, &LoadError> {
    // SAFETY: S1, S11: each of these libraries says whether it takes the streams and the memory of that platform's HIP.
    unsafe { platform.library(|| open(platform)) }
}

fn open(platform: &Platform) -> Result<Miopen, LoadError> {
    hip_sys::open_library!(
        "MIOpen",
        "hipstack-miopen-safe",
        platform,
        hip_host_miopen,
        hip_nvidia_miopen,
        Miopen::load_for(platform)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use hip_sys::Extensions;
    use hip_sys::PlatformKind;
    use hip_sys::hip::hipError_t;

    #[test]
    fn hip_host_has_one_with_the_feature() {
        let platform = hip_host::platform();
        let found = library(&platform).map(|found| found.library().to_owned()).map_err(ToString::to_string);
        let off = "MIOpen does not exist on this platform: the feature `host` of hipstack-miopen-safe brings it, and is off in this program";
        let expected = if cfg!(feature = "host") { Ok("hip-host".into()) } else { Err(off.to_owned()) };
        assert_eq!(found, expected);
    }

    /// Its streams are not those of any platform that we know.
    #[test]
    fn a_platform_of_a_program_s_own_has_none() {
        unsafe extern "C" fn no_version(_: *mut i32) -> hipError_t {
            hipError_t::hipErrorNotSupported
        }
        let host = hip_host::platform();
        let mut table = host.hip().clone();
        table.hipRuntimeGetVersion = no_version;
        for kind in [PlatformKind::Host, PlatformKind::Nvidia] {
            let rtc = Err(LoadError::NotProvided { library: "a compiler", reason: "none is needed" });
            // SAFETY: S1: hip-host's functions, and one that only returns an error.
            let own =
                unsafe { Platform::from_tables(kind, 60_000_000, table.clone(), rtc, Extensions::default()) };
            assert!(matches!(library(&own), Err(LoadError::NotProvided { library: "MIOpen", .. })));
        }
    }
}
