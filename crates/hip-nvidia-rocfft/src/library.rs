//! cuFFT, found at run time.

use super::functions::Cufft;
use hip_nvidia::driver_version;
use hip_sys::LoadError;
use hip_sys::provider::SharedLibrary;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const REMEDY: &str = "Install CUDA's library of Fourier transforms (libcufft, of CUDA 12 or later), or set CUDA_PATH to the folder above its lib64/";
/// Those of CUDA 13 and 12.
const NAMES: [&str; 3] = ["libcufft.so.12", "libcufft.so.11", "libcufft.so"];

static CUFFT: OnceLock<Result<Cufft, LoadError>> = OnceLock::new();

/// Opens cuFFT, once for the process.
pub(super) fn open() -> Result<&'static Cufft, LoadError> {
    let load = || {
        // Without a driver no device could be used.
        driver_version()?;
        SharedLibrary::open("cuFFT (libcufft)", REMEDY, candidates()).and_then(|l| Cufft::fill(&l))
    };
    CUFFT.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// The opened cuFFT. Callers have a plan, which exists only if the library is open.
pub(super) fn cufft() -> &'static Cufft {
    CUFFT.get().and_then(|loaded| loaded.as_ref().ok()).expect("a plan is made after the library was opened")
}

fn candidates() -> Vec<PathBuf> {
    let inside = |folder: &Path| NAMES.map(|name| folder.join(name)).to_vec();
    let mut list = Vec::new();
    if let Some(root) = std::env::var_os("CUDA_PATH") {
        list.extend(inside(&Path::new(&root).join("lib64")));
        list.extend(inside(&Path::new(&root).join("lib")));
    }
    list.extend(NAMES.map(PathBuf::from));
    list.extend(inside(Path::new("/usr/local/cuda/lib64")));
    list
}
