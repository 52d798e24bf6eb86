//! The registered modules, and kernels and variables as Rust sees them.

use crate::abi;
use crate::rtc::image as compiled;
use crate::rtc::load;
use crate::rtc::lowered::lowered;
use crate::run;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::LazyLock;
use thiserror::Error;

/// First bytes of an image that names a registered module.
pub(crate) const MAGIC: &[u8; 8] = b"HIPHOSTM";
/// Longest name that an image may carry, in bytes.
pub(crate) const NAME_LIMIT: u32 = 1024;

/// Why a module was not registered.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Built against another version of the headers.
    #[error(
        "the kernel module was compiled against other hip-host headers: rebuild it with those of this crate"
    )]
    Version,
    /// A wave size that no device has.
    #[error("kernel module {name} is built for wave size {wave_size}: only 32, 64 and 0 (both) exist")]
    WaveSize {
        /// The module.
        name: String,
        /// What it says.
        wave_size: u32,
    },
    /// Another module of that name serves that wave size already.
    #[error(
        "kernel module {name} for wave size {wave_size} is registered already: give one of them another name"
    )]
    Duplicate {
        /// The module.
        name: String,
        /// 32, 64, or 0 for both.
        wave_size: u32,
    },
    /// A kernel that has no way to run.
    #[error(
        "kernel {kernel} of module {name} has no entry for its kind: rebuild it with this crate's headers"
    )]
    NoEntry {
        /// The module.
        name: String,
        /// The kernel.
        kernel: String,
    },
}

hip_sys::debug_by_display!(RegisterError);

/// A registered kernel. It lives as long as the program.
#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) sizes: &'static [u32],
    pub(crate) offsets: &'static [u32],
    pub(crate) kernarg_size: u32,
    pub(crate) max_threads: u32,
    /// Whether the stacks of unfinished threads are leaked: `abi::KERNEL_KEEPS_STACKS`.
    pub(crate) keeps_stacks: bool,
    pub(crate) code: Code,
}

/// How a kernel runs: one call for each block, or on fibers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Code {
    /// One call for each block.
    Plain(abi::Entry),
    /// Called on fibers, which run the block's threads.
    Threads(abi::Entry),
}

/// A registered variable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Global {
    pub(crate) address: usize,
    pub(crate) size: usize,
}

/// A registered module.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) kernels: HashMap<String, &'static Kernel>,
    pub(crate) globals: HashMap<String, Global>,
    /// Distinguishes a second registration of the same module from another module with the same name.
    address: usize,
}

static MODULES: LazyLock<RwLock<HashMap<(String, u32), &'static Module>>> = LazyLock::new(Default::default);

/// Makes a compiled module known under its name. Registering the same one again does nothing.
///
/// # Errors
/// [`RegisterError`] says what is wrong with the module.
///
/// # Safety
/// `entry` was defined by `HIPHOST_MODULE` of this crate's headers, or returns the same tables; in both cases its code
/// and its tables stay loaded and never change. The kernels and variables are what the tables say. No exception or panic
/// leaves a kernel. A kernel without [`abi::KERNEL_KEEPS_STACKS`] allows that a failed launch reuses the stacks of
/// threads that have not finished, and drops nothing on them.
pub unsafe fn register_module(entry: abi::ModuleEntry) -> Result<(), RegisterError> {
    // SAFETY: S11: the caller vouches for the entry.
    let (module, name) = unsafe { header(entry) }?;
    let wave_size = module.wave_size;
    let key = (name, wave_size);
    let mut modules = MODULES.write();
    // Before the kernels are read, which leaks them.
    if let Some(known) = modules.get(&key) {
        let same = known.address == std::ptr::from_ref(module) as usize;
        return if same { Ok(()) } else { Err(RegisterError::Duplicate { name: key.0, wave_size }) };
    }
    // SAFETY: S11: the caller vouches for the tables.
    let module = unsafe { read(module, &key.0) }?;
    modules.insert(key, Box::leak(Box::new(module)));
    Ok(())
}

/// Reads a module's tables. Its kernels are leaked.
///
/// # Safety
/// As [`register_module`].
pub(crate) unsafe fn read_module(entry: abi::ModuleEntry) -> Result<Module, RegisterError> {
    // SAFETY: S11: the caller vouches for the entry and its tables.
    unsafe {
        let (module, name) = header(entry)?;
        read(module, &name)
    }
}

/// The module of an entry, and its name.
///
/// # Safety
/// As [`register_module`].
unsafe fn header(entry: abi::ModuleEntry) -> Result<(&'static abi::Module, String), RegisterError> {
    // SAFETY: S11: the caller vouches for the entry; the runtime's table is static.
    let module = unsafe { entry(&raw const run::RUNTIME) };
    if module.is_null() {
        return Err(RegisterError::Version);
    }
    // SAFETY: S11: the entry returned a module that lives as long as its code.
    let module = unsafe { &*module };
    if module.abi != abi::ABI {
        return Err(RegisterError::Version);
    }
    // SAFETY: S11: names in the tables are C strings.
    let name = unsafe { text(module.name) };
    let wave_size = module.wave_size;
    if ![0, 32, 64].contains(&wave_size) {
        return Err(RegisterError::WaveSize { name, wave_size });
    }
    Ok((module, name))
}

/// # Safety
/// `module` is what [`header`] returned.
unsafe fn read(module: &'static abi::Module, name: &str) -> Result<Module, RegisterError> {
    let address = std::ptr::from_ref(module) as usize;
    // SAFETY: S11: the caller vouches for the tables.
    let (kernels, globals) = unsafe { (read_kernels(name, module.kernels)?, read_globals(module.globals)) };
    Ok(Module { kernels, globals, address })
}

/// The bytes that `hipModuleLoadData` accepts for a registered module. They hold its name and no address.
pub fn image(name: &str) -> Vec<u8> {
    let length = u32::try_from(name.len()).unwrap_or(u32::MAX);
    [MAGIC, &length.to_le_bytes()[..], name.as_bytes()].concat()
}

/// The module of that name for a device of that wave size.
pub(crate) fn find(name: &str, wave_size: u32) -> Option<&'static Module> {
    let modules = MODULES.read();
    let get = |wave| modules.get(&(name.to_owned(), wave)).copied();
    get(wave_size).or_else(|| get(0))
}

/// # Safety
/// `first` heads a list made by the headers' registration, which lives as long as the program.
unsafe fn read_kernels(
    module: &str,
    first: *const abi::Kernel,
) -> Result<HashMap<String, &'static Kernel>, RegisterError> {
    let mut kernels = HashMap::new();
    let mut next = first;
    while !next.is_null() {
        // SAFETY: S11: the caller vouches for the list; sizes and offsets have `nargs` entries.
        let (kernel, name, sizes, offsets) = unsafe {
            let kernel = &*next;
            let count = kernel.nargs as usize;
            let sizes = std::slice::from_raw_parts(kernel.arg_size, count);
            let offsets = std::slice::from_raw_parts(kernel.arg_offset, count);
            (kernel, lowered(&text(kernel.name)), sizes, offsets)
        };
        let entry = if kernel.flags & abi::KERNEL_BARRIERS == 0 {
            kernel.plain.map(Code::Plain)
        } else {
            kernel.threads.map(Code::Threads)
        };
        let no_entry = || RegisterError::NoEntry { name: module.to_owned(), kernel: name.clone() };
        let code = entry.ok_or_else(no_entry)?;
        let (kernarg_size, max_threads) = (kernel.kernarg_size, kernel.max_threads);
        let keeps_stacks = kernel.flags & abi::KERNEL_KEEPS_STACKS != 0;
        let name_of = name.clone();
        let read = Kernel { name: name_of, sizes, offsets, kernarg_size, max_threads, keeps_stacks, code };
        kernels.insert(name, &*Box::leak(Box::new(read)));
        next = kernel.next;
    }
    Ok(kernels)
}

/// # Safety
/// As [`read_kernels`].
unsafe fn read_globals(first: *const abi::Global) -> HashMap<String, Global> {
    let mut globals = HashMap::new();
    let mut next = first;
    while !next.is_null() {
        // SAFETY: S11: the caller vouches for the list.
        let (global, name) = unsafe { (&*next, lowered(&text((*next).name))) };
        globals.insert(name, Global { address: global.address as usize, size: global.size as usize });
        next = global.next;
    }
    globals
}

/// # Safety
/// `name` is a C string.
unsafe fn text(name: *const c_char) -> String {
    // SAFETY: S11: the caller vouches for it.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

/// The name in an image, `None` if the bytes are not an image of ours.
///
/// # Safety
/// `image` points to bytes that are readable up to the first one that differs from an image of ours, and to a whole
/// image if none does: `hipModuleLoadData` takes no length.
pub(crate) unsafe fn image_name(image: *const c_void) -> Option<String> {
    let bytes = image.cast::<u8>();
    // SAFETY: S11: each byte is read only after all before it matched; the caller vouches for those.
    unsafe {
        for (i, expected) in MAGIC.iter().enumerate() {
            if bytes.add(i).read() != *expected {
                return None;
            }
        }
        let length = u32::from_le_bytes(bytes.add(8).cast::<[u8; 4]>().read());
        if length == 0 || length > NAME_LIMIT {
            return None;
        }
        let name = std::slice::from_raw_parts(bytes.add(12), length as usize);
        String::from_utf8(name.to_vec()).ok()
    }
}

/// The length of an image, either of a registered module or of compiled code; `None` if the bytes are not an
/// image.
///
/// # Safety
/// As [`image_name`], and 16 bytes are readable if the first bytes are those of an image.
pub(crate) unsafe fn image_length(image: *const c_void) -> Option<usize> {
    // SAFETY: S11: the caller vouches for the bytes.
    unsafe {
        if load::is_image(image) {
            return compiled::length(&image.cast::<[u8; 16]>().read_unaligned()).ok();
        }
        image_name(image).map(|name| MAGIC.len() + 4 + name.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_holds_its_name() {
        let bytes = image("reduce_f32");
        assert_eq!(bytes, b"HIPHOSTM\x0a\0\0\0reduce_f32");
        // SAFETY: S11: a whole image, and text that differs from one at its first byte.
        unsafe {
            assert_eq!(image_name(bytes.as_ptr().cast()).as_deref(), Some("reduce_f32"));
            assert_eq!(image_name(b"not code".as_ptr().cast()), None);
            assert_eq!(image_name(image("").as_ptr().cast()), None);
        }
    }

    #[test]
    fn debug_shows_the_message() {
        let error = RegisterError::WaveSize { name: "sum".into(), wave_size: 7 };
        let said = "kernel module sum is built for wave size 7: only 32, 64 and 0 (both) exist";
        assert_eq!(format!("{error:?}"), said);
    }
}
