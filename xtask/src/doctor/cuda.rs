//! What can be asked of NVIDIA's libraries without a platform crate for them: versions and names of devices.

use libloading::Library;
use std::ffi::{CStr, c_char, c_int};

/// NVIDIA's driver.
pub(super) struct Driver {
    /// The name it was found under.
    pub(super) library: &'static str,
    /// The CUDA version that it offers.
    pub(super) version: String,
    /// The names of its devices, or why it names none.
    pub(super) devices: Result<Vec<String>, String>,
}

const DRIVER: [&str; 2] = ["libcuda.so.1", "libcuda.so"];
const NVRTC: [&str; 3] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];

/// Loads the driver and asks it.
pub(super) fn driver() -> Result<Driver, String> {
    let (library, name) = open(&DRIVER)?;
    let mut version = 0;
    // SAFETY: S1: the type is that of cuDriverGetVersion(int*), and the integer is live.
    let status = unsafe {
        let get: unsafe extern "C" fn(*mut c_int) -> c_int = function(library, "cuDriverGetVersion")?;
        get(&mut version)
    };
    ok("cuDriverGetVersion", status)?;
    Ok(Driver { library: name, version: dotted(version), devices: devices(library) })
}

fn devices(library: &Library) -> Result<Vec<String>, String> {
    type Init = unsafe extern "C" fn(u32) -> c_int;
    type Count = unsafe extern "C" fn(*mut c_int) -> c_int;
    type Name = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
    // SAFETY: S1: the types are those of the three functions in cuda.h.
    let (init, count, name): (Init, Count, Name) = unsafe {
        (
            function(library, "cuInit")?,
            function(library, "cuDeviceGetCount")?,
            function(library, "cuDeviceGetName")?,
        )
    };
    let mut devices = 0;
    // SAFETY: S1: the flags must be 0.
    ok("cuInit", unsafe { init(0) })?;
    // SAFETY: S1: the integer is live.
    ok("cuDeviceGetCount", unsafe { count(&mut devices) })?;
    let name_of = |ordinal| {
        let mut text: [c_char; 256] = [0; 256];
        // SAFETY: S1: the buffer is live and has the length given; a device's handle is its ordinal.
        ok("cuDeviceGetName", unsafe { name(text.as_mut_ptr(), 255, ordinal) })?;
        // SAFETY: S12: the last byte of the buffer is still the zero it was made with.
        Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
    };
    (0..devices).map(name_of).collect()
}

/// Loads NVRTC and asks its version.
pub(super) fn nvrtc() -> Result<String, String> {
    let (library, name) = open(&NVRTC)?;
    let (mut major, mut minor) = (0, 0);
    // SAFETY: S1: the type is that of nvrtcVersion(int*, int*), and both integers are live.
    let status = unsafe {
        let get: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int = function(library, "nvrtcVersion")?;
        get(&mut major, &mut minor)
    };
    ok("nvrtcVersion", status)?;
    Ok(format!("{name}, {major}.{minor}"))
}

/// Opens the first of these that is there, for the life of the process: a driver is never closed.
fn open(names: &[&'static str]) -> Result<(&'static Library, &'static str), String> {
    for name in names {
        // SAFETY: S1: opening runs the initialisers of NVIDIA's own library, which it is meant for.
        if let Ok(library) = unsafe { Library::new(*name) } {
            return Ok((Box::leak(Box::new(library)), name));
        }
    }
    Err(format!("looked for {}", names.join(", ")))
}

/// A function of the library.
///
/// # Safety
/// `F` must be the type of the C function of this name, and the library must outlive every call.
unsafe fn function<F: Copy>(library: &Library, name: &str) -> Result<F, String> {
    // SAFETY: S1: the caller vouches for the type.
    unsafe { library.get::<F>(name).map(|found| *found).map_err(|e| e.to_string()) }
}

fn ok(call: &str, status: c_int) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("{call} answered error {status}")) }
}

/// 13000 -> "13.0".
fn dotted(version: c_int) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_cuda_counts_them() {
        assert_eq!(dotted(13_000), "13.0");
        assert_eq!(dotted(12_080), "12.8");
    }

    #[test]
    fn a_missing_library_lists_the_names() {
        let error = open(&["libno-such-thing.so.1", "libno-such-thing.so"]).expect_err("it does not exist");
        assert_eq!(error, "looked for libno-such-thing.so.1, libno-such-thing.so");
    }
}
