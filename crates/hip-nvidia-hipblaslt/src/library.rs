//! cuBLASLt, found at run time.

use super::functions::CublasLt;
use hip_nvidia::driver_version;
use hip_sys::LoadError;
use hip_sys::provider::SharedLibrary;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const REMEDY: &str = "Install CUDA's linear algebra library (libcublas, of CUDA 12 or later), or set CUDA_PATH to the folder above its lib64/";

static CUBLASLT: OnceLock<Result<CublasLt, LoadError>> = OnceLock::new();

/// Opens cuBLASLt, once for the process.
pub(super) fn open() -> Result<&'static CublasLt, LoadError> {
    let load = || {
        let candidates = candidates(driver_version()?.0);
        SharedLibrary::open("cuBLASLt (libcublasLt)", REMEDY, candidates).and_then(|l| CublasLt::fill(&l))
    };
    CUBLASLT.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// The opened cuBLASLt. Callers have a handle, which exists only if the library is open.
pub(super) fn cublaslt() -> &'static CublasLt {
    CUBLASLT
        .get()
        .and_then(|loaded| loaded.as_ref().ok())
        .expect("a handle is made after the library was opened")
}

/// A driver does not load code of a later major version, so that version is tried last.
fn candidates(driver_version: i32) -> Vec<PathBuf> {
    let names = if driver_version >= 13_000 {
        ["libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"]
    } else {
        ["libcublasLt.so.12", "libcublasLt.so", "libcublasLt.so.13"]
    };
    let inside = |folder: &Path| names.map(|name| folder.join(name)).to_vec();
    let mut list = Vec::new();
    if let Some(root) = std::env::var_os("CUDA_PATH") {
        list.extend(inside(&Path::new(&root).join("lib64")));
        list.extend(inside(&Path::new(&root).join("lib")));
    }
    list.extend(names.map(PathBuf::from));
    list.extend(inside(Path::new("/usr/local/cuda/lib64")));
    list
}
