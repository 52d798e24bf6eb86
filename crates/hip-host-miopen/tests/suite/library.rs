//! The library for one test: short forms of its calls.

use crate::common::{Buffer, Hip, Plain, hip};
use half::{bf16, f16};
use hip_sys::MiopenTable;
use hip_sys::hip::*;
use hip_sys::miopen::*;
use std::ffi::c_void;
use std::ptr::null_mut;

impl Plain for f16 {}
impl Plain for bf16 {}
impl Plain for i8 {}

pub(crate) const FLOAT: miopenDataType_t = miopenDataType_t::miopenFloat;
pub(crate) const HALF: miopenDataType_t = miopenDataType_t::miopenHalf;
pub(crate) const BFLOAT: miopenDataType_t = miopenDataType_t::miopenBFloat16;
pub(crate) const DOUBLE: miopenDataType_t = miopenDataType_t::miopenDouble;

pub(crate) const BAD: u32 = miopenStatus_t::miopenStatusBadParm.0;
pub(crate) const NOT_IMPLEMENTED: u32 = miopenStatus_t::miopenStatusNotImplemented.0;
pub(crate) const UNKNOWN: u32 = miopenStatus_t::miopenStatusUnknownError.0;

/// Calls a function of the library and returns the status.
macro_rules! mi {
    ($mi:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let function = $mi.table.$name;
        // SAFETY: S1, S11: the test hands over live variables, or what the function must refuse.
        unsafe { function($($argument),*) }.0
    }};
}

/// As `mi`, for functions that only later versions have.
macro_rules! mi_later {
    ($mi:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let function = $mi.table.$name.get().expect("it is there");
        // SAFETY: S1, S11: as above.
        unsafe { function($($argument),*) }.0
    }};
}

/// Calls and expects success.
macro_rules! good {
    ($mi:expr, $name:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(mi!($mi, $name($($argument),*)), 0, stringify!($name))
    };
}

pub(crate) struct Mi {
    pub table: MiopenTable,
    pub hip: Hip,
    pub handle: miopenHandle_t,
    pub stream: hipStream_t,
}

impl Drop for Mi {
    fn drop(&mut self) {
        mi!(self, miopenDestroy(self.handle));
        call!(self.hip, hipStreamDestroy(self.stream));
    }
}

/// The library with a handle on a stream of its own.
pub(crate) fn mi() -> Mi {
    let hip = hip();
    let table = hip_host_miopen::library().table().clone();
    let stream = hip.stream(hipStreamNonBlocking);
    let mut mi = Mi { table, hip, handle: null_mut(), stream };
    let mut handle = null_mut();
    good!(mi, miopenCreateWithStream(&mut handle, stream));
    mi.handle = handle;
    mi
}

/// The address of a host float, for alpha and beta.
pub(crate) fn scale(value: &f32) -> *const c_void {
    std::ptr::from_ref(value).cast()
}

pub(crate) const ONE: &f32 = &1.0;
pub(crate) const ZERO: &f32 = &0.0;

impl Mi {
    /// A packed tensor.
    pub(crate) fn tensor(&self, dtype: miopenDataType_t, lens: &[i32]) -> miopenTensorDescriptor_t {
        self.strided(dtype, lens, None)
    }

    /// A packed tensor of floats.
    pub(crate) fn floats(&self, lens: &[i32]) -> miopenTensorDescriptor_t {
        self.tensor(FLOAT, lens)
    }

    /// A tensor with strides.
    pub(crate) fn strided(
        &self,
        dtype: miopenDataType_t,
        lens: &[i32],
        strides: Option<&[i32]>,
    ) -> miopenTensorDescriptor_t {
        let mut descriptor = null_mut();
        good!(self, miopenCreateTensorDescriptor(&mut descriptor));
        let strides = strides.map_or(std::ptr::null(), <[i32]>::as_ptr);
        let count = lens.len() as i32;
        good!(self, miopenSetTensorDescriptor(descriptor, dtype, count, lens.as_ptr(), strides));
        descriptor
    }

    pub(crate) fn convolution(
        &self,
        mode: u32,
        pad: i32,
        stride: i32,
        dilation: i32,
    ) -> miopenConvolutionDescriptor_t {
        let mut descriptor = null_mut();
        good!(self, miopenCreateConvolutionDescriptor(&mut descriptor));
        let mode = miopenConvolutionMode_t(mode);
        good!(
            self,
            miopenInitConvolutionDescriptor(descriptor, mode, pad, pad, stride, stride, dilation, dilation)
        );
        descriptor
    }

    pub(crate) fn wait(&self) {
        ok!(self.hip, hipStreamSynchronize(self.stream));
    }

    /// A buffer's contents after the stream has completed.
    pub(crate) fn read<T: Plain>(&self, buffer: &Buffer<'_, T>) -> Vec<T> {
        self.wait();
        buffer.read()
    }
}

/// The largest difference.
pub(crate) fn close(found: &[f32], wanted: &[f32], tolerance: f32) {
    assert_eq!(found.len(), wanted.len());
    for (index, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert!((found - wanted).abs() <= tolerance, "{index}: {found} instead of {wanted}");
    }
}
