//! cuBLASLt, found at run time.

use super::functions::CublasLt;
use hip_nvidia::driver_version;
use hip_nvidia::library::{self, names_for_driver};
use hip_sys::LoadError;
use std::sync::OnceLock;

const REMEDY: &str = "Install CUDA's linear algebra library (libcublas, of CUDA 12 or later), or set CUDA_PATH to the folder above its lib64/";

static CUBLASLT: OnceLock<Result<CublasLt, LoadError>> = OnceLock::new();

/// Opens cuBLASLt, once for the process.
pub(super) fn open() -> Result<&'static CublasLt, LoadError> {
    let load = || {
        let names =
            names_for_driver(driver_version()?.0, "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so");
        library::open("cuBLASLt (libcublasLt)", REMEDY, &names).and_then(|library| CublasLt::fill(&library))
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
