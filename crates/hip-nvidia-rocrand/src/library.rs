//! cuRAND, found at run time.

use super::functions::Curand;
use hip_nvidia::library;
use hip_sys::LoadError;
use std::sync::OnceLock;

const REMEDY: &str = "Install CUDA's random number library (libcurand, of CUDA 12 or later), or set CUDA_PATH to the folder above its lib64/";
/// cuRAND's own major version stayed 10 from CUDA 11 to 13.
const NAMES: [&str; 2] = ["libcurand.so.10", "libcurand.so"];

static CURAND: OnceLock<Result<Curand, LoadError>> = OnceLock::new();

/// Opens cuRAND, once for the process.
pub(super) fn open() -> Result<&'static Curand, LoadError> {
    let load =
        || library::open("cuRAND (libcurand)", REMEDY, &NAMES).and_then(|library| Curand::fill(&library));
    CURAND.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// The opened cuRAND. Callers have a generator, which exists only if the library is open.
pub(super) fn curand() -> &'static Curand {
    CURAND
        .get()
        .and_then(|loaded| loaded.as_ref().ok())
        .expect("a generator is made after the library was opened")
}
