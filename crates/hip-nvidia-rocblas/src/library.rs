//! cuBLAS, found at run time.

use super::convert::Property;
use super::functions::Cublas;
use hip_nvidia::driver_version;
use hip_nvidia::library::{self, names_for_driver};
use hip_sys::LoadError;
use std::ffi::c_int;
use std::sync::OnceLock;

const REMEDY: &str = "Install CUDA's linear algebra library (libcublas, of CUDA 12 or later), or set CUDA_PATH to the folder above its lib64/";

static CUBLAS: OnceLock<Result<Cublas, LoadError>> = OnceLock::new();

/// Opens cuBLAS, once for the process.
pub(super) fn open() -> Result<&'static Cublas, LoadError> {
    let load = || {
        let names =
            names_for_driver(driver_version()?.0, "libcublas.so.13", "libcublas.so.12", "libcublas.so");
        library::open("cuBLAS (libcublas)", REMEDY, &names).and_then(|library| Cublas::fill(&library))
    };
    CUBLAS.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// The opened cuBLAS. Callers have a handle, which exists only if the library is open.
pub(super) fn cublas() -> &'static Cublas {
    CUBLAS
        .get()
        .and_then(|loaded| loaded.as_ref().ok())
        .expect("a handle is made after the library was opened")
}

/// cuBLAS's version: major, minor, patch.
pub(super) fn version(cublas: &Cublas) -> [c_int; 3] {
    [0, 1, 2].map(|property| {
        let mut value = 0;
        // SAFETY: S1: a live variable. It stays 0 for a property that the library does not know.
        unsafe { (cublas.cublasGetProperty)(Property(property), &mut value) };
        value
    })
}
