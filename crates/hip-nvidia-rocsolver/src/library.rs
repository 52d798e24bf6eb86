//! cuSOLVER, found at run time.

use crate::functions::Cusolver;
use hip_nvidia::library;
use hip_sys::LoadError;
use std::sync::OnceLock;

const REMEDY: &str = "Install CUDA's library of dense solvers (libcusolver, of CUDA 12 or later), or set CUDA_PATH to the folder above its lib64/";
/// Those of CUDA 13 and 12.
const NAMES: [&str; 3] = ["libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"];

static CUSOLVER: OnceLock<Result<Cusolver, LoadError>> = OnceLock::new();

/// Opens cuSOLVER, once for the process.
pub(crate) fn open() -> Result<&'static Cusolver, LoadError> {
    let load = || {
        library::open("cuSOLVER (libcusolver)", REMEDY, &NAMES).and_then(|library| Cusolver::fill(&library))
    };
    CUSOLVER.get_or_init(load).as_ref().map_err(Clone::clone)
}
