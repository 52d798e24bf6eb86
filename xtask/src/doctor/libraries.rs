//! The libraries that fill a platform's tables at run time.

use super::Item;
use hip_sys::Platform;

const SECTION: &str = "Libraries";

pub(super) fn look() -> Vec<Item> {
    let mut items = amd();
    items.extend(nvidia());
    items
}

fn amd() -> Vec<Item> {
    let platform = match Platform::load_amd() {
        Ok(platform) => platform,
        Err(missing) => {
            let remedy = "only needed for AMD GPUs: install ROCm's runtime, or on Debian 12 apt-get install libamdhip64-5";
            return vec![Item::absent(SECTION, "HIP", missing.to_string(), remedy)];
        }
    };
    let library = platform.library.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let hip = Item::found(SECTION, "HIP", format!("{library}, {}", platform.version()));
    let rtc = match platform.rtc() {
        Ok(_) => Item::found(SECTION, "hiprtc", "loaded"),
        Err(missing) => {
            let remedy = "only needed to compile for AMD GPUs at run time: install ROCm's hiprtc";
            Item::absent(SECTION, "hiprtc", missing.to_string(), remedy)
        }
    };
    vec![hip, rtc]
}

fn nvidia() -> Vec<Item> {
    let (version, path) = match hip_nvidia::driver_version() {
        Ok(found) => found,
        Err(missing) => {
            let remedy = "only needed for NVIDIA GPUs";
            return vec![Item::absent(SECTION, "CUDA driver", missing.to_string(), remedy)];
        }
    };
    let (major, minor) = (version / 1000, version % 1000 / 10);
    let driver = Item::found(SECTION, "CUDA driver", format!("{}, CUDA {major}.{minor}", path.display()));
    let rtc = match hip_nvidia::platform().and_then(|platform| platform.rtc().map(drop).map_err(Clone::clone))
    {
        Ok(()) => Item::found(SECTION, "NVRTC", "loaded"),
        Err(missing) => {
            let remedy = "only needed to compile for NVIDIA GPUs at run time";
            Item::absent(SECTION, "NVRTC", missing.to_string(), remedy)
        }
    };
    vec![driver, rtc]
}
