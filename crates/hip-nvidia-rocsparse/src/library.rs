//! cuSPARSE, found at run time.

use super::functions::Cusparse;
use hip_nvidia::library;
use hip_sys::LoadError;
use std::sync::OnceLock;

const REMEDY: &str = "Install CUDA's library of sparse matrices (libcusparse, of CUDA 12 or later), or set CUDA_PATH to the folder above its lib64/";
/// That of CUDA 12 and 13.
const NAMES: [&str; 2] = ["libcusparse.so.12", "libcusparse.so"];

static CUSPARSE: OnceLock<Result<Cusparse, LoadError>> = OnceLock::new();

/// Opens cuSPARSE, once for the process.
pub(super) fn open() -> Result<&'static Cusparse, LoadError> {
    let load = || {
        library::open("cuSPARSE (libcusparse)", REMEDY, &NAMES).and_then(|library| Cusparse::fill(&library))
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
