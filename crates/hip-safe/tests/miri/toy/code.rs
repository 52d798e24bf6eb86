//! Modules with two kernels, which are Rust functions:
//! - `add_one(const u32* from, u32* to, u32 count)`
//! - `sum(const u32* of each of SUMMED sources, u32* to, u32 count)`
#![allow(non_snake_case, reason = "HIP's names")]

use super::streams::submit;
use super::{SUCCESS, SendPtr, set};
use hip_sys::HipTable;
use hip_sys::hip::*;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// What a module is loaded from.
pub(crate) const IMAGE: &[u8] = b"the toy's kernels";

/// So many that a launch's arguments, and what it uses, do not stay in place.
pub(crate) const SUMMED: usize = 13;

struct Kernel {
    name: &'static CStr,
    /// Bytes of its arguments.
    sizes: Vec<usize>,
    run: fn(&[u64]),
}

/// Its kernels' addresses are their handles.
struct Module([Kernel; 2]);

pub(super) fn fill(table: &mut HipTable) {
    set!(table, hipModuleLoadData, hipModuleUnload, hipModuleGetFunction, hipFuncGetAttribute);
    set!(table, hipModuleLaunchKernel, hipModuleGetGlobal);
}

/// The elements that an argument points to.
///
/// # Safety
/// It points to so many elements, which nobody writes meanwhile.
unsafe fn source<'a>(argument: u64, count: usize) -> &'a [u32] {
    let first = std::ptr::with_exposed_provenance(argument as usize);
    // SAFETY: S9, S12: the caller's promise.
    unsafe { std::slice::from_raw_parts(first, count) }
}

/// Writes the elements that an argument points to. They may not have been written before.
///
/// # Safety
/// It points to so many elements, which nobody else uses meanwhile.
unsafe fn write(argument: u64, values: impl Iterator<Item = u32>) {
    let first = std::ptr::with_exposed_provenance_mut::<u32>(argument as usize);
    for (index, value) in values.enumerate() {
        // SAFETY: S9: the caller's promise.
        unsafe { first.add(index).write(value) };
    }
}

fn add_one(arguments: &[u64]) {
    let &[from, to, count] = arguments else { unreachable!("the launch has what the kernel declares") };
    // SAFETY: S9: the buffers have so many elements.
    unsafe { write(to, source(from, count as usize).iter().map(|x| x + 1)) };
}

fn sum(arguments: &[u64]) {
    let (sources, &[to, count]) = arguments.split_at(SUMMED) else { unreachable!("as above") };
    let count = count as usize;
    // SAFETY: S9: the buffers have so many elements.
    unsafe {
        let sources: Vec<_> = sources.iter().map(|&from| source(from, count)).collect();
        write(to, (0..count).map(|i| sources.iter().map(|from| from[i]).sum()));
    }
}

unsafe extern "C" fn hipModuleLoadData(module: *mut hipModule_t, image: *const c_void) -> hipError_t {
    // SAFETY: S11: an image ends in zeros, which end a text too.
    if unsafe { CStr::from_ptr(image.cast()) }.to_bytes() != IMAGE {
        return hipError_t::hipErrorInvalidImage;
    }
    let (pointer, number) = (size_of::<*const u32>(), size_of::<u32>());
    let sizes = vec![pointer, pointer, number];
    let add_one = Kernel { name: c"add_one", sizes, run: add_one };
    let sizes = [vec![pointer; SUMMED + 1], vec![number]].concat();
    let made = Box::new(Module([add_one, Kernel { name: c"sum", sizes, run: sum }]));
    // SAFETY: S11: the caller's out-pointer.
    unsafe { module.write(Box::into_raw(made).cast()) };
    SUCCESS
}

/// At once: a kernel of it that is still to run is a use of freed memory.
unsafe extern "C" fn hipModuleUnload(module: hipModule_t) -> hipError_t {
    // SAFETY: S4, S11: it was made above, and the caller gives it up.
    drop(unsafe { Box::from_raw(module.cast::<Module>()) });
    SUCCESS
}

unsafe extern "C" fn hipModuleGetFunction(
    function: *mut hipFunction_t,
    module: hipModule_t,
    name: *const c_char,
) -> hipError_t {
    // SAFETY: S11: a module that the caller has, and a C string.
    let (Module(kernels), name) = unsafe { (&*module.cast::<Module>(), CStr::from_ptr(name)) };
    let Some(kernel) = kernels.iter().find(|kernel| kernel.name == name) else {
        return hipError_t::hipErrorNotFound;
    };
    // SAFETY: S11: the caller's out-pointer.
    unsafe { function.write(std::ptr::from_ref(kernel).cast_mut().cast()) };
    SUCCESS
}

/// It has none.
unsafe extern "C" fn hipModuleGetGlobal(
    _address: *mut hipDeviceptr_t,
    _bytes: *mut usize,
    _module: hipModule_t,
    _name: *const c_char,
) -> hipError_t {
    hipError_t::hipErrorNotFound
}

unsafe extern "C" fn hipFuncGetAttribute(
    value: *mut c_int,
    attribute: hipFunction_attribute,
    _function: hipFunction_t,
) -> hipError_t {
    let threads = attribute == hipFunction_attribute::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    // SAFETY: S11: the caller's out-pointer.
    unsafe { value.write(if threads { 1024 } else { 0 }) };
    SUCCESS
}

pub(super) unsafe extern "C" fn param_info(
    function: hipFunction_t,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> hipError_t {
    // SAFETY: S11: a kernel whose module the caller has.
    let kernel = unsafe { &*function.cast::<Kernel>() };
    let Some(&bytes) = kernel.sizes.get(index) else { return hipError_t::hipErrorInvalidValue };
    // SAFETY: S11: the caller's out-pointers.
    unsafe {
        offset.write(kernel.sizes[..index].iter().sum());
        size.write(bytes);
    }
    SUCCESS
}

unsafe extern "C" fn hipModuleLaunchKernel(
    function: hipFunction_t,
    _grid_x: c_uint,
    _grid_y: c_uint,
    _grid_z: c_uint,
    _block_x: c_uint,
    _block_y: c_uint,
    _block_z: c_uint,
    _shared: c_uint,
    stream: hipStream_t,
    arguments: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> hipError_t {
    // SAFETY: S11: a kernel whose module the caller has.
    let sizes = unsafe { &(*function.cast::<Kernel>()).sizes };
    let word = |(index, &bytes): (usize, &usize)| {
        let mut word = [0; size_of::<u64>()];
        // SAFETY: S9: there are as many arguments as the kernel declares, each as large.
        let argument = unsafe { *arguments.add(index) };
        // SAFETY: S9: as above; no argument is larger than a word.
        unsafe { argument.cast::<u8>().copy_to_nonoverlapping(word.as_mut_ptr(), bytes) };
        u64::from_ne_bytes(word)
    };
    let words: Vec<u64> = sizes.iter().enumerate().map(word).collect();
    let kernel = SendPtr(function.cast::<Kernel>());
    // SAFETY: S4, S11: the caller keeps the module until its launches are complete.
    submit(stream, move || unsafe { ((*kernel.get()).run)(&words) });
    SUCCESS
}
