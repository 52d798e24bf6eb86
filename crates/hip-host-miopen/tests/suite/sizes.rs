//! Sizes that overflow or exceed memory: they give a status before anything is allocated.

use crate::library::*;
use hip_sys::miopen::*;
use std::ptr::{null, null_mut};

const NO_MEMORY: u32 = miopenStatus_t::miopenStatusAllocFailed.0;
/// This number of floats is the largest whose bytes do not overflow.
const HUGE: usize = 1 << 60;

/// A tensor of floats of any size.
fn wide(mi: &Mi, lens: &[usize], strides: Option<&[usize]>) -> miopenTensorDescriptor_t {
    let mut descriptor = null_mut();
    good!(mi, miopenCreateTensorDescriptor(&mut descriptor));
    let (count, strides) = (lens.len() as i32, strides.map_or(null(), <[usize]>::as_ptr));
    assert_eq!(
        mi_later!(mi, miopenSetTensorDescriptorV2(descriptor, FLOAT, count, lens.as_ptr(), strides)),
        0
    );
    descriptor
}

#[test]
fn tensors_that_overlap_themselves_are_refused() {
    let mi = mi();
    let memory = mi.hip.zeros::<f32>(1 << 21);
    let side = 1_usize << 20;
    for (lens, strides) in [([4, 4], [1, 1]), ([side, side], [1, 1]), ([side, side], [2, 1])] {
        let tensor = wide(&mi, &lens, Some(&strides));
        let at = memory.pointer;
        assert_eq!(mi!(mi, miopenScaleTensor(mi.handle, tensor, at, scale(ONE))), BAD, "{lens:?}");
        let called =
            mi!(mi, miopenSoftmaxForward(mi.handle, scale(ONE), tensor, at, scale(ZERO), tensor, at));
        assert_eq!(called, BAD, "{lens:?}");
    }
    // The device still works.
    let tensor = mi.floats(&[2, 2]);
    good!(mi, miopenSetTensor(mi.handle, tensor, memory.pointer, scale(ONE)));
    assert_eq!(mi.read(&memory)[..5], [1.0, 1.0, 1.0, 1.0, 0.0]);
}

#[test]
fn outputs_of_convolutions() {
    let mi = mi();
    let (one, long) = (mi.floats(&[1, 1, 1, 1]), wide(&mi, &[1, 1, 1, HUGE], None));
    let output = |convolution, x, w| {
        let [mut n, mut c, mut h, mut width] = [0; 4];
        mi!(mi, miopenGetConvolutionForwardOutputDim(convolution, x, w, &mut n, &mut c, &mut h, &mut width))
    };
    let spread = mi.convolution(1, 0, 1 << 30, 1);
    assert_eq!((output(spread, one, one), output(spread, long, one)), (0, BAD));
    let dilated = mi.convolution(0, 0, 1, 1 << 30);
    assert_eq!((output(dilated, one, one), output(dilated, one, long)), (0, BAD));
}

#[test]
fn windows_and_workspaces() {
    let mi = mi();
    let mut descriptor = null_mut();
    good!(mi, miopenCreatePoolingDescriptor(&mut descriptor));
    let mode = miopenPoolingMode_t::miopenPoolingAverageInclusive;
    let (most, ones) = ([i32::MAX; 3], [1; 3]);
    let set = |window: &[i32; 3]| {
        let (window, pads, steps) = (window.as_ptr(), most.as_ptr(), ones.as_ptr());
        mi!(mi, miopenSetNdPoolingDescriptor(descriptor, mode, 3, window, pads, steps))
    };
    assert_eq!((set(&[i32::MAX, i32::MAX, 2]), set(&most)), (0, BAD));
    let far = wide(&mi, &[1; 4], Some(&[i64::MAX as usize, 1, 1, 1]));
    let mut size = 7;
    assert_eq!(mi!(mi, miopenLRNGetWorkSpaceSize(far, &mut size)), BAD);
    let steep = wide(&mi, &[1 << 31, 1 << 31, 1], Some(&[1, 1, 1]));
    good!(
        mi,
        miopenSet2dPoolingDescriptor(descriptor, miopenPoolingMode_t::miopenPoolingMax, 1, 1, 0, 0, 1, 1)
    );
    good!(mi, miopenSetPoolingIndexType(descriptor, miopenIndexType_t::miopenIndexUint64));
    assert_eq!(mi!(mi, miopenPoolingGetWorkSpaceSizeV2(descriptor, steep, &mut size)), BAD);
    let mut reduction = null_mut();
    good!(mi, miopenCreateReduceTensorDescriptor(&mut reduction));
    good!(
        mi,
        miopenSetReduceTensorDescriptor(
            reduction,
            miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_MAX,
            FLOAT,
            miopenNanPropagation_t::MIOPEN_PROPAGATE_NAN,
            miopenReduceTensorIndices_t::MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES,
            miopenIndicesType_t::MIOPEN_32BIT_INDICES
        )
    );
    let asked = mi!(mi, miopenGetReductionIndicesSize(mi.handle, reduction, steep, steep, &mut size));
    assert_eq!((asked, size), (BAD, 7));
}

fn network(mi: &Mi, hidden: i32, layers: i32) -> miopenRNNDescriptor_t {
    let mut descriptor = null_mut();
    good!(mi, miopenCreateRNNDescriptor(&mut descriptor));
    let (linear, both) =
        (miopenRNNInputMode_t::miopenRNNlinear, miopenRNNDirectionMode_t::miopenRNNbidirection);
    let (mode, bias) = (miopenRNNMode_t::miopenLSTM, miopenRNNBiasMode_t::miopenRNNwithBias);
    let algorithm = miopenRNNAlgo_t::miopenRNNdefault;
    good!(mi, miopenSetRNNDescriptor(descriptor, hidden, layers, linear, both, mode, bias, algorithm, FLOAT));
    descriptor
}

#[test]
fn weights_and_states_of_networks() {
    let mi = mi();
    let mut size = 7;
    let mut x = mi.floats(&[1, 8]);
    let params = |descriptor, x, size: &mut usize| {
        mi!(mi, miopenGetRNNParamsSize(mi.handle, descriptor, x, size, FLOAT))
    };
    for (hidden, layers) in [(i32::MAX, i32::MAX), (i32::MAX, 1), (1 << 20, i32::MAX)] {
        let descriptor = network(&mi, hidden, layers);
        assert_eq!(params(descriptor, x, &mut size), BAD, "{hidden}, {layers}");
        let part = mi.floats(&[1]);
        let offset = mi!(mi, miopenGetRNNLayerParamOffset(descriptor, 0, x, 0, part, &mut size));
        assert_eq!((offset, size), (BAD, 7));
    }
    let descriptor = network(&mi, i32::MAX, i32::MAX);
    assert_eq!(mi!(mi, miopenGetRNNHiddenTensorSize(mi.handle, descriptor, 1, &mut x, &mut size)), BAD);
    assert_eq!(mi!(mi, miopenGetRNNTrainingReserveSize(mi.handle, descriptor, 1, &x, &mut size)), BAD);
    assert_eq!(size, 7);
    // Many layers are no loop.
    let descriptor = network(&mi, 1, i32::MAX);
    assert_eq!(params(descriptor, x, &mut size), 0);
    let layers = i32::MAX as usize;
    assert_eq!(size, 4 * (8 * (8 + 1) + (layers - 1) * 8 * (2 + 1) + layers * 16));
}

#[test]
fn a_batch_is_no_larger_than_its_memory() {
    let mi = mi();
    let descriptor = network(&mi, 1, 1);
    let (x, y) = (wide(&mi, &[1 << 40, 1], None), wide(&mi, &[1 << 40, 2], None));
    let (state, w) = (mi.floats(&[2, 1, 1]), mi.floats(&[100]));
    let memory = mi.hip.zeros::<f32>(100);
    let (at, none) = (memory.pointer, null_mut());
    let called = mi!(
        mi,
        miopenRNNForwardInference(
            mi.handle,
            descriptor,
            1,
            &x,
            at,
            state,
            null(),
            state,
            null(),
            w,
            at,
            &y,
            at,
            state,
            none,
            state,
            none,
            none,
            0
        )
    );
    assert_eq!(called, BAD);
}

/// The numbers of a loss grow with the square of the input: here to more bytes than there are addresses.
#[test]
fn a_loss_of_a_long_sequence() {
    let mi = mi();
    let steps = 1 << 22;
    let labels: Vec<i32> = (0..steps / 2).map(|at| 1 + at % 2).collect();
    let (lens, times) = ([labels.len() as i32], [steps]);
    let probs = mi.floats(&[steps, 1, 3]);
    let mut descriptor = null_mut();
    good!(mi, miopenCreateCTCLossDescriptor(&mut descriptor));
    good!(mi, miopenSetCTCLossDescriptor(descriptor, FLOAT, 0, true));
    let algorithm = miopenCTCLossAlgo_t::MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC;
    let (labels, lens, times, mut size) = (labels.as_ptr(), lens.as_ptr(), times.as_ptr(), 7);
    let asked = mi!(
        mi,
        miopenGetCTCLossWorkspaceSize(
            mi.handle, probs, probs, labels, lens, times, algorithm, descriptor, &mut size
        )
    );
    assert_eq!((asked, size), (NO_MEMORY, 7));
}
