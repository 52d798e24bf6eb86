//! hip-host through its C functions, with the few calls that benchmarks need. A failed call ends the program.

use hip_host::ModuleEntry;
use hip_host::abi::{Module, Runtime};
use hip_sys::HipTable;
use hip_sys::hip::{hipError_t, hipFunction_t};
use std::ffi::{CString, c_void};
use std::ptr::null_mut;

unsafe extern "C" {
    fn hiphost_module_bench_plain_any(runtime: *const Runtime) -> *const Module;
    fn hiphost_module_bench_threads_w32(runtime: *const Runtime) -> *const Module;
    fn hiphost_module_bench_threads_w64(runtime: *const Runtime) -> *const Module;
}

const ENTRIES: [ModuleEntry; 3] =
    [hiphost_module_bench_plain_any, hiphost_module_bench_threads_w32, hiphost_module_bench_threads_w64];

/// hip-host on one of its devices.
pub struct Hip(HipTable);

/// A kernel of the benchmarks.
#[derive(Clone, Copy)]
pub struct Kernel(hipFunction_t);

/// Floats in device memory, which is also this process's memory.
pub struct Floats {
    hip: HipTable,
    address: *mut f32,
    len: usize,
}

/// A kernel argument.
pub enum Argument<'a> {
    /// The address of the first element.
    Floats(&'a Floats),
    /// An `int`.
    Int(i32),
    /// A `uint64_t`.
    U64(u64),
}

fn check(status: hipError_t) {
    assert_eq!(status, hipError_t::hipSuccess);
}

impl Hip {
    /// Makes the device current on this thread: 0 has wave size 32, 1 has 64.
    pub fn on(device: i32) -> Self {
        for entry in ENTRIES {
            // SAFETY: S11: HIPHOST_MODULE defined them, in code linked into this program.
            unsafe { hip_host::register_module(entry) }
                .expect("a module built with this workspace's headers");
        }
        let table = hip_host::platform().hip().clone();
        // SAFETY: S1: a function of hip-host.
        check(unsafe { (table.hipSetDevice)(device) });
        Self(table)
    }

    /// A kernel of `bench_plain` or `bench_threads`.
    pub fn kernel(&self, module: &str, name: &str) -> Kernel {
        let (mut loaded, mut function) = (null_mut(), null_mut());
        let (image, name) = (hip_host::image(module), CString::new(name).expect("no zero byte"));
        // SAFETY: S1: an image, a C string, live output pointers.
        unsafe {
            check((self.0.hipModuleLoadData)(&mut loaded, image.as_ptr().cast()));
            check((self.0.hipModuleGetFunction)(&mut function, loaded, name.as_ptr()));
        }
        Kernel(function)
    }

    /// Memory for `len` floats, each set to the value.
    pub fn floats(&self, len: usize, value: f32) -> Floats {
        let (mut pointer, hip) = (null_mut(), self.0.clone());
        // SAFETY: S1: a live output pointer.
        check(unsafe { (hip.hipMalloc)(&mut pointer, 4 * len) });
        let mut floats = Floats { hip, address: pointer.cast(), len };
        floats.as_mut_slice().fill(value);
        floats
    }

    /// Appends a launch to the null stream.
    ///
    /// # Safety
    /// The arguments are those that the kernel declares, with enough memory for what it writes.
    pub unsafe fn launch(&self, kernel: Kernel, grid: u32, block: u32, arguments: &mut [Argument<'_>]) {
        let mut addresses = [null_mut::<c_void>(); 4];
        for (address, argument) in addresses.iter_mut().zip(arguments) {
            *address = match argument {
                Argument::Floats(floats) => (&raw const floats.address).cast_mut().cast(),
                Argument::Int(value) => (&raw mut *value).cast(),
                Argument::U64(value) => (&raw mut *value).cast(),
            };
        }
        let (list, none) = (addresses.as_mut_ptr(), null_mut());
        // SAFETY: S9: the caller vouches for the arguments.
        check(unsafe {
            (self.0.hipModuleLaunchKernel)(kernel.0, grid, 1, 1, block, 1, 1, 0, null_mut(), list, none)
        });
    }

    /// Waits for the null stream.
    pub fn wait(&self) {
        // SAFETY: S1: the null stream.
        check(unsafe { (self.0.hipStreamSynchronize)(null_mut()) });
    }
}

impl Floats {
    /// The floats. No launched work may still use them.
    pub fn as_slice(&self) -> &[f32] {
        // SAFETY: S12: `floats` allocated and wrote them; `Drop` has not run.
        unsafe { std::slice::from_raw_parts(self.address, self.len) }
    }

    /// The floats, writable. No launched work may still use them.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        // SAFETY: S12: as above; the memory came from hipMalloc, and any bits are a float.
        unsafe { std::slice::from_raw_parts_mut(self.address, self.len) }
    }
}

impl Drop for Floats {
    fn drop(&mut self) {
        // SAFETY: S4: allocated by `floats`, and not freed yet. hipFree waits for launched work.
        check(unsafe { (self.hip.hipFree)(self.address.cast()) });
    }
}
