//! From an image to a module: the system's loader opens the object for the device, and it stays open for
//! good.
//!
//! Objects are never closed: nothing waits for the last thread that could be inside a kernel, and threads
//! keep the shared arrays of the kernels that they ran. An object without device variables is opened once,
//! however often it is loaded. An object with variables is opened for each load, since each load has
//! variables of its own.

use super::compiler::Compiler;
use super::image::{self, ImageError, MAGIC, Object};
use crate::code::{self, Module, RegisterError};
use hip_sys::hip::hipError_t;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::c_void;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;
use std::sync::LazyLock;
use xxhash_rust::xxh3::xxh3_128;

/// Objects without variables, by the hash of their contents.
static OPENED: LazyLock<Mutex<HashMap<u128, &'static Module>>> = LazyLock::new(Default::default);

/// Whether the bytes begin like one of our images.
///
/// # Safety
/// `image` points to bytes that are readable up to the first one that differs from the beginning of an image.
pub(crate) unsafe fn is_image(image: *const c_void) -> bool {
    let bytes = image.cast::<u8>();
    // SAFETY: S11: each byte is read only after all before it matched; the caller vouches for those.
    MAGIC.iter().enumerate().all(|(i, expected)| unsafe { bytes.add(i).read() } == *expected)
}

/// Copies an image that begins like ours. If the memory ends before the image does, the result is an error
/// instead of a fault.
///
/// # Safety
/// Nobody writes to the image at the same time.
pub(crate) unsafe fn copy_image(image: *const c_void) -> Result<Vec<u8>, ImageError> {
    // SAFETY: S11: the system checks whether the memory can be read; the caller vouches for the rest.
    let copy = |length| unsafe { copy_readable(image, length) }.ok_or(ImageError::Damaged);
    let start = copy(16)?;
    let length = image::length(start.first_chunk().ok_or(ImageError::Damaged)?)?;
    copy(length)
}

/// Copies memory that may be unmapped: the system writes it to a file, and reports how much it could read.
///
/// # Safety
/// None beyond those of reading memory that nobody writes at the same time.
unsafe fn copy_readable(from: *const c_void, length: usize) -> Option<Vec<u8>> {
    // SAFETY: S1: a C string and flags; the file descriptor that comes back is ours alone.
    let mut file = unsafe {
        let descriptor = libc::memfd_create(c"hiphost-image".as_ptr(), libc::MFD_CLOEXEC);
        if descriptor < 0 {
            // Without memfd the memory cannot be checked, so the caller has to be trusted.
            return Some(std::slice::from_raw_parts(from.cast::<u8>(), length).to_vec());
        }
        std::fs::File::from_raw_fd(descriptor)
    };
    let mut done = 0;
    while done < length {
        // SAFETY: S1: the system reads the memory, and returns EFAULT for unmapped memory.
        let count = unsafe { libc::write(file.as_raw_fd(), from.wrapping_byte_add(done), length - done) };
        done += usize::try_from(count).ok().filter(|count| *count > 0)?;
    }
    // The length comes from the image and may be wrong, so the allocation must be allowed to fail.
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).ok()?;
    file.rewind().ok()?;
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Loads an image's object for a wave size, or its object for both.
pub(crate) fn load(image: &[u8], wave: u32) -> Result<&'static Module, hipError_t> {
    let objects = image::unpack(image).map_err(|error| {
        eprintln!("hip-host: {error}");
        hipError_t::hipErrorInvalidImage
    })?;
    let Some(object) = objects.iter().find(|object| object.wave == wave || object.wave == 0) else {
        let built: Vec<String> = objects.iter().map(|object| format!("host-w{}", object.wave)).collect();
        eprintln!(
            "hip-host: the image is for {}, the device is host-w{wave}: compile it for that",
            built.join(", ")
        );
        return Err(hipError_t::hipErrorNoBinaryForGpu);
    };
    let hash = xxh3_128(&object.bytes);
    let mut opened = OPENED.lock();
    if let Some(module) = opened.get(&hash) {
        return Ok(module);
    }
    let module = open(object).map_err(|message| {
        eprintln!("hip-host: {message}");
        hipError_t::hipErrorSharedObjectInitFailed
    })?;
    if module.globals.is_empty() {
        opened.insert(hash, module);
    }
    Ok(module)
}

/// Opens an object. The system's loader accepts only files and identifies them by name, so each object gets a
/// new one.
fn open(object: &Object) -> Result<&'static Module, String> {
    let no_file = |error: std::io::Error| {
        let folder = std::env::temp_dir();
        format!(
            "cannot write a module to {}: {error}; set TMPDIR to a folder that can be written",
            folder.display()
        )
    };
    // A sanitizer reads source lines from the file when it prints a report.
    let keep = Compiler::new(Path::new(".")).is_sanitized();
    let file = tempfile::Builder::new().prefix("hiphost-").suffix(".so").disable_cleanup(keep).tempfile();
    let mut file = file.map_err(no_file)?;
    file.write_all(&object.bytes).map_err(no_file)?;
    // SAFETY: S19: the checksum shows that hiprtcCompileProgram made it; its initialisers only fill its own
    // lists.
    let library = unsafe { Library::open(Some(file.path()), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| format!("cannot open a compiled module: {error}"))?;
    let symbol = match object.wave {
        0 => "hiphost_module_rtc_any\0".to_owned(),
        wave => format!("hiphost_module_rtc_w{wave}\0"),
    };
    // SAFETY: S19: `HIPHOST_MODULE(rtc)` defines it with this type, and the library is never closed.
    let module = unsafe {
        let entry = *library.get(symbol.as_bytes()).map_err(|error| format!("no module of ours: {error}"))?;
        code::read_module(entry)
    };
    // Never closed: see the top of this file.
    std::mem::forget(library);
    module.map(|module| &*Box::leak(Box::new(module))).map_err(|error: RegisterError| error.to_string())
}
