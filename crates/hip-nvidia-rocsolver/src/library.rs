//! cuSOLVER, found at run time.

use crate::functions::Cusolver;
use hip_nvidia::driver_version;
use hip_sys::LoadError;
use hip_sys::provider::SharedLibrary;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const REMEDY: &str = "Install CUDA's library of dense solvers (libcusolver, of CUDA 12 or later), or set CUDA_PATH to the folder above its lib64/";
/// Those of CUDA 13 and 12.
const NAMES: [&str; 3] = ["libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"];

static CUSOLVER: OnceLock<Result<Cusolver, LoadError>> = OnceLock::new();

/// Opens cuSOLVER, once for the process.
pub(crate) fn open() -> Result<&'static Cusolver, LoadError> {
    let load = || {
        // Without a driver no device could be used.
        driver_version()?;
        SharedLibrary::open("cuSOLVER (libcusolver)", REMEDY, candidates()).and_then(|l| Cusolver::fill(&l))
    };
    CUSOLVER.get_or_init(load).as_ref().map_err(Clone::clone)
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
