//! Modules and their functions and variables.
#![allow(non_snake_case, reason = "HIP's names")]

use super::{give, place_is_there};
use crate::context::{Outcome, check, driver, enter, status};
use crate::handles::{FUNCTIONS, Function, MODULES, Module, module_of};
use hip_sys::hip::{hipDeviceptr_t, hipError_t, hipFunction_t, hipModule_t};
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Arc;

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;
const HANDLE: hipError_t = hipError_t::hipErrorInvalidHandle;
const ABSENT: hipError_t = hipError_t::hipErrorNotFound;
/// How a bundle of clang's begins, and an ELF file; and where an ELF file has its machine, which is AMD's GPUs.
const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
const ELF: &[u8] = b"\x7fELF";
const MACHINE_AT: usize = 18;
const AMDGPU: u8 = 224;

/// Whether the bytes are code for AMD's cards.
///
/// # Safety
/// The image is readable up to the first byte that differs from what is looked for, and an ELF file to the end of its header.
unsafe fn is_amds(image: *const u8) -> bool {
    // SAFETY: S11: each byte is read only after all before it matched; the caller vouches for those.
    unsafe {
        let begins = |with: &[u8]| with.iter().enumerate().all(|(i, byte)| image.add(i).read() == *byte);
        begins(BUNDLE) || begins(ELF) && image.add(MACHINE_AT).read() == AMDGPU
    }
}

/// Loads an image for the current device.
unsafe fn load(place: *mut hipModule_t, image: *const c_void) -> Outcome {
    let device = enter()?;
    // SAFETY: S11: the caller's image, which carries its own length or ends with a zero byte.
    let raw = unsafe {
        if is_amds(image.cast()) {
            return Err(hipError_t::hipErrorNoBinaryForGpu);
        }
        let mut raw = null_mut();
        check((driver().cuModuleLoadData)(&mut raw, image))?;
        raw
    };
    let handle = MODULES.insert(Arc::new(Module { raw, device, extra: Default::default() }));
    // SAFETY: S11: the caller's place for the result.
    unsafe { give(place, handle as hipModule_t) }
}

pub(super) unsafe extern "C" fn hipModuleLoad(place: *mut hipModule_t, path: *const c_char) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        if path.is_null() {
            return Err(VALUE);
        }
        // SAFETY: S11: the caller's C string.
        let path = unsafe { CStr::from_ptr(path) }.to_str().map_err(|_| VALUE)?;
        if path.is_empty() {
            return Err(VALUE);
        }
        let mut bytes = std::fs::read(Path::new(path)).map_err(|_| hipError_t::hipErrorFileNotFound)?;
        // PTX is text, and text ends with a zero byte. A header is read whole.
        bytes.resize(bytes.len().max(64) + 1, 0);
        // SAFETY: S11: the file's bytes, and zeros after them.
        unsafe { load(place, bytes.as_ptr().cast()) }
    })())
}

pub(super) unsafe extern "C" fn hipModuleLoadData(
    place: *mut hipModule_t,
    image: *const c_void,
) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        if image.is_null() {
            return Err(VALUE);
        }
        // SAFETY: S11: the caller's image.
        unsafe { load(place, image) }
    })())
}

pub(super) unsafe extern "C" fn hipModuleUnload(module: hipModule_t) -> hipError_t {
    status((|| {
        if module.is_null() {
            return Err(HANDLE);
        }
        let module = MODULES.remove(module as usize).map_err(|_| ABSENT)?;
        for function in module.extra.lock().values() {
            let _ = FUNCTIONS.remove(*function);
        }
        module.device.enter()?;
        // SAFETY: S11: it was live, and its handle is gone.
        check(unsafe { (driver().cuModuleUnload)(module.raw) })
    })())
}

/// A name that is not empty.
unsafe fn name_of<'a>(name: *const c_char) -> Result<&'a CStr, hipError_t> {
    if name.is_null() {
        return Err(VALUE);
    }
    // SAFETY: S11: the caller's C string, for the time of the call.
    let name = unsafe { CStr::from_ptr(name) };
    if name.is_empty() { Err(VALUE) } else { Ok(name) }
}

pub(super) unsafe extern "C" fn hipModuleGetFunction(
    place: *mut hipFunction_t,
    module: hipModule_t,
    name: *const c_char,
) -> hipError_t {
    status((|| {
        place_is_there(place)?;
        let module = module_of(module)?;
        // SAFETY: S11: the caller's C string.
        let name = unsafe { name_of(name) }?;
        let mut functions = module.extra.lock();
        let handle = match functions.get(name.to_bytes()) {
            Some(handle) => *handle,
            None => {
                let mut raw = null_mut();
                // SAFETY: S11: a live module, a C string and a live place.
                check(unsafe { (driver().cuModuleGetFunction)(&mut raw, module.raw, name.as_ptr()) })?;
                let handle = FUNCTIONS.insert(Arc::new(Function { raw, device: module.device, extra: () }));
                functions.insert(name.to_bytes().to_vec(), handle);
                handle
            }
        };
        // SAFETY: S11: the caller's place for the result.
        unsafe { give(place, handle as hipFunction_t) }
    })())
}

/// Either place may be null.
pub(super) unsafe extern "C" fn hipModuleGetGlobal(
    address: *mut hipDeviceptr_t,
    bytes: *mut usize,
    module: hipModule_t,
    name: *const c_char,
) -> hipError_t {
    status((|| {
        let module = module_of(module)?;
        // SAFETY: S11: the caller's C string; its places may be null for the driver too.
        unsafe {
            let name = name_of(name)?;
            match check((driver().cuModuleGetGlobal)(address.cast(), bytes, module.raw, name.as_ptr())) {
                // The name is a function's.
                Err(VALUE) => Err(hipError_t::hipErrorNotFound),
                outcome => outcome,
            }
        }
    })())
}
