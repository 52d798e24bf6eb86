//! The platforms that this program can open, each loaded once.

use std::sync::{Arc, OnceLock};

use hip_sys::{LoadError, Platform, PlatformKind, Version};

/// The platform of a name: "amd", "nvidia" with the feature `nvidia`, or "host" with the feature `host`. Loaded on
/// first use. `None` for another name.
pub(crate) fn platform(name: &str) -> Option<Result<Arc<Platform>, LoadError>> {
    static AMD: OnceLock<Result<Arc<Platform>, LoadError>> = OnceLock::new();
    match name {
        "amd" => Some(AMD.get_or_init(|| Platform::load_amd().map(Arc::new)).clone()),
        #[cfg(feature = "nvidia")]
        "nvidia" => Some(hip_nvidia::platform()),
        #[cfg(feature = "host")]
        "host" => Some(Ok(hip_host::platform())),
        _ => None,
    }
}

/// Formats the result of a platform's `hipDriverGetVersion`. CUDA encodes versions differently from HIP.
pub(super) fn driver_version(name: &str, raw: i32) -> String {
    match name {
        "nvidia" => format!("CUDA {}.{}", raw / 1000, raw % 1000 / 10),
        _ => Version::from_raw(raw).to_string(),
    }
}

/// The version of the platform's kernel driver, if there is one.
pub(super) fn kernel_driver(name: &str) -> Option<String> {
    let file = match name {
        "amd" => "/sys/module/amdgpu/version",
        "nvidia" => "/sys/module/nvidia/version",
        _ => return None,
    };
    std::fs::read_to_string(file).ok().map(|text| text.trim().to_string())
}

/// The names accepted by [`platform`].
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let host = cfg!(feature = "host").then_some(PlatformKind::Host);
    let nvidia = cfg!(feature = "nvidia").then_some(PlatformKind::Nvidia);
    [Some(PlatformKind::Amd), nvidia, host].into_iter().flatten().map(PlatformKind::name)
}

#[cfg(test)]
mod tests {
    use super::driver_version;

    #[test]
    fn driver_versions_as_text() {
        assert_eq!(driver_version("nvidia", 12_080), "CUDA 12.8");
        assert_eq!(driver_version("nvidia", 13_000), "CUDA 13.0");
        assert_eq!(driver_version("amd", 60_443_484), "6.4.43484");
    }
}
