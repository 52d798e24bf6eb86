//! Modules and their functions and variables.
#![allow(non_snake_case, reason = "HIP's names")]

use super::give;
use crate::code::{self, Kernel};
use crate::context::{Outcome, current, status};
use crate::memory::{self, Kind, Range};
use crate::rtc::load;
use hip_sys::hip::{hipDeviceptr_t, hipError_t, hipFunction_t, hipModule_t};
use hip_sys::provider::Handles;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, LazyLock};

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;
const HANDLE: hipError_t = hipError_t::hipErrorInvalidHandle;
const IMAGE: hipError_t = hipError_t::hipErrorInvalidImage;
const ABSENT: hipError_t = hipError_t::hipErrorNotFound;

/// One load of a module.
pub(super) struct Loaded {
    code: &'static code::Module,
    device: usize,
    /// Handles of the functions that were looked up, by name.
    functions: Mutex<HashMap<String, usize>>,
}

/// A kernel of a loaded module.
pub(super) struct Function {
    pub(super) kernel: &'static Kernel,
    pub(super) device: usize,
}

static MODULES: LazyLock<Handles<Loaded>> = LazyLock::new(|| Handles::new(3));
static FUNCTIONS: LazyLock<Handles<Function>> = LazyLock::new(|| Handles::new(4));

/// The function of a handle.
pub(super) fn function_of(handle: hipFunction_t) -> Result<Arc<Function>, hipError_t> {
    FUNCTIONS.get(handle as usize).map_err(|_| HANDLE)
}

/// Loads an image, of a registered module or of compiled code, for the current device.
unsafe fn load(out: *mut hipModule_t, image: *const c_void) -> Outcome {
    let device = current();
    // SAFETY: S11: the caller's image, or bytes that differ from an image within its first bytes.
    let code = unsafe {
        if load::is_image(image) {
            let image = load::copy_image(image).map_err(|_| IMAGE)?;
            device.healthy()?;
            load::load(&image, device.wave)?
        } else {
            let name = code::image_name(image).ok_or(IMAGE)?;
            device.healthy()?;
            registered(&name, device.wave)?
        }
    };
    for variable in code.globals.values() {
        let (base, len) = (variable.address, variable.size);
        let (kind, device, flags) = (Kind::Variable, device.ordinal, 0);
        // At a second load the variable is already registered.
        let _ = memory::register(Range { base, len, kind, device, flags });
    }
    let loaded = Loaded { code, device: device.ordinal, functions: Mutex::default() };
    // SAFETY: S11: the caller's output pointer.
    unsafe { give(out, MODULES.insert(Arc::new(loaded)) as hipModule_t) }
}

/// The registered module of that name.
fn registered(name: &str, wave: u32) -> Result<&'static code::Module, hipError_t> {
    code::find(name, wave).ok_or_else(|| {
        eprintln!("hip-host: no module {name} for wave size {wave} is registered in this program");
        hipError_t::hipErrorNoBinaryForGpu
    })
}

/// Opens a regular file. Nothing else is opened: opening a pipe may wait for a writer, and opening a device
/// may have side effects.
fn open(path: &str) -> Result<File, hipError_t> {
    let absent = |_| hipError_t::hipErrorFileNotFound;
    let regular = |metadata: Metadata| if metadata.is_file() { Ok(()) } else { Err(IMAGE) };
    regular(std::fs::metadata(path).map_err(absent)?)?;
    // The file may have been replaced by a pipe meanwhile, so opening it must not wait either.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(absent)?;
    regular(file.metadata().map_err(absent)?)?;
    Ok(file)
}

pub(super) unsafe extern "C" fn hipModuleLoad(out: *mut hipModule_t, path: *const c_char) -> hipError_t {
    status((|| {
        if out.is_null() || path.is_null() {
            return Err(VALUE);
        }
        // SAFETY: S11: the caller's C string.
        let path = unsafe { CStr::from_ptr(path) }.to_str().map_err(|_| VALUE)?;
        if path.is_empty() {
            return Err(VALUE);
        }
        let mut file = open(path)?;
        // First reads enough to learn the image's length, padded with zeros if the file is shorter, then the
        // rest of the image and at most one byte more.
        let enough = code::NAME_LIMIT as usize + 16;
        let mut bytes = Vec::new();
        file.by_ref().take(enough as u64).read_to_end(&mut bytes).map_err(|_| IMAGE)?;
        let read = bytes.len();
        bytes.resize(enough, 0);
        // SAFETY: S11: longer than any name and any header.
        let whole = unsafe { code::image_length(bytes.as_ptr().cast()) }.ok_or(IMAGE)?;
        bytes.truncate(read);
        let more = (whole + 1).saturating_sub(read) as u64;
        file.take(more).read_to_end(&mut bytes).map_err(|_| IMAGE)?;
        if bytes.len() != whole {
            return Err(IMAGE);
        }
        // SAFETY: S11: a whole image; the caller's output pointer.
        unsafe { load(out, bytes.as_ptr().cast()) }
    })())
}

pub(super) unsafe extern "C" fn hipModuleLoadData(out: *mut hipModule_t, image: *const c_void) -> hipError_t {
    status((|| {
        if out.is_null() || image.is_null() {
            return Err(VALUE);
        }
        // SAFETY: S11: the caller's image, or bytes that differ from an image within its first bytes.
        unsafe { load(out, image) }
    })())
}

pub(super) unsafe extern "C" fn hipModuleUnload(module: hipModule_t) -> hipError_t {
    status((|| {
        if module.is_null() {
            return Err(HANDLE);
        }
        let loaded = MODULES.remove(module as usize).map_err(|_| ABSENT)?;
        for function in loaded.functions.lock().values() {
            let _ = FUNCTIONS.remove(*function);
        }
        Ok(())
    })())
}

/// The module of a handle, and a non-empty name.
unsafe fn look_up(module: hipModule_t, name: *const c_char) -> Result<(Arc<Loaded>, String), hipError_t> {
    let loaded = MODULES.get(module as usize).map_err(|_| HANDLE)?;
    if name.is_null() {
        return Err(VALUE);
    }
    // SAFETY: S11: the caller's C string.
    let name = unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| ABSENT)?;
    if name.is_empty() { Err(VALUE) } else { Ok((loaded, name.to_owned())) }
}

pub(super) unsafe extern "C" fn hipModuleGetFunction(
    out: *mut hipFunction_t,
    module: hipModule_t,
    name: *const c_char,
) -> hipError_t {
    status((|| {
        if out.is_null() {
            return Err(VALUE);
        }
        // SAFETY: S11: the caller's C string.
        let (loaded, name) = unsafe { look_up(module, name) }?;
        let kernel = *loaded.code.kernels.get(&name).ok_or(ABSENT)?;
        let device = loaded.device;
        let mut functions = loaded.functions.lock();
        let create = || FUNCTIONS.insert(Arc::new(Function { kernel, device }));
        let handle = *functions.entry(name).or_insert_with(create);
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
        // SAFETY: S11: the caller's C string.
        let (loaded, name) = unsafe { look_up(module, name) }?;
        let global = loaded.code.globals.get(&name).ok_or(ABSENT)?;
        // SAFETY: S11: the caller's output pointers.
        unsafe {
            let _ = give(address, global.address as *mut c_void);
            let _ = give(bytes, global.size);
        }
        Ok(())
    })())
}
