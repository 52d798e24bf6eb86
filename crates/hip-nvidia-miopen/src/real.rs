//! Tests against the real library, whose descriptors need no device. They run if `HIPSTACK_CUDNN` names its file.

use super::activation::Activation;
use super::convolution::{Convolution, Math};
use super::library::{In, Out, open};
use super::pooling::Pooling;
use super::rnn::{Rnn, Sequence};
use super::tensor::Tensor;
use cudarc::cudnn::sys;
use hip_sys::miopen::*;
use hip_sys::provider::SharedLibrary;
use std::ffi::{c_int, c_void};

type Read = unsafe extern "C" fn(In, c_int, *mut u32, *mut c_int, *mut c_int, *mut c_int) -> u32;
type ReadFilter = unsafe extern "C" fn(In, c_int, *mut u32, *mut u32, *mut c_int, *mut c_int) -> u32;
type ReadConvolution = unsafe extern "C" fn(In, c_int, *mut c_int, Out, Out, Out, *mut u32, *mut u32) -> u32;
type Number = unsafe extern "C" fn(In, *mut c_int) -> u32;
type ConvolutionOutput = unsafe extern "C" fn(In, In, In, c_int, *mut c_int) -> u32;
type PoolingOutput = unsafe extern "C" fn(In, In, c_int, *mut c_int) -> u32;
type ReadActivation = unsafe extern "C" fn(In, *mut u32, *mut u32, *mut f64) -> u32;

/// Functions of cuDNN that only these tests call.
struct Readers(SharedLibrary);

impl Readers {
    /// `None` if no library was named.
    fn open() -> Option<Self> {
        let file = std::env::var_os("HIPSTACK_CUDNN")?;
        open().expect("the library that HIPSTACK_CUDNN names");
        Some(Self(SharedLibrary::open("cuDNN", "", vec![file.into()]).unwrap()))
    }

    fn address(&self, name: &str) -> *mut c_void {
        self.0.address(name).unwrap()
    }
}

macro_rules! reader {
    ($readers:expr, $name:literal as $type:ty) => {
        // SAFETY: S1: the function of that name has this signature, with enums as numbers and descriptors as addresses.
        unsafe { std::mem::transmute::<*mut c_void, $type>($readers.address($name)) }
    };
}

const HALF: miopenDataType_t = miopenDataType_t::miopenHalf;
const FLOAT: miopenDataType_t = miopenDataType_t::miopenFloat;

fn lengths(dims: &[usize]) -> Tensor {
    Tensor::new(FLOAT, dims, None).unwrap()
}

#[test]
fn a_tensor_arrives_with_four_dimensions_at_least() {
    let Some(readers) = Readers::open() else { return };
    let read = reader!(readers, "cudnnGetTensorNdDescriptor" as Read);
    let tensor = Tensor::new(HALF, &[2, 3, 5], Some(&[1, 10, 2])).unwrap();
    let (mut kind, mut rank) = (99, 0);
    let [mut dims, mut strides] = [[0; 8]; 2];
    // SAFETY: S1: live variables and lists of eight.
    let code = unsafe {
        read(tensor.raw().unwrap().cast(), 8, &mut kind, &mut rank, dims.as_mut_ptr(), strides.as_mut_ptr())
    };
    assert_eq!((code, kind, rank), (0, sys::cudnnDataType_t::CUDNN_DATA_HALF as u32, 4));
    assert_eq!((&dims[..4], &strides[..4]), (&[2, 3, 5, 1][..], &[1, 10, 2, 1][..]));
}

#[test]
fn weights_arrive_with_their_format() {
    let Some(readers) = Readers::open() else { return };
    let read = reader!(readers, "cudnnGetFilterNdDescriptor" as ReadFilter);
    // 6 by 4 channels, 3 by 5 pixels, the channels innermost.
    let last = Tensor::new(FLOAT, &[6, 4, 3, 5], Some(&[60, 1, 20, 4])).unwrap();
    assert!(last.is_channels_last() && last.filter(false).is_err());
    for (tensor, channels_last) in [(&last, true), (&lengths(&[6, 4, 3, 5]), false)] {
        let (mut kind, mut format, mut rank, mut dims) = (99, 99, 0, [0; 8]);
        let raw = tensor.filter(channels_last).unwrap();
        // SAFETY: S1: live variables and a list of eight.
        let code = unsafe { read(raw.cast(), 8, &mut kind, &mut format, &mut rank, dims.as_mut_ptr()) };
        assert_eq!((code, kind, format, rank), (0, 0, u32::from(channels_last), 4));
        assert_eq!(dims[..4], [6, 4, 3, 5]);
    }
}

#[test]
fn a_convolution_arrives_with_its_groups_and_without_tf32() {
    let Some(readers) = Readers::open() else { return };
    let read = reader!(readers, "cudnnGetConvolutionNdDescriptor" as ReadConvolution);
    let groups = reader!(readers, "cudnnGetConvolutionGroupCount" as Number);
    let math = reader!(readers, "cudnnGetConvolutionMathType" as Number);
    let conv = Convolution::sample(&[1, 2], &[3, 4], &[5, 6], 7);
    for (kind, way, compute) in [(FLOAT, 3, 0), (HALF, 1, 0), (miopenDataType_t::miopenDouble, 0, 1)] {
        let raw = conv.raw(Math::best(kind).unwrap()).unwrap();
        let [mut pads, mut strides, mut dilations] = [[0; 4]; 3];
        let (mut rank, mut mode, mut got_compute, mut count, mut got_way) = (0, 99, 99, 0, 0);
        // SAFETY: S1: live variables and lists of four.
        unsafe {
            let lists =
                (pads.as_mut_ptr().cast(), strides.as_mut_ptr().cast(), dilations.as_mut_ptr().cast());
            assert_eq!(
                read(raw.cast(), 4, &mut rank, lists.0, lists.1, lists.2, &mut mode, &mut got_compute),
                0
            );
            assert_eq!((groups(raw.cast(), &mut count), math(raw.cast(), &mut got_way)), (0, 0));
        }
        assert_eq!((rank, count, mode, got_compute, got_way), (2, 7, 1, compute, way), "{kind:?}");
        assert_eq!((pads, strides, dilations), ([1, 2, 0, 0], [3, 4, 0, 0], [5, 6, 0, 0]));
    }
}

#[test]
fn a_convolutions_output_is_as_long_as_cudnn_thinks() {
    let Some(readers) = Readers::open() else { return };
    let output = reader!(readers, "cudnnGetConvolutionNdForwardOutputDim" as ConvolutionOutput);
    for (x, w, pad, stride, dilation, groups) in [
        (vec![2, 4, 9, 7], vec![6, 4, 3, 3], vec![1, 0], vec![2, 1], vec![1, 2], 1),
        (vec![2, 4, 9, 7], vec![6, 2, 3, 2], vec![0, 1], vec![3, 2], vec![1, 1], 2),
        (vec![1, 2, 5, 6, 7], vec![3, 2, 2, 3, 4], vec![1, 1, 1], vec![1, 2, 3], vec![2, 1, 1], 1),
    ] {
        let (x, w) = (lengths(&x), lengths(&w));
        let conv = Convolution::sample(&pad, &stride, &dilation, groups);
        let mine = conv.output(&x, &w).unwrap();
        let mut theirs = vec![0; mine.len()];
        let raw = conv.raw(Math::Single).unwrap();
        // SAFETY: S1: live descriptors and a list of that length.
        let code = unsafe {
            let (x, w) = (x.raw().unwrap().cast(), w.filter(false).unwrap().cast());
            output(raw.cast(), x, w, theirs.len() as c_int, theirs.as_mut_ptr())
        };
        assert_eq!((code, mine), (0, theirs));
    }
}

#[test]
fn a_poolings_output_is_as_long_as_cudnn_thinks() {
    let Some(readers) = Readers::open() else { return };
    let output = reader!(readers, "cudnnGetPoolingNdForwardOutputDim" as PoolingOutput);
    for (dims, window, pad, stride) in [
        (vec![2, 3, 7, 8], vec![2, 3], vec![0, 1], vec![2, 2]),
        (vec![2, 3, 7, 8, 9], vec![2, 3, 4], vec![1, 1, 2], vec![2, 1, 3]),
    ] {
        let x = lengths(&dims);
        for mode in 0..3 {
            let pooling = Pooling::sample(miopenPoolingMode_t(mode), &window, &pad, &stride);
            let mine = pooling.output(&x).unwrap();
            let mut theirs = vec![0; mine.len()];
            // SAFETY: S1: live descriptors and a list of that length.
            let code = unsafe {
                output(
                    pooling.raw().unwrap().cast(),
                    x.raw().unwrap().cast(),
                    theirs.len() as c_int,
                    theirs.as_mut_ptr(),
                )
            };
            assert_eq!((code, mine), (0, theirs));
        }
    }
}

#[test]
fn an_activation_arrives_with_its_coefficient() {
    let Some(readers) = Readers::open() else { return };
    let read = reader!(readers, "cudnnGetActivationDescriptor" as ReadActivation);
    for (mode, expected, coefficient) in [(1, 0, 0.0), (3, 1, 0.0), (7, 3, 2.5), (9, 4, 2.5), (0, 5, 0.0)] {
        let activation = Activation::new(miopenActivationMode_t(mode), 2.5, 0.0, 0.0).unwrap();
        let (mut got, mut nan, mut number) = (99, 99, -1.0);
        // SAFETY: S1: live variables.
        let code = unsafe { read(activation.raw().unwrap().cast(), &mut got, &mut nan, &mut number) };
        assert_eq!((code, got, nan, number), (0, expected, 1, coefficient));
    }
}

type ReadSequence = unsafe extern "C" fn(
    In,
    *mut u32,
    *mut u32,
    *mut c_int,
    *mut c_int,
    *mut c_int,
    c_int,
    *mut c_int,
    Out,
) -> u32;
type ReadRnn = unsafe extern "C" fn(
    In,
    *mut u32,
    *mut u32,
    *mut u32,
    *mut u32,
    *mut u32,
    *mut u32,
    *mut u32,
    *mut u32,
    *mut i32,
    *mut i32,
    *mut i32,
    *mut i32,
    *mut In,
    *mut u32,
) -> u32;

#[test]
fn sequences_arrive_packed_with_their_lengths() {
    let Some(readers) = Readers::open() else { return };
    let read = reader!(readers, "cudnnGetRNNDataDescriptor" as ReadSequence);
    let steps: Vec<_> = [3, 2, 2, 1].iter().map(|batch| std::sync::Arc::new(lengths(&[*batch, 7]))).collect();
    for (padded, layout) in [(false, 1), (true, 0)] {
        let sequence = Sequence::of_steps(&steps, padded).unwrap();
        let (mut kind, mut got, mut longest, mut batch, mut vector) = (99, 99, 0, 0, 0);
        let (mut each, mut fill) = ([0; 4], 0_f64);
        // SAFETY: S1: live variables and a list of four.
        let code = unsafe {
            read(
                sequence.raw().unwrap().cast(),
                &mut kind,
                &mut got,
                &mut longest,
                &mut batch,
                &mut vector,
                4,
                each.as_mut_ptr(),
                (&raw mut fill).cast(),
            )
        };
        assert_eq!((code, kind, got, longest, batch, vector), (0, 0, layout, 4, 3, 7));
        assert_eq!(each, [4, 3, 1, 0]);
    }
}

#[test]
fn a_network_arrives_without_tf32() {
    let Some(readers) = Readers::open() else { return };
    let read = reader!(readers, "cudnnGetRNNDescriptor_v8" as ReadRnn);
    for (kind, expected_math) in [(FLOAT, 3), (HALF, 1)] {
        let raw = Rnn::sample(miopenRNNMode_t::miopenGRU, 5, 2, kind).unwrap();
        let [mut algorithm, mut cell, mut bias, mut direction, mut mode, mut data, mut precision, mut math] =
            [99; 8];
        let ([mut input, mut hidden, mut projection, mut layers], mut dropout, mut flags) =
            ([0; 4], std::ptr::null(), 9);
        // SAFETY: S1: live variables.
        let code = unsafe {
            read(
                raw.raw().cast(),
                &mut algorithm,
                &mut cell,
                &mut bias,
                &mut direction,
                &mut mode,
                &mut data,
                &mut precision,
                &mut math,
                &mut input,
                &mut hidden,
                &mut projection,
                &mut layers,
                &mut dropout,
                &mut flags,
            )
        };
        assert_eq!((code, algorithm, cell, bias, direction, mode), (0, 0, 3, 2, 1, 0));
        assert_eq!((precision, math, flags), (0, expected_math, 0));
        assert_eq!((input, hidden, projection, layers), (3, 5, 5, 2));
    }
}
