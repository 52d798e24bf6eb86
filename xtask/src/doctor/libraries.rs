//! The libraries that fill a platform's tables at run time.

use super::Item;
use crate::libraries::Finding;
use crate::libraries::kind::Kind;

const SECTION: &str = "Libraries";

pub(super) fn look() -> Vec<Item> {
    let mut items = amd();
    items.extend(nvidia());
    items
}

/// HIP, hiprtc, rocRAND, rocBLAS and MIOpen, held against hip-sys as `cargo xtask libraries` does.
fn amd() -> Vec<Item> {
    crate::libraries::system().iter().map(item).collect()
}

fn item(finding: &Finding) -> Item {
    let name = finding.kind.title();
    let Some(file) = &finding.file else {
        let remedy = match finding.kind {
            Kind::Hip => {
                "only needed for AMD GPUs: install ROCm's runtime, or on Debian 12 apt-get install libamdhip64-5"
            }
            Kind::Rtc => "only needed to compile for AMD GPUs at run time: install ROCm's hiprtc",
            Kind::Rocrand => {
                "nothing needs it yet: install ROCm's rocrand, or on Debian 12 apt-get install librocrand1"
            }
            Kind::Rocblas => {
                "nothing needs it yet: install ROCm's rocblas, or on Debian 13 apt-get install librocblas0"
            }
            Kind::Miopen => {
                "nothing needs it yet: install ROCm's miopen-hip, or on Debian sid apt-get install libmiopen1"
            }
        };
        return Item::absent(SECTION, name, finding.missing.clone().unwrap_or_default(), remedy);
    };
    let mut parts = vec![file.display().to_string()];
    parts.extend(finding.version.as_ref().map(|(version, _)| version.clone()));
    parts.extend(finding.answer.clone());
    parts.extend(finding.symbols.as_ref().map(|symbols| format!("functions {}", symbols.counts())));
    parts.push(match &finding.layouts {
        Ok(layouts) => layouts.sentence(),
        Err(why) => format!("layouts not checked: {why}"),
    });
    let detail = parts.join(", ");
    if finding.errors.is_empty() {
        return Item::found(SECTION, name, detail);
    }
    let remedy = format!("`cargo xtask libraries` shows all of it: {}", finding.errors.join("; "));
    Item::bad(SECTION, name, detail, remedy)
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
