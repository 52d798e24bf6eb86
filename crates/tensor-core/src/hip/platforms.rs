//! The platforms that this program can open, each loaded once.

use std::sync::{Arc, OnceLock};

use hip_sys::{LoadError, Platform, PlatformKind};

/// The platform of a name: "amd", "nvidia" with the feature `nvidia`, or "host" with the feature `host`. Loaded on first use; `None` for another name.
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

/// The version of the driver in the operating system's kernel that a platform works through, where there is one.
pub(super) fn kernel_driver(name: &str) -> Option<String> {
    let file = match name {
        "amd" => "/sys/module/amdgpu/version",
        "nvidia" => "/sys/module/nvidia/version",
        _ => return None,
    };
    std::fs::read_to_string(file).ok().map(|text| text.trim().to_string())
}

/// The names that [`platform`] knows.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let host = cfg!(feature = "host").then_some(PlatformKind::Host);
    let nvidia = cfg!(feature = "nvidia").then_some(PlatformKind::Nvidia);
    [Some(PlatformKind::Amd), nvidia, host].into_iter().flatten().map(PlatformKind::name)
}
