//! Shared by the tests: the platform with the test modules registered, and macros for calls.
#![allow(dead_code, unused_macros, reason = "each test file uses a part")]

use hip_sys::HipTable;
use hip_sys::hip::*;
use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Calls a function of the table and returns the code.
macro_rules! call {
    ($hip:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let function = $hip.table.$name;
        // SAFETY: S1, S11: the test passes live pointers, or arguments that the function must refuse.
        unsafe { function($($argument),*) }.0
    }};
}

/// As `call`, for functions that a platform may lack.
macro_rules! call_optional {
    ($hip:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let function = $hip.table.$name.get().expect("hip-host has it");
        // SAFETY: S1, S11: as above.
        unsafe { function($($argument),*) }.0
    }};
}

/// Calls and expects success.
macro_rules! ok {
    ($hip:expr, $name:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(call!($hip, $name($($argument),*)), 0, stringify!($name))
    };
}

/// Addresses of the arguments, for a launch.
macro_rules! arguments {
    ($($argument:expr),* $(,)?) => {
        &mut [$((&raw mut $argument).cast::<std::ffi::c_void>()),*]
    };
}

pub(crate) mod apart;
pub(crate) mod broken;
pub(crate) mod gate;

/// The platform, locked for one test at a time, because tests observe the whole device.
pub(crate) struct Hip {
    pub table: HipTable,
    _alone: MutexGuard<'static, ()>,
}

static ALONE: Mutex<()> = Mutex::new(());

pub(crate) fn hip() -> Hip {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for entry in hip_host_test_kernels::MODULES {
        // SAFETY: S11: HIPHOST_MODULE defined them, in code linked into this program.
        unsafe { hip_host::register_module(entry) }.expect("a good module");
    }
    let hip = Hip { table: hip_host::platform().hip().clone(), _alone: alone };
    // Waits for work that an earlier test left.
    for device in [1, 0] {
        ok!(hip, hipSetDevice(device));
        ok!(hip, hipDeviceSynchronize());
    }
    call!(hip, hipGetLastError());
    hip
}

/// Plain numbers that the tests copy.
pub(crate) trait Plain: Copy + Default {}
impl Plain for u8 {}
impl Plain for u16 {}
impl Plain for i32 {}
impl Plain for u32 {}
impl Plain for i64 {}
impl Plain for u64 {}
impl Plain for f32 {}
impl Plain for f64 {}

/// Device memory.
pub(crate) struct Buffer<'a, T> {
    pub pointer: *mut c_void,
    pub len: usize,
    hip: &'a Hip,
    _type: PhantomData<T>,
}

impl<T> Drop for Buffer<'_, T> {
    fn drop(&mut self) {
        call!(self.hip, hipFree(self.pointer));
    }
}

impl<'a, T> Buffer<'a, T> {
    /// Takes ownership of memory that the test allocated.
    pub(crate) fn own(hip: &'a Hip, pointer: *mut c_void, len: usize) -> Self {
        Self { pointer, len, hip, _type: PhantomData }
    }
}

impl<T: Plain> Buffer<'_, T> {
    pub(crate) fn read(&self) -> Vec<T> {
        let mut out = vec![T::default(); self.len];
        let bytes = size_of_val(out.as_slice());
        let kind = hipMemcpyKind::hipMemcpyDeviceToHost;
        ok!(self.hip, hipMemcpy(out.as_mut_ptr().cast(), self.pointer, bytes, kind));
        out
    }
}

impl Hip {
    pub(crate) fn buffer<T: Plain>(&self, values: &[T]) -> Buffer<'_, T> {
        let (mut pointer, bytes) = (null_mut(), size_of_val(values));
        ok!(self, hipMalloc(&mut pointer, bytes));
        let kind = hipMemcpyKind::hipMemcpyHostToDevice;
        ok!(self, hipMemcpy(pointer, values.as_ptr().cast(), bytes, kind));
        Buffer { pointer, len: values.len(), hip: self, _type: PhantomData }
    }

    pub(crate) fn zeros<T: Plain>(&self, len: usize) -> Buffer<'_, T> {
        self.buffer(&vec![T::default(); len])
    }

    pub(crate) fn stream(&self, flags: u32) -> hipStream_t {
        let mut stream = null_mut();
        ok!(self, hipStreamCreateWithFlags(&mut stream, flags));
        stream
    }

    pub(crate) fn event(&self) -> hipEvent_t {
        let mut event = null_mut();
        ok!(self, hipEventCreateWithFlags(&mut event, 0));
        event
    }

    /// Loads an image.
    pub(crate) fn load(&self, image: &[u8]) -> hipModule_t {
        let mut module = null_mut();
        ok!(self, hipModuleLoadData(&mut module, image.as_ptr().cast()));
        module
    }

    /// The kernel of that name.
    pub(crate) fn find(&self, module: hipModule_t, name: &str) -> hipFunction_t {
        let (name, mut function) = (CString::new(name).expect("no zero byte"), null_mut());
        ok!(self, hipModuleGetFunction(&mut function, module, name.as_ptr()));
        function
    }

    /// Loads a registered module.
    pub(crate) fn module(&self, name: &str) -> hipModule_t {
        self.load(&hip_host::image(name))
    }

    /// A kernel of a registered module.
    pub(crate) fn function(&self, module: &str, name: &str) -> hipFunction_t {
        self.find(self.module(module), name)
    }

    /// Launches with the addresses of arguments and returns the code.
    pub(crate) fn launch_code(
        &self,
        function: hipFunction_t,
        shape: Shape,
        stream: hipStream_t,
        arguments: &mut [*mut c_void],
    ) -> u32 {
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        let (list, none) = (arguments.as_mut_ptr(), null_mut());
        call!(self, hipModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, shape.shared, stream, list, none))
    }

    pub(crate) fn launch(
        &self,
        function: hipFunction_t,
        shape: Shape,
        stream: hipStream_t,
        arguments: &mut [*mut c_void],
    ) {
        assert_eq!(self.launch_code(function, shape, stream, arguments), 0, "launch");
    }

    pub(crate) fn sync(&self) {
        ok!(self, hipDeviceSynchronize());
    }
}

/// Grid, block and dynamic shared memory.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
}

pub(crate) fn shape(grid: u32, block: u32) -> Shape {
    Shape { grid: [grid, 1, 1], block: [block, 1, 1], shared: 0 }
}
