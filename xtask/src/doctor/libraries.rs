//! The libraries that fill a platform's tables at run time.

use super::Item;
use crate::libraries::Finding;
use crate::libraries::kind::Kind;
use crate::libraries::others::{self, Other};
use hip_sys::{Library, LoadError, Miopen, Platform, Rocblas, Table};

const SECTION: &str = "Libraries";

pub(super) fn look() -> Vec<Item> {
    let mut items = amd();
    items.extend(nvidia());
    items
}

/// HIP, hiprtc, rocRAND, rocFFT, rocBLAS, rocSOLVER, rocSPARSE, MIOpen and AMD SMI, compared with hip-sys as `cargo xtask libraries` does, and the
/// locations of the others.
fn amd() -> Vec<Item> {
    let mut items: Vec<Item> = crate::libraries::system().iter().map(item).collect();
    items.extend(others::system().iter().map(other));
    // Each library was loaded separately; this checks that they belong to the same ROCm.
    if let Ok(platform) = Platform::load_amd() {
        let apart = [Rocblas::load_for(&platform).map(drop), Miopen::load_for(&platform).map(drop)];
        for wrong in apart.into_iter().filter_map(Result::err) {
            if let LoadError::OtherHip { library } = &wrong {
                let remedy =
                    "install it and HIP from one ROCm, or set ROCM_PATH to the folder above its lib/";
                items.push(Item::bad(SECTION, library.clone(), wrong.to_string(), remedy));
            }
        }
    }
    items
}

/// A library that a platform has in place of AMD's.
fn in_place<T: Table>(name: &str, library: Result<Library<T>, LoadError>, remedy: &str) -> Item {
    match library {
        Ok(found) => {
            let detail = format!("{}, as {} does it", found.library().display(), found.version());
            Item::found(SECTION, name, detail)
        }
        Err(missing) => Item::absent(SECTION, name, missing.to_string(), remedy),
    }
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
                "only rocrand-safe needs it: install ROCm's rocrand, or on Debian 12 apt-get install librocrand1"
            }
            Kind::Rocfft => {
                "only rocfft-safe needs it: install ROCm's rocfft, or on Debian 13 apt-get install librocfft0"
            }
            Kind::Rocsparse => "only rocsparse-safe needs it: install the rocsparse of ROCm 6 or later",
            Kind::Hipblaslt => {
                "only rocblas-safe's module lt needs it: install ROCm's hipblaslt, or on Debian sid apt-get install libhipblaslt1"
            }
            Kind::Rocblas => {
                "matrix products on AMD GPUs are faster with it: install ROCm's rocblas, or on Debian 13 apt-get install librocblas0"
            }
            Kind::Rocsolver => {
                "only rocsolver-safe needs it: install ROCm's rocsolver, or on Debian 13 apt-get install librocsolver0"
            }
            Kind::Miopen => {
                "convolutions on AMD GPUs are faster with it: install ROCm's miopen-hip, or on Debian sid apt-get install libmiopen1"
            }
            Kind::AmdSmi => "only what a GPU measures needs it: install ROCm's amd-smi-lib",
        };
        return Item::absent(SECTION, name, finding.missing.clone().unwrap_or_default(), remedy);
    };
    let mut parts = vec![file.display().to_string()];
    parts.extend(finding.version.as_ref().map(|(version, _)| version.clone()));
    parts.extend(finding.release.as_ref().map(|release| format!("of ROCm {release}")));
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

/// A library that nothing in this workspace calls.
fn other(found: &Other) -> Item {
    let remedy = "nothing needs it yet: it comes with a ROCm";
    let name = found.title;
    match (&found.file, &found.error) {
        (None, _) => Item::absent(SECTION, name, "not found", remedy),
        (Some(file), Some(wrong)) => Item::bad(SECTION, name, format!("{}, {wrong}", file.display()), remedy),
        (Some(file), None) => {
            let soname = found.soname.as_ref().map(|soname| format!(", SONAME {soname}"));
            Item::found(SECTION, name, format!("{}{}", file.display(), soname.unwrap_or_default()))
        }
    }
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
    let mut items = vec![driver, rtc];
    if hip_nvidia::platform().is_ok() {
        let remedy = "matrix products on NVIDIA GPUs are faster with it";
        items.push(in_place("cuBLAS", hip_nvidia_rocblas::library(), remedy));
        let remedy = "convolutions on NVIDIA GPUs are faster with it";
        items.push(in_place("cuDNN", hip_nvidia_miopen::library(), remedy));
    }
    items
}
