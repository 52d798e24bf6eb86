//! cuRAND, found at run time.

use super::functions::Curand;
use hip_nvidia::driver_version;
use hip_sys::LoadError;
use hip_sys::provider::SharedLibrary;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const REMEDY: &str = "Install CUDA's random number library (libcurand, of CUDA 12 or later), or set CUDA_PATH to the folder above its lib64/";
/// cuRAND's own major version stayed 10 from CUDA 11 to 13.
const NAMES: [&str; 2] = ["libcurand.so.10", "libcurand.so"];

static CURAND: OnceLock<Result<Curand, LoadError>> = OnceLock::new();

/// Opens cuRAND, once for the process.
pub(super) fn open() -> Result<&'static Curand, LoadError> {
    let load = || {
        // Without a driver no device could be used.
        driver_version()?;
        SharedLibrary::open("cuRAND (libcurand)", REMEDY, candidates()).and_then(|l| Curand::fill(&l))
    };
    CURAND.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// The opened cuRAND. Callers have a generator, which exists only if the library is open.
pub(super) fn curand() -> &'static Curand {
    CURAND
        .get()
        .and_then(|loaded| loaded.as_ref().ok())
        .expect("a generator is made after the library was opened")
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
