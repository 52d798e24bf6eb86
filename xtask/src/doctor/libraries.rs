//! The libraries that fill a platform's tables at run time.

use super::{Item, cuda};
use hip_sys::Platform;

const SECTION: &str = "Libraries";

pub(super) fn look() -> Vec<Item> {
    let mut items = amd();
    items.push(match cuda::driver() {
        Ok(driver) => {
            Item::found(SECTION, "CUDA driver", format!("{}, CUDA {}", driver.library, driver.version))
        }
        Err(why) => {
            Item::absent(SECTION, "CUDA driver", why, "only needed for NVIDIA GPUs: install NVIDIA's driver")
        }
    });
    items.push(match cuda::nvrtc() {
        Ok(detail) => Item::found(SECTION, "NVRTC", detail),
        Err(why) => {
            let remedy = "only needed to compile for NVIDIA GPUs at run time: install CUDA 12 or 13, \
                          or pip install nvidia-cuda-nvrtc and put its lib folder in LD_LIBRARY_PATH";
            Item::absent(SECTION, "NVRTC", why, remedy)
        }
    });
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
