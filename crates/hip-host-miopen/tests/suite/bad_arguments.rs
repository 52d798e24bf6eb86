//! Descriptors, and what is refused.

use crate::library::*;
use hip_sys::miopen::*;
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

#[test]
fn versions_and_statuses_have_names() {
    let mi = mi();
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    good!(mi, miopenGetVersion(&mut major, &mut minor, &mut patch));
    assert_eq!((major, minor, patch), (3, 4, 0));
    let name = |status| {
        // SAFETY: S1, S11: the function gives a C string of its own.
        unsafe { CStr::from_ptr((mi.table.miopenGetErrorString)(miopenStatus_t(status))) }.to_owned()
    };
    assert_eq!(name(BAD).to_bytes(), b"miopenStatusBadParm");
    assert_eq!(name(99).to_bytes(), b"Unknown error status");
}

#[test]
fn tensor_descriptors_return_their_settings() {
    let mi = mi();
    let tensor = mi.strided(HALF, &[2, 3, 4, 5], Some(&[100, 30, 7, 1]));
    let (mut dtype, mut lens, mut strides) = (FLOAT, [0; 4], [0; 4]);
    good!(mi, miopenGetTensorDescriptor(tensor, &mut dtype, lens.as_mut_ptr(), strides.as_mut_ptr()));
    assert_eq!((dtype, lens, strides), (HALF, [2, 3, 4, 5], [100, 30, 7, 1]));
    let (mut rank, mut bytes) = (0, 0);
    good!(mi, miopenGetTensorDescriptorSize(tensor, &mut rank));
    good!(mi, miopenGetTensorNumBytes(tensor, &mut bytes));
    assert_eq!((rank, bytes), (4, 2 * (100 + 60 + 21 + 4 + 1)));
    good!(mi, miopenSet4dTensorDescriptor(tensor, FLOAT, 2, 3, 4, 5));
    let mut all = [0; 8];
    let [n, c, h, w, ns, cs, hs, ws] = &mut all;
    good!(mi, miopenGet4dTensorDescriptor(tensor, &mut dtype, n, c, h, w, ns, cs, hs, ws));
    assert_eq!(all, [2, 3, 4, 5, 60, 20, 5, 1]);
    let (layout, list) = (miopenTensorLayout_t::miopenTensorNHWC, [2, 3, 4, 5]);
    assert_eq!(
        mi_later!(mi, miopenSetNdTensorDescriptorWithLayout(tensor, FLOAT, layout, list.as_ptr(), 4)),
        0
    );
    good!(mi, miopenGetTensorDescriptor(tensor, null_mut(), null_mut(), strides.as_mut_ptr()));
    assert_eq!(strides, [60, 1, 15, 3]);
}

#[test]
fn bad_tensors_are_refused() {
    let mi = mi();
    let tensor = mi.floats(&[1]);
    assert_eq!(mi!(mi, miopenSet4dTensorDescriptor(tensor, FLOAT, 1, 0, 1, 1)), BAD);
    assert_eq!(mi!(mi, miopenSet4dTensorDescriptor(tensor, miopenDataType_t(77), 1, 1, 1, 1)), BAD);
    let lens = [1, 2];
    let value = miopenStatus_t::miopenStatusInvalidValue.0;
    assert_eq!(mi!(mi, miopenSetTensorDescriptor(tensor, FLOAT, 0, lens.as_ptr(), null())), value);
    assert_eq!(mi!(mi, miopenSetTensorDescriptor(tensor, FLOAT, 2, null(), null())), value);
    assert_eq!(mi!(mi, miopenCreateTensorDescriptor(null_mut())), BAD);
    assert_eq!(mi!(mi, miopenGetTensorNumBytes(tensor, null_mut())), BAD);
}

#[test]
fn stale_handles_are_refused() {
    let mi = mi();
    let tensor = mi.floats(&[1, 1]);
    good!(mi, miopenDestroyTensorDescriptor(tensor));
    assert_eq!(mi!(mi, miopenDestroyTensorDescriptor(tensor)), BAD);
    let mut bytes = 0;
    assert_eq!(mi!(mi, miopenGetTensorNumBytes(tensor, &mut bytes)), BAD);
    let (mut handle, mut stream) = (null_mut(), null_mut());
    good!(mi, miopenCreate(&mut handle));
    good!(mi, miopenDestroy(handle));
    assert_eq!(mi!(mi, miopenGetStream(handle, &mut stream)), BAD);
    assert_eq!(mi!(mi, miopenDestroy(null_mut())), BAD);
}

#[test]
fn memory_that_is_not_hip_s_is_refused() {
    let mi = mi();
    let (tensor, y) = (mi.floats(&[1, 4]), mi.hip.zeros::<f32>(4));
    let mut mine = [0.0_f32; 4];
    let set = |y: *mut c_void| mi!(mi, miopenSetTensor(mi.handle, tensor, y, scale(ONE)));
    assert_eq!(set(mine.as_mut_ptr().cast()), BAD);
    assert_eq!(set(null_mut()), BAD);
    // One element too far.
    assert_eq!(set(y.pointer.wrapping_byte_add(4)), BAD);
    assert_eq!(mi!(mi, miopenSetTensor(mi.handle, tensor, y.pointer, null())), BAD);
    assert_eq!(set(y.pointer), 0);
    assert_eq!(mi.read(&y), [1.0; 4]);
}
