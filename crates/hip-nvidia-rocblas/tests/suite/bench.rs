//! A handle on a card, and memory of it.

use crate::{DEVICE, OK};
use hip_sys::hip::{hipError_t, hipMemcpyKind};
use hip_sys::rocblas::*;
use hip_sys::{HipTable, Platform, Rocblas, RocblasTable};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

/// A handle on device 0.
pub(crate) struct Bench {
    platform: Arc<Platform>,
    library: Rocblas,
    pub(crate) handle: rocblas_handle,
}

impl Bench {
    pub(crate) fn open() -> Option<Self> {
        let platform = match hip_nvidia::platform() {
            Ok(platform) => platform,
            Err(missing) => {
                println!("skipped: {missing}");
                return None;
            }
        };
        let mut count = 0;
        // SAFETY: S1: a live variable.
        if unsafe { (platform.hip().hipGetDeviceCount)(&mut count) }.0 != 0 || count == 0 {
            println!("skipped: no card");
            return None;
        }
        let library = match hip_nvidia_rocblas::library() {
            Ok(library) => library,
            Err(missing) => {
                println!("skipped: {missing}");
                return None;
            }
        };
        let mut bench = Self { platform, library, handle: null_mut() };
        // SAFETY: S1: a live variable.
        assert_eq!(unsafe { (bench.blas().rocblas_create_handle)(&mut bench.handle) }, OK);
        Some(bench)
    }

    pub(crate) fn blas(&self) -> &RocblasTable {
        self.library.table()
    }

    pub(crate) fn hip(&self) -> &HipTable {
        self.platform.hip()
    }

    pub(crate) fn device_scalars(&self) {
        // SAFETY: S1: a live handle.
        assert_eq!(unsafe { (self.blas().rocblas_set_pointer_mode)(self.handle, DEVICE) }, OK);
    }

    pub(crate) fn put<V: Copy>(&self, values: &[V]) -> Memory<'_> {
        let mut memory = Memory { bench: self, start: null_mut() };
        let bytes = size_of_val(values);
        // SAFETY: S1: a live variable, and as many bytes on both sides.
        unsafe {
            assert_eq!((self.hip().hipMalloc)(&mut memory.start, bytes), hipError_t::hipSuccess);
            let kind = hipMemcpyKind::hipMemcpyHostToDevice;
            let copied = (self.hip().hipMemcpy)(memory.start, values.as_ptr().cast(), bytes, kind);
            assert_eq!(copied, hipError_t::hipSuccess);
        }
        memory
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // SAFETY: S1: a live handle.
        unsafe { (self.blas().rocblas_destroy_handle)(self.handle) };
    }
}

pub(crate) struct Memory<'a> {
    bench: &'a Bench,
    pub(crate) start: *mut c_void,
}

impl Memory<'_> {
    pub(crate) fn at<V>(&self) -> *mut V {
        self.start.cast()
    }

    /// Waits for everything, and compares the first values.
    #[track_caller]
    pub(crate) fn is<V: Copy + Default + PartialEq + std::fmt::Debug>(&self, expected: &[V]) {
        let mut values = vec![V::default(); expected.len()];
        let hip = self.bench.hip();
        // SAFETY: S1: as many bytes on both sides; the tests expect no more than there are.
        unsafe {
            assert_eq!((hip.hipDeviceSynchronize)(), hipError_t::hipSuccess);
            let kind = hipMemcpyKind::hipMemcpyDeviceToHost;
            let bytes = size_of_val(expected);
            let copied = (hip.hipMemcpy)(values.as_mut_ptr().cast(), self.start, bytes, kind);
            assert_eq!(copied, hipError_t::hipSuccess);
        }
        assert_eq!(values, expected);
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        // SAFETY: S1: it was allocated, and everything was waited for.
        unsafe { (self.bench.hip().hipFree)(self.start) };
    }
}

macro_rules! ok {
    ($bench:ident.$function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: S1: the test's own memory, as large as the arguments say.
        assert_eq!(unsafe { ($bench.blas().$function)($bench.handle, $($argument),*) }, OK)
    };
    ($bench:ident.$function:ident?($($argument:expr),* $(,)?)) => {
        // SAFETY: S1: as above.
        assert_eq!(unsafe { ($bench.blas().$function.get().unwrap())($bench.handle, $($argument),*) }, OK)
    };
}

pub(crate) use ok;
