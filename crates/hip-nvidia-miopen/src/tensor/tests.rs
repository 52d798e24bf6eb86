//! Tests of the descriptors: MIOpen's without cuDNN, cuDNN's where there is one.

use super::*;
use crate::{Status, UNSUPPORTED};
use std::ptr::{null, null_mut};

const OK: Status = Status::miopenStatusSuccess;
const FLOAT: Kind = miopenDataType_t::miopenFloat;

fn new() -> Handle {
    let mut handle = null_mut();
    // SAFETY: S11: a live variable.
    assert_eq!(unsafe { miopenCreateTensorDescriptor(&mut handle) }, OK);
    handle
}

#[test]
fn a_descriptor_returns_its_settings() {
    let handle = new();
    let (mut kind, mut rank, mut bytes) = (miopenDataType_t::miopenInt8, 0, 0);
    let [mut dims, mut strides] = [[0; 3]; 2];
    // SAFETY: S1: live variables of the right lengths.
    unsafe {
        assert_eq!(miopenSetTensorDescriptor(handle, FLOAT, 3, [2, 3, 4].as_ptr(), null()), OK);
        assert_eq!(miopenGetTensorDescriptor(handle, &mut kind, dims.as_mut_ptr(), strides.as_mut_ptr()), OK);
        assert_eq!(miopenGetTensorDescriptorSize(handle, &mut rank), OK);
        assert_eq!(miopenGetTensorNumBytes(handle, &mut bytes), OK);
    }
    assert_eq!((kind, dims, strides, rank, bytes), (FLOAT, [2, 3, 4], [12, 4, 1], 3, 96));
    // SAFETY: S1: as above; the last row has a gap that is not counted.
    unsafe {
        let step = [16, 5, 1];
        assert_eq!(
            miopenSetTensorDescriptor(
                handle,
                miopenDataType_t::miopenHalf,
                3,
                [2, 3, 4].as_ptr(),
                step.as_ptr()
            ),
            OK
        );
        assert_eq!(miopenGetTensorNumBytes(handle, &mut bytes), OK);
        assert_eq!(bytes, 2 * (16 + 10 + 3 + 1));
        assert_eq!(miopenDestroyTensorDescriptor(handle), OK);
        assert_eq!(miopenGetTensorNumBytes(handle, &mut bytes), BAD);
        assert_eq!(miopenDestroyTensorDescriptor(handle), BAD);
    }
}

#[test]
fn four_dimensions_and_layouts() {
    let handle = new();
    let (mut kind, mut got) = (miopenDataType_t::miopenInt8, [0; 8]);
    let dims = [2, 3, 4, 5];
    for (layout, strides) in [(0, [60, 20, 5, 1]), (1, [60, 1, 15, 3]), (2, [1, 40, 10, 2])] {
        let [n, c, h, w, sn, sc, sh, sw] = &mut got;
        // SAFETY: S1: live variables and a list of four.
        unsafe {
            let layout = miopenTensorLayout_t(layout);
            assert_eq!(miopenSetNdTensorDescriptorWithLayout(handle, FLOAT, layout, dims.as_ptr(), 4), OK);
            assert_eq!(miopenGet4dTensorDescriptor(handle, &mut kind, n, c, h, w, sn, sc, sh, sw), OK);
        }
        assert_eq!((&got[..4], &got[4..]), (&dims[..], &strides[..]));
    }
    let last = tensor_of(handle).unwrap();
    assert!(!last.is_channels_last());
    // SAFETY: S1: a list of four.
    unsafe {
        let vectors = miopenTensorLayout_t::miopenTensorNCHWc4;
        assert_eq!(
            miopenSetNdTensorDescriptorWithLayout(handle, FLOAT, vectors, dims.as_ptr(), 4),
            UNSUPPORTED
        );
        let five = miopenTensorLayout_t::miopenTensorNDHWC;
        assert_eq!(miopenSetNdTensorDescriptorWithLayout(handle, FLOAT, five, dims.as_ptr(), 4), BAD);
    }
}

#[test]
fn invalid_tensor_descriptors_are_refused() {
    let handle = new();
    // SAFETY: S1: lists of that length, or null; the values are what is refused.
    unsafe {
        assert_eq!(miopenSetTensorDescriptor(handle, FLOAT, 0, [1].as_ptr(), null()), BAD);
        assert_eq!(miopenSetTensorDescriptor(handle, FLOAT, -1, [1].as_ptr(), null()), BAD);
        assert_eq!(miopenSetTensorDescriptor(handle, FLOAT, 2, null(), null()), BAD);
        assert_eq!(miopenSetTensorDescriptor(handle, FLOAT, 2, [1, 0].as_ptr(), null()), BAD);
        assert_eq!(miopenSetTensorDescriptor(handle, FLOAT, 2, [1, -3].as_ptr(), null()), BAD);
        assert_eq!(miopenSetTensorDescriptor(handle, FLOAT, 2, [1, 3].as_ptr(), [3, 0].as_ptr()), BAD);
        assert_eq!(miopenSetTensorDescriptor(handle, miopenDataType_t(4), 1, [1].as_ptr(), null()), BAD);
        assert_eq!(miopenSetTensorDescriptorV2(handle, FLOAT, 2, [usize::MAX, 2].as_ptr(), null()), BAD);
        assert_eq!(miopenSet4dTensorDescriptor(null_mut(), FLOAT, 1, 1, 1, 1), BAD);
        assert_eq!(miopenGetTensorNumBytes(handle, null_mut()), BAD);
    }
}

#[test]
fn batch_normalisation_has_a_value_per_channel_or_activation() {
    let (x, derived_handle) = (new(), new());
    for (mode, dims) in [(0, [1, 3, 4, 5]), (1, [1, 3, 1, 1])] {
        // SAFETY: S1: live descriptors.
        unsafe {
            assert_eq!(miopenSet4dTensorDescriptor(x, miopenDataType_t::miopenHalf, 2, 3, 4, 5), OK);
            assert_eq!(miopenDeriveBNTensorDescriptor(derived_handle, x, miopenBatchNormMode_t(mode)), OK);
        }
        let derived = tensor_of(derived_handle).unwrap();
        assert_eq!((derived.kind, &*derived.dims), (FLOAT, &dims[..]));
    }
}

#[test]
fn layouts_are_recognised() {
    let nhwc = |dims: &[usize]| with_layout(FLOAT, miopenTensorLayout_t::miopenTensorNHWC, dims).unwrap();
    assert!(nhwc(&[2, 3, 4, 5]).is_channels_last());
    // With one channel, or one pixel, both layouts are equal.
    assert!(!nhwc(&[2, 1, 4, 5]).is_channels_last());
    assert!(!nhwc(&[2, 3, 1, 1]).is_channels_last());
    assert!(!Tensor::new(FLOAT, &[2, 3, 4, 5], None).unwrap().is_channels_last());
}

#[test]
fn a_tensor_that_was_not_set_or_has_another_type_reaches_no_cudnn() {
    assert_eq!(Tensor::default().raw(), Err(BAD));
    let eight = Tensor::new(miopenDataType_t::miopenFloat8_fnuz, &[2, 2], None).unwrap();
    assert_eq!(eight.raw(), Err(UNSUPPORTED));
    let strided = Tensor::new(FLOAT, &[2, 2], Some(&[4, 1])).unwrap();
    assert_eq!(strided.filter(false), Err(UNSUPPORTED));
}

#[test]
fn strides_along_lengths_of_one_are_those_of_the_layout() {
    let of = |dims: &[usize], strides: &[usize], last| {
        Tensor::new(miopenDataType_t::miopenHalf, dims, Some(strides)).unwrap().picture(last).unwrap()
    };
    // Weights of one tap are packed both ways.
    assert_eq!(of(&[6, 4, 1, 1], &[4, 1, 1, 1], false).1, [4, 1, 1, 1]);
    assert_eq!(of(&[6, 4, 1, 1], &[4, 1, 1, 1], true).1, [4, 1, 4, 4]);
    // A line is a picture of width one.
    assert_eq!(of(&[2, 3, 5], &[15, 5, 1], false), (vec![2, 3, 5, 1], vec![15, 5, 1, 1]));
    assert_eq!(of(&[2, 3, 5], &[15, 1, 3], true), (vec![2, 3, 5, 1], vec![15, 1, 3, 3]));
    // A tensor that matches no layout is unchanged.
    assert_eq!(of(&[2, 3, 5, 7], &[210, 70, 14, 2], false).1, [210, 70, 14, 2]);
}
