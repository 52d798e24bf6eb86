//! cuBLAS, found at run time.

use super::convert::Property;
use super::functions::Cublas;
use hip_nvidia::driver_version;
use hip_sys::LoadError;
use hip_sys::provider::SharedLibrary;
use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const REMEDY: &str = "Install CUDA's linear algebra library (libcublas, of CUDA 12 or later), or set CUDA_PATH to the folder above its lib64/";

static CUBLAS: OnceLock<Result<Cublas, LoadError>> = OnceLock::new();

/// Opens cuBLAS, once for the process.
pub(super) fn open() -> Result<&'static Cublas, LoadError> {
    let load = || {
        let candidates = candidates(driver_version()?.0);
        SharedLibrary::open("cuBLAS (libcublas)", REMEDY, candidates).and_then(|l| Cublas::fill(&l))
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

/// A toolkit installation also has the bare name; packages with only the runtime have the numbered ones. A driver does not
/// load code of a later major version, so that version is tried last.
fn names(driver_version: c_int) -> [&'static str; 3] {
    if driver_version >= 13_000 {
        ["libcublas.so.13", "libcublas.so.12", "libcublas.so"]
    } else {
        ["libcublas.so.12", "libcublas.so", "libcublas.so.13"]
    }
}

fn candidates(driver_version: c_int) -> Vec<PathBuf> {
    let names = names(driver_version);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drivers_own_major_version_is_tried_first() {
        assert_eq!(names(13_010)[0], "libcublas.so.13");
        assert_eq!(names(12_080), ["libcublas.so.12", "libcublas.so", "libcublas.so.13"]);
    }
}
