//! A handle on device 0, memory, and descriptors.

use hip_sys::hip::{hipError_t, hipMemcpyKind};
use hip_sys::miopen::*;
use hip_sys::{HipTable, Miopen, MiopenTable, Platform};
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

pub(crate) const OK: miopenStatus_t = miopenStatus_t::miopenStatusSuccess;
pub(crate) const F32: miopenDataType_t = miopenDataType_t::miopenFloat;
pub(crate) const F16: miopenDataType_t = miopenDataType_t::miopenHalf;
/// The usual factors, one and zero.
pub(crate) const ONE: f32 = 1.0;
pub(crate) const ZERO: f32 = 0.0;

pub(crate) fn at(value: &f32) -> *const c_void {
    (&raw const *value).cast()
}

/// Whole numbers up to 2048 as 16-bit floats.
pub(crate) fn f16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value == 0.0 {
        0
    } else {
        ((bits >> 16 & 0x8000) | ((bits >> 23 & 0xff) - 112) << 10 | bits >> 13 & 0x3ff) as u16
    }
}

pub(crate) struct Bench {
    platform: Arc<Platform>,
    library: Miopen,
    pub(crate) handle: miopenHandle_t,
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
        let library = match hip_nvidia_miopen::library() {
            Ok(library) => library,
            Err(missing) => {
                println!("skipped: {missing}");
                return None;
            }
        };
        let mut bench = Self { platform, library, handle: null_mut() };
        // SAFETY: S1: a live variable.
        assert_eq!(unsafe { (bench.dnn().miopenCreate)(&mut bench.handle) }, OK);
        Some(bench)
    }

    pub(crate) fn dnn(&self) -> &MiopenTable {
        self.library.table()
    }

    pub(crate) fn hip(&self) -> &HipTable {
        self.platform.hip()
    }

    pub(crate) fn put<V: Copy>(&self, values: &[V]) -> Memory<'_> {
        let memory = self.room(size_of_val(values));
        // SAFETY: S1: as many bytes on both sides.
        unsafe {
            let kind = hipMemcpyKind::hipMemcpyHostToDevice;
            let copied =
                (self.hip().hipMemcpy)(memory.start, values.as_ptr().cast(), size_of_val(values), kind);
            assert_eq!(copied, hipError_t::hipSuccess);
        }
        memory
    }

    /// Uninitialised memory.
    pub(crate) fn room(&self, bytes: usize) -> Memory<'_> {
        let mut memory = Memory { bench: self, start: null_mut() };
        // SAFETY: S1: a live variable.
        assert_eq!(unsafe { (self.hip().hipMalloc)(&mut memory.start, bytes) }, hipError_t::hipSuccess);
        memory
    }

    /// A contiguous tensor's descriptor, which lives as long as the process.
    pub(crate) fn tensor(&self, kind: miopenDataType_t, dims: &[c_int]) -> miopenTensorDescriptor_t {
        let mut desc = null_mut();
        // SAFETY: S1: live variables and a list of that length.
        unsafe {
            assert_eq!((self.dnn().miopenCreateTensorDescriptor)(&mut desc), OK);
            let set = self.dnn().miopenSetTensorDescriptor;
            assert_eq!(set(desc, kind, dims.len() as c_int, dims.as_ptr(), null()), OK);
        }
        desc
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // SAFETY: S1: a live handle.
        unsafe { (self.dnn().miopenDestroy)(self.handle) };
    }
}

pub(crate) struct Memory<'a> {
    bench: &'a Bench,
    start: *mut c_void,
}

impl Memory<'_> {
    pub(crate) fn at(&self) -> *mut c_void {
        self.start
    }

    /// Waits for everything, and reads the first values.
    pub(crate) fn read<V: Copy + Default>(&self, count: usize) -> Vec<V> {
        let mut values = vec![V::default(); count];
        let hip = self.bench.hip();
        // SAFETY: S1: as many bytes on both sides; the tests expect no more than there are.
        unsafe {
            assert_eq!((hip.hipDeviceSynchronize)(), hipError_t::hipSuccess);
            let kind = hipMemcpyKind::hipMemcpyDeviceToHost;
            let bytes = size_of_val(&values[..]);
            let copied = (hip.hipMemcpy)(values.as_mut_ptr().cast(), self.start, bytes, kind);
            assert_eq!(copied, hipError_t::hipSuccess);
        }
        values
    }

    #[track_caller]
    pub(crate) fn is<V: Copy + Default + PartialEq + std::fmt::Debug>(&self, expected: &[V]) {
        assert_eq!(self.read::<V>(expected.len()), expected);
    }

    #[track_caller]
    pub(crate) fn is_near(&self, expected: &[f64], tolerance: f64) {
        for (index, (value, expected)) in self.read::<f32>(expected.len()).iter().zip(expected).enumerate() {
            let error = (f64::from(*value) - expected).abs();
            assert!(error <= tolerance, "{index}: {value} is not {expected}");
        }
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        // SAFETY: S1: it was allocated, and everything was waited for.
        unsafe { (self.bench.hip().hipFree)(self.start) };
    }
}

/// Calls a function with the handle and expects success.
macro_rules! ok {
    ($bench:ident.$function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: S1: the test's own memory, as large as the arguments say.
        assert_eq!(unsafe { ($bench.dnn().$function)($bench.handle, $($argument),*) }, $crate::bench::OK)
    };
}
pub(crate) use ok;

/// Calls a function without the handle.
macro_rules! set {
    ($bench:ident.$function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: S1: the test's own descriptors and variables.
        assert_eq!(unsafe { ($bench.dnn().$function)($($argument),*) }, $crate::bench::OK)
    };
}
pub(crate) use set;
