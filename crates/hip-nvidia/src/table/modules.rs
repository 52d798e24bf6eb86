//! Modules and their functions and variables.
#![allow(non_snake_case, reason = "HIP's names")]

use super::{check_not_null, give};
use crate::context::{Device, Outcome, check, driver, enter, status};
use crate::driver::{Code, Function as Raw};
use crate::handles::{FUNCTIONS, Function, MODULES, Module, module_of};
use hip_sys::hip::{hipDeviceptr_t, hipError_t, hipFunction_t, hipModule_t};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::ffi::{CStr, c_char, c_uint, c_void};
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Arc;

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;
const HANDLE: hipError_t = hipError_t::hipErrorInvalidHandle;
const ABSENT: hipError_t = hipError_t::hipErrorNotFound;
/// The first bytes of clang's bundles and of ELF files; the offset of the machine number in an ELF file, and
/// AMD GPUs' number.
const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
const ELF: &[u8] = b"\x7fELF";
const MACHINE_AT: usize = 18;
const AMDGPU: u8 = 224;
/// CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN.
const OPT_IN_SHARED: c_uint = 97;
/// CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES.
const STATIC_SHARED: c_uint = 1;
/// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.
const MAX_DYNAMIC_SHARED: c_uint = 8;

/// An error if the image is code for AMD's cards. `byte` is called for ascending indices only as far as the
/// bytes match a magic number and, for an ELF file, within its header.
fn is_not_amds(byte: impl Fn(usize) -> u8) -> Outcome {
    let begins = |with: &[u8]| with.iter().enumerate().all(|(index, wanted)| byte(index) == *wanted);
    if begins(BUNDLE) || begins(ELF) && byte(MACHINE_AT) == AMDGPU {
        return Err(hipError_t::hipErrorNoBinaryForGpu);
    }
    Ok(())
}

/// Loads a module for the current device with one of the driver's calls.
unsafe fn load(out: *mut hipModule_t, call: impl FnOnce(&mut *mut c_void) -> Code) -> Outcome {
    let device = enter()?;
    let mut raw = null_mut();
    check(call(&mut raw))?;
    let handle = MODULES.insert(Arc::new(Module { raw, device, extra: Mutex::new(Some(HashMap::new())) }));
    // SAFETY: S11: the caller's output pointer.
    unsafe { give(out, handle as hipModule_t) }
}

pub(super) unsafe extern "C" fn hipModuleLoad(out: *mut hipModule_t, path: *const c_char) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        if path.is_null() {
            return Err(VALUE);
        }
        // SAFETY: S11: the caller's C string.
        let name = unsafe { CStr::from_ptr(path) };
        if name.is_empty() {
            return Err(VALUE);
        }
        let file = Path::new(OsStr::from_bytes(name.to_bytes()));
        let mut image = Vec::new();
        open(file)?.read_to_end(&mut image).map_err(absent)?;
        is_not_amds(|index| image.get(index).copied().unwrap_or(0))?;
        // The driver reads PTX up to a zero byte.
        image.push(0);
        // SAFETY: S11: a live output pointer; the live image contains its length or ends with a zero byte.
        unsafe { load(out, |raw| (driver().cuModuleLoadData)(raw, image.as_ptr().cast())) }
    })())
}

fn absent(_: std::io::Error) -> hipError_t {
    hipError_t::hipErrorFileNotFound
}

/// Opens a file only if it is regular: opening a pipe may wait for a writer, and opening a device may have
/// side effects.
fn open(path: &Path) -> Result<File, hipError_t> {
    let regular =
        |metadata: Metadata| if metadata.is_file() { Ok(()) } else { Err(hipError_t::hipErrorInvalidImage) };
    regular(path.metadata().map_err(absent)?)?;
    // Another process may have replaced the file by a pipe since then; opening that must not wait either.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(absent)?;
    regular(file.metadata().map_err(absent)?)?;
    Ok(file)
}

pub(super) unsafe extern "C" fn hipModuleLoadData(out: *mut hipModule_t, image: *const c_void) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        if image.is_null() {
            return Err(VALUE);
        }
        // SAFETY: S11: the caller's image, which contains its own length or ends with a zero byte.
        unsafe {
            is_not_amds(|index| image.cast::<u8>().add(index).read())?;
            load(out, |raw| (driver().cuModuleLoadData)(raw, image))
        }
    })())
}

pub(super) unsafe extern "C" fn hipModuleUnload(module: hipModule_t) -> hipError_t {
    status((|| {
        if module.is_null() {
            return Err(HANDLE);
        }
        let module = MODULES.remove(module as usize).map_err(|_| ABSENT)?;
        // A thread that waits for the lock finds `None` afterwards.
        let mut functions = module.extra.lock();
        for function in functions.take().into_iter().flatten() {
            let _ = FUNCTIONS.remove(function.1);
        }
        module.device.enter()?;
        // SAFETY: S11: it was live and its handle is removed.
        check(unsafe { (driver().cuModuleUnload)(module.raw) })
    })())
}

/// Allows a function all available dynamic shared memory. HIP's kernels may always use it; CUDA's have to opt
/// in above 48 KiB.
fn may_have_all_shared(function: Raw, device: &Device) -> Outcome {
    let (mut most, mut used) = (0, 0);
    // SAFETY: S11: a live function and live output pointers.
    unsafe {
        check((driver().cuDeviceGetAttribute)(&mut most, OPT_IN_SHARED, device.handle))?;
        check((driver().cuFuncGetAttribute)(&mut used, STATIC_SHARED, function))?;
        check((driver().cuFuncSetAttribute)(function, MAX_DYNAMIC_SHARED, most - used))
    }
}

/// Checks that a name is not null or empty.
unsafe fn name_of<'a>(name: *const c_char) -> Result<&'a CStr, hipError_t> {
    if name.is_null() {
        return Err(VALUE);
    }
    // SAFETY: S11: the caller's C string, live during the call.
    let name = unsafe { CStr::from_ptr(name) };
    if name.is_empty() { Err(VALUE) } else { Ok(name) }
}

pub(super) unsafe extern "C" fn hipModuleGetFunction(
    out: *mut hipFunction_t,
    module: hipModule_t,
    name: *const c_char,
) -> hipError_t {
    status((|| {
        check_not_null(out)?;
        let module = module_of(module)?;
        // SAFETY: S11: the caller's C string.
        let name = unsafe { name_of(name) }?;
        let mut functions = module.extra.lock();
        let functions = functions.as_mut().ok_or(HANDLE)?;
        let handle = match functions.get(name.to_bytes()) {
            Some(handle) => *handle,
            None => {
                let mut raw = null_mut();
                // SAFETY: S11: a live module, a C string and a live output pointer.
                check(unsafe { (driver().cuModuleGetFunction)(&mut raw, module.raw, name.as_ptr()) })?;
                may_have_all_shared(raw, module.device)?;
                let handle = FUNCTIONS.insert(Arc::new(Function { raw, device: module.device, extra: () }));
                functions.insert(name.to_bytes().to_vec(), handle);
                handle
            }
        };
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, handle as hipFunction_t) }
    })())
}

/// Either output pointer may be null.
pub(super) unsafe extern "C" fn hipModuleGetGlobal(
    address: *mut hipDeviceptr_t,
    bytes: *mut usize,
    module: hipModule_t,
    name: *const c_char,
) -> hipError_t {
    status((|| {
        let module = module_of(module)?;
        let functions = module.extra.lock();
        functions.as_ref().ok_or(HANDLE)?;
        // SAFETY: S11: the caller's C string; the driver accepts null output pointers.
        unsafe {
            let name = name_of(name)?;
            match check((driver().cuModuleGetGlobal)(address.cast(), bytes, module.raw, name.as_ptr())) {
                // The name is that of a function.
                Err(VALUE) => Err(hipError_t::hipErrorNotFound),
                outcome => outcome,
            }
        }
    })())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    /// The result for a path. The path is checked before the driver is called, so no driver is needed.
    fn answer(path: &Path) -> hipError_t {
        let path = CString::new(path.as_os_str().as_bytes()).expect("no zero byte is in it");
        let mut module = null_mut();
        // SAFETY: S11: a live output pointer, and a C string.
        unsafe { hipModuleLoad(&mut module, path.as_ptr()) }
    }

    #[test]
    fn a_path_that_is_no_regular_file_is_an_error_without_waiting() {
        let folder = std::env::temp_dir().join(format!("hip-nvidia-modules-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let (absent, pipe) = (folder.join("absent"), folder.join("pipe"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        let answers = [folder.as_path(), Path::new("/dev/null"), &absent].map(|path| answer(path).0);
        // Nobody writes to the pipe.
        let of_pipe = made.is_ok_and(|status| status.success()).then(|| answer(&pipe).0);
        std::fs::remove_dir_all(&folder).expect("it is ours");
        assert_eq!(answers, [200, 200, 301]);
        assert!(matches!(of_pipe, None | Some(200)), "{of_pipe:?}");
    }
}
