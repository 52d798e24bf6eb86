//! cuFFT, found at run time.

use super::functions::Cufft;
use hip_nvidia::library;
use hip_sys::LoadError;
use std::sync::OnceLock;

const REMEDY: &str = "Install CUDA's library of Fourier transforms (libcufft, of CUDA 12 or later), or set CUDA_PATH to the folder above its lib64/";
/// Those of CUDA 13 and 12.
const NAMES: [&str; 3] = ["libcufft.so.12", "libcufft.so.11", "libcufft.so"];

static CUFFT: OnceLock<Result<Cufft, LoadError>> = OnceLock::new();

/// Opens cuFFT, once for the process.
pub(super) fn open() -> Result<&'static Cufft, LoadError> {
    let load = || library::open("cuFFT (libcufft)", REMEDY, &NAMES).and_then(|library| Cufft::fill(&library));
    CUFFT.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// The opened cuFFT. Callers have a plan, which exists only if the library is open.
pub(super) fn cufft() -> &'static Cufft {
    CUFFT.get().and_then(|loaded| loaded.as_ref().ok()).expect("a plan is made after the library was opened")
}
