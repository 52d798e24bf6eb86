//! cuSPARSE, found at run time.

use super::functions::Cusparse;
use hip_nvidia::driver_version;
use hip_sys::LoadError;
use hip_sys::provider::SharedLibrary;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const REMEDY: &str = "Install CUDA's library of sparse matrices (libcusparse, of CUDA 12 or later), or set CUDA_PATH to the folder above its lib64/";
/// That of CUDA 12 and 13.
const NAMES: [&str; 2] = ["libcusparse.so.12", "libcusparse.so"];

static CUSPARSE: OnceLock<Result<Cusparse, LoadError>> = OnceLock::new();

/// Opens cuSPARSE, once for the process.
pub(super) fn open() -> Result<&'static Cusparse, LoadError> {
    let load = || {
        // Without a driver no device could be used.
        driver_version()?;
        SharedLibrary::open("cuSPARSE (libcusparse)", REMEDY, candidates()).and_then(|l| Cusparse::fill(&l))
    };
    CUSPARSE.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// The opened cuSPARSE. Callers have a handle, which exists only if the library is open.
pub(super) fn cusparse() -> &'static Cusparse {
    CUSPARSE
        .get()
        .and_then(|loaded| loaded.as_ref().ok())
        .expect("a handle is made after the library was opened")
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
