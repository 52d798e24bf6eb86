//! Launches on a device of hip-host through the platform's table.

use hip_safe::{CodeCache, Source};
use hip_sys::HipTable;
use hip_sys::hip::*;
use kernels_hip::Unit;
use kernels_hip::launch::LaunchShape;
use std::collections::BTreeMap;
use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The device whose wave size is 32.
pub const WAVE_32: i32 = 0;
/// Both devices.
pub const BOTH: [i32; 2] = [WAVE_32, 1];

/// An argument of a kernel.
pub enum Arg<'a> {
    /// A pointer into a copy of these bytes, at this offset.
    In(&'a [u8], usize),
    /// A pointer to a copy of these bytes, which are copied back after the launch.
    Out(&'a mut [u8]),
    /// The same pointer as the argument with this number.
    Same(usize),
    /// A value.
    Value(&'a [u8]),
}

/// An array that a kernel reads.
pub fn input<T: bytemuck::NoUninit>(values: &[T]) -> Arg<'_> {
    Arg::In(bytemuck::cast_slice(values), 0)
}
/// An array that a kernel reads through a pointer to element `first`.
pub fn input_at<T: bytemuck::NoUninit>(values: &[T], first: usize) -> Arg<'_> {
    Arg::In(bytemuck::cast_slice(values), first * size_of::<T>())
}
/// An array that a kernel writes.
pub fn output<T: bytemuck::Pod>(values: &mut [T]) -> Arg<'_> {
    Arg::Out(bytemuck::cast_slice_mut(values))
}
/// A struct or a number.
pub fn value<T: bytemuck::NoUninit>(v: &T) -> Arg<'_> {
    Arg::Value(bytemuck::bytes_of(v))
}

/// The unit of each kernel.
static UNITS: LazyLock<BTreeMap<String, Unit>> = LazyLock::new(|| {
    kernels_hip::units().flat_map(|unit| unit.kernels().into_iter().map(move |name| (name, unit))).collect()
});

/// One launch at a time: the tests of a program share the devices.
static ALONE: Mutex<()> = Mutex::new(());

macro_rules! ok {
    ($table:expr, $name:ident($($argument:expr),*)) => {{
        // SAFETY: S1, S2: live variables, and memory that the call before allocated, with its length.
        let status = unsafe { ($table.$name)($($argument),*) };
        assert_eq!(status, hipError_t::hipSuccess, stringify!($name));
    }};
}

/// Runs a kernel on a device. Panics where a call fails.
///
/// # Safety
/// The kernel takes these arguments, and reaches no further than the arrays.
pub unsafe fn run(device: i32, kernel: &str, shape: (u32, u32), args: &mut [Arg<'_>]) {
    // SAFETY: S9: the caller's promise.
    unsafe { run_shared(device, kernel, shape, 0, args) };
}

/// As [`run`], with so many bytes of dynamic shared memory.
///
/// # Safety
/// As for [`run`].
pub unsafe fn run_shared(
    device: i32,
    kernel: &str,
    (grid, block): (u32, u32),
    shared: u32,
    args: &mut [Arg<'_>],
) {
    let unit = UNITS.get(kernel).unwrap_or_else(|| panic!("no kernel {kernel}"));
    let image = image(unit, if device == WAVE_32 { 32 } else { 64 });
    // SAFETY: S9: the caller's promise.
    unsafe { run_image(device, &image, kernel, (grid, block), shared, args) };
}

/// As [`run_shared`], of the kernel of that name in an image.
///
/// # Safety
/// As for [`run`].
pub unsafe fn run_image(
    device: i32,
    image: &[u8],
    kernel: &str,
    (grid, block): (u32, u32),
    shared: u32,
    args: &mut [Arg<'_>],
) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let hip = table();
    ok!(hip, hipSetDevice(device));
    let (mut module, mut function) = (null_mut(), null_mut());
    ok!(hip, hipModuleLoadData(&mut module, image.as_ptr().cast()));
    let name = CString::new(kernel).expect("no zero byte");
    ok!(hip, hipModuleGetFunction(&mut function, module, name.as_ptr()));

    let mut allocated: Vec<*mut c_void> = Vec::new();
    // The pointer of each argument that is one.
    let mut pointers: Vec<*mut c_void> = Vec::new();
    for arg in &*args {
        let (bytes, offset) = match arg {
            Arg::In(bytes, offset) => (*bytes, *offset),
            Arg::Out(bytes) => (&**bytes, 0),
            Arg::Same(other) => {
                pointers.push(pointers[*other]);
                continue;
            }
            Arg::Value(_) => {
                pointers.push(null_mut());
                continue;
            }
        };
        let mut pointer = null_mut();
        ok!(hip, hipMalloc(&mut pointer, bytes.len().max(1)));
        ok!(
            hip,
            hipMemcpy(pointer, bytes.as_ptr().cast(), bytes.len(), hipMemcpyKind::hipMemcpyHostToDevice)
        );
        allocated.push(pointer);
        pointers.push(pointer.wrapping_byte_add(offset));
    }
    let mut parameters: Vec<*mut c_void> = args
        .iter()
        .zip(&pointers)
        .map(|(arg, pointer)| match arg {
            Arg::Value(bytes) => bytes.as_ptr().cast_mut().cast(),
            _ => std::ptr::from_ref(pointer).cast_mut().cast(),
        })
        .collect();
    let params = parameters.as_mut_ptr();
    ok!(
        hip,
        hipModuleLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, null_mut(), params, null_mut())
    );
    ok!(hip, hipDeviceSynchronize());
    for (arg, pointer) in args.iter_mut().zip(&pointers) {
        if let Arg::Out(bytes) = arg {
            let to = bytes.as_mut_ptr().cast();
            ok!(hip, hipMemcpy(to, *pointer, bytes.len(), hipMemcpyKind::hipMemcpyDeviceToHost));
        }
    }
    for pointer in allocated {
        ok!(hip, hipFree(pointer));
    }
    ok!(hip, hipModuleUnload(module));
}

/// As [`run`], with a shape from [`kernels_hip::launch`].
///
/// # Safety
/// As for [`run`].
pub unsafe fn launch(device: i32, kernel: &str, shape: LaunchShape, args: &mut [Arg<'_>]) {
    // SAFETY: S9: the caller's promise.
    unsafe { run(device, kernel, (shape.grid, shape.block), args) };
}

/// The platform's functions.
fn table() -> HipTable {
    hip_host::platform().hip().clone()
}

/// The image of a unit for a wave size, compiled or from the cache.
pub fn image(unit: &Unit, wave_size: u32) -> Vec<u8> {
    image_of(unit.family.source, unit, wave_size)
}

/// As [`image`], from a source that is compiled with the options and the headers of the unit.
pub fn image_of(text: &str, unit: &Unit, wave_size: u32) -> Vec<u8> {
    let own_arch = format!("host-w{wave_size}");
    let (arch, wave_size) = unit.target("host", &own_arch, wave_size);
    let source = Source::new(text)
        .name(unit.family.file)
        .headers(unit.family.headers())
        .options(unit.options("host", wave_size).expect("the host has a compiler"));
    let compiled = CodeCache::process().compile(&source, &hip_host::platform(), arch);
    compiled.unwrap_or_else(|error| panic!("{error}")).0.into_code()
}
