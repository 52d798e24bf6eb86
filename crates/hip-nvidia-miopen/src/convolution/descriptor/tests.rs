//! Tests of convolution descriptors without cuDNN.

use super::*;
use crate::Status;
use std::ptr::null_mut;

const OK: Status = Status::miopenStatusSuccess;
const FLOAT: miopenDataType_t = miopenDataType_t::miopenFloat;

fn conv(mode: u32, pad: c_int, stride: c_int, dilation: c_int) -> Convolution {
    let two = |n| vec![n, n];
    Convolution::new(miopenConvolutionMode_t(mode), two(pad), two(stride), two(dilation)).unwrap()
}

fn tensor(dims: &[usize]) -> Tensor {
    Tensor::new(FLOAT, dims, None).unwrap()
}

#[test]
fn lengths_of_the_output() {
    let (x, w) = (tensor(&[2, 4, 9, 7]), tensor(&[6, 4, 3, 3]));
    assert_eq!(conv(0, 1, 1, 1).output(&x, &w), Ok(vec![2, 6, 9, 7]));
    assert_eq!(conv(0, 0, 2, 1).output(&x, &w), Ok(vec![2, 6, 4, 3]));
    assert_eq!(conv(0, 1, 1, 2).output(&x, &w), Ok(vec![2, 6, 7, 5]));
    let grouped = conv(2, 1, 1, 1).with(|c| c.groups = 2);
    assert_eq!(grouped.output(&x, &tensor(&[6, 2, 3, 3])), Ok(vec![2, 6, 9, 7]));
    assert_eq!(grouped.output(&x, &w), Err(BAD));
    assert_eq!(grouped.output(&x, &tensor(&[5, 2, 3, 3])), Err(BAD));
}

#[test]
fn a_transposed_convolution_exchanges_the_lengths() {
    let (x, w) = (tensor(&[2, 6, 4, 3]), tensor(&[6, 4, 3, 3]));
    assert_eq!(conv(1, 0, 2, 1).output(&x, &w), Ok(vec![2, 4, 9, 7]));
    assert_eq!(conv(1, 1, 2, 1).with(|c| c.output_pads = vec![1, 1]).output(&x, &w), Ok(vec![2, 4, 8, 6]));
    assert_eq!(conv(1, 1, 1, 1).with(|c| c.output_pads = vec![1, 1]).output(&x, &w), Err(BAD));
    assert_eq!(conv(1, 0, 2, 1).output(&tensor(&[2, 4, 4, 3]), &w), Err(BAD));
}

#[test]
fn settings_read_back() {
    let mut handle = null_mut();
    let (mut mode, mut count, mut groups) = (miopenConvolutionMode_t(9), 0, 0);
    let [mut pads, mut strides, mut dilations] = [[0; 3]; 3];
    // SAFETY: S1: live variables and lists of three.
    unsafe {
        assert_eq!(miopenCreateConvolutionDescriptor(&mut handle), OK);
        let (p, s, d) = ([1, 2, 3], [4, 5, 6], [7, 8, 9]);
        let transpose = miopenConvolutionMode_t::miopenTranspose;
        assert_eq!(
            miopenInitConvolutionNdDescriptor(handle, 3, p.as_ptr(), s.as_ptr(), d.as_ptr(), transpose),
            OK
        );
        assert_eq!(miopenSetConvolutionGroupCount(handle, 4), OK);
        assert_eq!(miopenSetConvolutionGroupCount(handle, 0), BAD);
        let (out, lists) = (&mut count, (pads.as_mut_ptr(), strides.as_mut_ptr(), dilations.as_mut_ptr()));
        assert_eq!(
            miopenGetConvolutionNdDescriptor(handle, 3, out, lists.0, lists.1, lists.2, &mut mode),
            OK
        );
        assert_eq!(
            miopenGetConvolutionNdDescriptor(handle, 2, out, lists.0, lists.1, lists.2, &mut mode),
            BAD
        );
        assert_eq!(miopenGetConvolutionGroupCount(handle, &mut groups), OK);
        assert_eq!(miopenSetTransposeConvOutputPadding(handle, 1, 1), BAD);
        assert_eq!(miopenInitConvolutionDescriptor(handle, transpose, -1, 0, 1, 1, 1, 1), BAD);
        assert_eq!(miopenInitConvolutionDescriptor(handle, transpose, 0, 0, 0, 1, 1, 1), BAD);
        assert_eq!(
            miopenInitConvolutionDescriptor(handle, miopenConvolutionMode_t(4), 0, 0, 1, 1, 1, 1),
            BAD
        );
        assert_eq!(miopenDestroyConvolutionDescriptor(handle), OK);
    }
    assert_eq!((mode.0, count, groups), (1, 3, 4));
    assert_eq!((pads, strides, dilations), ([1, 2, 3], [4, 5, 6], [7, 8, 9]));
}

#[test]
fn attributes_are_kept() {
    let mut handle = null_mut();
    let mut value = 0;
    // SAFETY: S1: live variables.
    unsafe {
        assert_eq!(miopenCreateConvolutionDescriptor(&mut handle), OK);
        let attribute = miopenConvolutionAttrib_t::MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC;
        assert_eq!(miopenSetConvolutionAttribute(handle, attribute, 1), OK);
        assert_eq!(miopenSetConvolutionAttribute(handle, attribute, 2), BAD);
        assert_eq!(miopenSetConvolutionAttribute(handle, miopenConvolutionAttrib_t(3), 1), BAD);
        assert_eq!(miopenGetConvolutionAttribute(handle, attribute, &mut value), OK);
        assert_eq!(value, 1);
        assert!(convolution_of(handle).unwrap().is_deterministic());
    }
}
