//! Convolutions against sums that were computed by hand.

use crate::common::Buffer;
use crate::library::*;
use hip_sys::miopen::*;
use std::ptr::{null, null_mut};

/// Finds an algorithm and runs it forward.
fn forward(
    mi: &Mi,
    convolution: miopenConvolutionDescriptor_t,
    x: (miopenTensorDescriptor_t, &Buffer<'_, f32>),
    w: (miopenTensorDescriptor_t, &Buffer<'_, f32>),
    y: (miopenTensorDescriptor_t, &Buffer<'_, f32>),
) {
    let (mut count, mut perf) = (0, miopenConvAlgoPerf_t::default());
    let [(xd, xp), (wd, wp), (yd, yp)] = [x, w, y].map(|(desc, buffer)| (desc, buffer.pointer));
    good!(
        mi,
        miopenFindConvolutionForwardAlgorithm(
            mi.handle,
            xd,
            xp,
            wd,
            wp,
            convolution,
            yd,
            yp,
            3,
            &mut count,
            &mut perf,
            null_mut(),
            0,
            false
        )
    );
    assert_eq!((count, perf.memory), (1, 0));
    // SAFETY: S11: the function wrote the union's first variant.
    let algorithm = unsafe { perf.__bindgen_anon_1.fwd_algo };
    good!(
        mi,
        miopenConvolutionForward(
            mi.handle,
            scale(ONE),
            xd,
            xp,
            wd,
            wp,
            convolution,
            algorithm,
            scale(ZERO),
            yd,
            yp,
            null_mut(),
            0
        )
    );
}

#[test]
fn forward_by_find_and_by_solution() {
    let mi = mi();
    // One image of 3 by 3, a filter of 2 by 2.
    let x = mi.hip.buffer::<f32>(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    let w = mi.hip.buffer::<f32>(&[1.0, 0.0, 0.0, -1.0]);
    let (xd, wd) = (mi.floats(&[1, 1, 3, 3]), mi.floats(&[1, 1, 2, 2]));
    let convolution = mi.convolution(0, 0, 1, 1);
    let mut dims = [0; 4];
    let [n, c, h, v] = &mut dims;
    good!(mi, miopenGetConvolutionForwardOutputDim(convolution, xd, wd, n, c, h, v));
    assert_eq!(dims, [1, 1, 2, 2]);
    let (yd, y) = (mi.floats(&dims), mi.hip.zeros::<f32>(4));
    forward(&mi, convolution, (xd, &x), (wd, &w), (yd, &y));
    assert_eq!(mi.read(&y), [-4.0; 4]);

    // With padding 1 and stride 2, by a solution.
    let padded = mi.convolution(0, 1, 2, 1);
    let (mut found, mut solution) = (0, miopenConvSolution_t::default());
    good!(mi, miopenConvolutionForwardGetSolutionCount(mi.handle, wd, xd, padded, yd, &mut found));
    assert_eq!(found, 1);
    good!(
        mi,
        miopenConvolutionForwardGetSolution(mi.handle, wd, xd, padded, yd, 1, &mut found, &mut solution)
    );
    assert_eq!((found, solution.workspace_size, solution.algorithm.0), (1, 0, 0));
    let id = solution.solution_id;
    good!(mi, miopenConvolutionForwardCompileSolution(mi.handle, wd, xd, padded, yd, id));
    good!(
        mi,
        miopenConvolutionForwardImmediate(
            mi.handle,
            wd,
            w.pointer,
            xd,
            x.pointer,
            padded,
            yd,
            y.pointer,
            null_mut(),
            0,
            id
        )
    );
    // Corners: the window's lower right only, or -x there; the last one is 5 - 9.
    assert_eq!(mi.read(&y), [-1.0, -3.0, -7.0, -4.0]);
}

#[test]
fn groups_dilation_and_strides() {
    let mi = mi();
    // Two channels in two groups, dilation 2: each output is x[0,0] * 1 + x[2,2] * 2 of its channel.
    let values: Vec<f32> = (1..=18).map(|it| it as f32).collect();
    let w = mi.hip.buffer::<f32>(&[1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 3.0]);
    let wd = mi.floats(&[2, 1, 2, 2]);
    let convolution = mi.convolution(0, 0, 1, 2);
    good!(mi, miopenSetConvolutionGroupCount(convolution, 2));
    let (xd, yd) = (mi.floats(&[1, 2, 3, 3]), mi.floats(&[1, 2, 1, 1]));
    let (x, y) = (mi.hip.buffer(&values), mi.hip.zeros::<f32>(2));
    forward(&mi, convolution, (xd, &x), (wd, &w), (yd, &y));
    assert_eq!(mi.read(&y), [1.0 + 2.0 * 9.0, 10.0 + 3.0 * 18.0]);

    // The same in NHWC, with the output's channels 3 apart.
    let mut nhwc = vec![0.0_f32; 18];
    (0..18).for_each(|at| nhwc[at % 9 * 2 + at / 9] = values[at]);
    let xd = mi.strided(FLOAT, &[1, 2, 3, 3], Some(&[18, 1, 6, 2]));
    let yd = mi.strided(FLOAT, &[1, 2, 1, 1], Some(&[6, 4, 1, 1]));
    let (x, y) = (mi.hip.buffer(&nhwc), mi.hip.buffer(&[-1.0_f32; 5]));
    forward(&mi, convolution, (xd, &x), (wd, &w), (yd, &y));
    assert_eq!(mi.read(&y), [19.0, -1.0, -1.0, -1.0, 64.0]);
}

#[test]
fn three_dimensions_and_half_precision() {
    let mi = mi();
    let mut convolution = null_mut();
    good!(mi, miopenCreateConvolutionDescriptor(&mut convolution));
    let (pads, ones) = ([0; 3], [1; 3]);
    let mode = miopenConvolutionMode_t::miopenConvolution;
    good!(
        mi,
        miopenInitConvolutionNdDescriptor(convolution, 3, pads.as_ptr(), ones.as_ptr(), ones.as_ptr(), mode)
    );
    let half = |values: &[f32]| values.iter().map(|it| half::f16::from_f32(*it)).collect::<Vec<_>>();
    let x = mi.hip.buffer(&half(&(0..12).map(|it| it as f32).collect::<Vec<_>>()));
    let w = mi.hip.buffer(&half(&[1.0, 1.0, 1.0, 1.0]));
    let (xd, wd) = (mi.tensor(HALF, &[1, 1, 3, 2, 2]), mi.tensor(HALF, &[1, 1, 2, 1, 2]));
    let (mut rank, mut dims) = (0, [0; 5]);
    good!(mi, miopenGetConvolutionNdForwardOutputDim(convolution, xd, wd, &mut rank, dims.as_mut_ptr()));
    assert_eq!((rank, dims), (5, [1, 1, 2, 2, 1]));
    let (yd, y) = (mi.tensor(HALF, &dims), mi.hip.zeros::<half::f16>(4));
    good!(
        mi,
        miopenConvolutionForwardImmediate(
            mi.handle,
            wd,
            w.pointer,
            xd,
            x.pointer,
            convolution,
            yd,
            y.pointer,
            null_mut(),
            0,
            1
        )
    );
    assert_eq!(mi.read(&y), half(&[10.0, 18.0, 26.0, 34.0]));
}

#[test]
fn backward_to_data_and_weights() {
    let mi = mi();
    let (xd, wd, yd) = (mi.floats(&[2, 1, 3, 3]), mi.floats(&[1, 1, 2, 2]), mi.floats(&[2, 1, 2, 2]));
    let convolution = mi.convolution(0, 0, 1, 1);
    let x = mi.hip.buffer(&(1..=18).map(|it| it as f32).collect::<Vec<_>>());
    let w = mi.hip.buffer::<f32>(&[1.0, 2.0, 3.0, 4.0]);
    let dy = mi.hip.buffer::<f32>(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let dx = mi.hip.buffer(&[9.0_f32; 18]);
    let (mut count, mut perf) = (0, miopenConvAlgoPerf_t::default());
    good!(
        mi,
        miopenFindConvolutionBackwardDataAlgorithm(
            mi.handle,
            yd,
            dy.pointer,
            wd,
            w.pointer,
            convolution,
            xd,
            dx.pointer,
            1,
            &mut count,
            &mut perf,
            null_mut(),
            0,
            false
        )
    );
    // SAFETY: S11: the function wrote the union's first variant, which is of the same type.
    let algorithm = unsafe { perf.__bindgen_anon_1.bwd_data_algo };
    good!(
        mi,
        miopenConvolutionBackwardData(
            mi.handle,
            scale(ONE),
            yd,
            dy.pointer,
            wd,
            w.pointer,
            convolution,
            algorithm,
            scale(ZERO),
            xd,
            dx.pointer,
            null_mut(),
            0
        )
    );
    #[rustfmt::skip]
    let wanted = [
        1.0, 2.0, 0.0,  3.0, 4.0, 0.0,  0.0, 0.0, 0.0,
        0.0, 0.0, 0.0,  0.0, 1.0, 2.0,  0.0, 3.0, 4.0,
    ];
    assert_eq!(mi.read(&dx), wanted);

    // The filter's gradient: the first window of the first image, and the last one of the second.
    let dw = mi.hip.zeros::<f32>(4);
    good!(
        mi,
        miopenConvolutionBackwardWeightsImmediate(
            mi.handle,
            yd,
            dy.pointer,
            xd,
            x.pointer,
            convolution,
            wd,
            dw.pointer,
            null_mut(),
            0,
            1
        )
    );
    assert_eq!(mi.read(&dw), [1.0 + 14.0, 2.0 + 15.0, 4.0 + 17.0, 5.0 + 18.0]);

    // The bias adds 3 to each output; its gradient is the sum of all.
    let (bd, b, db) = (mi.floats(&[1, 1, 1, 1]), mi.hip.buffer(&[3.0_f32]), mi.hip.zeros::<f32>(1));
    good!(
        mi,
        miopenConvolutionForwardBias(mi.handle, scale(ONE), bd, b.pointer, scale(ZERO), yd, dy.pointer)
    );
    assert_eq!(mi.read(&dy), [4.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 4.0]);
    good!(
        mi,
        miopenConvolutionBackwardBias(mi.handle, scale(ONE), yd, dy.pointer, scale(ZERO), bd, db.pointer)
    );
    assert_eq!(mi.read(&db), [26.0]);
}

#[test]
fn a_transposed_convolution_is_the_gradient() {
    let mi = mi();
    // One input position with stride 2 and an output that is longer by one: the filter's values, then zero.
    let convolution = mi.convolution(1, 0, 2, 1);
    good!(mi, miopenSetTransposeConvOutputPadding(convolution, 1, 1));
    let (xd, wd) = (mi.floats(&[1, 2, 1, 1]), mi.floats(&[2, 1, 2, 2]));
    let mut dims = [0; 4];
    let [n, c, h, v] = &mut dims;
    good!(mi, miopenGetConvolutionForwardOutputDim(convolution, xd, wd, n, c, h, v));
    assert_eq!(dims, [1, 1, 3, 3]);
    let (yd, y) = (mi.floats(&dims), mi.hip.buffer(&[9.0_f32; 9]));
    let x = mi.hip.buffer(&[1.0_f32, 10.0]);
    let w = mi.hip.buffer(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    forward(&mi, convolution, (xd, &x), (wd, &w), (yd, &y));
    assert_eq!(mi.read(&y), [51.0, 62.0, 0.0, 73.0, 84.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn large_enough_for_several_blocks_and_threads() {
    let mi = mi();
    // All ones: each output is the number of window positions inside the image.
    let (xd, wd) = (mi.floats(&[3, 16, 64, 65]), mi.floats(&[8, 16, 3, 3]));
    let yd = mi.floats(&[3, 8, 64, 65]);
    let x = mi.hip.buffer(&vec![1.0_f32; 3 * 16 * 64 * 65]);
    let (w, y) = (mi.hip.buffer(&vec![1.0_f32; 8 * 16 * 9]), mi.hip.zeros::<f32>(3 * 8 * 64 * 65));
    let convolution = mi.convolution(0, 1, 1, 1);
    forward(&mi, convolution, (xd, &x), (wd, &w), (yd, &y));
    let inside = |index: usize, len: usize| if index == 0 || index == len - 1 { 2 } else { 3 };
    for (at, value) in mi.read(&y).into_iter().enumerate() {
        assert_eq!(value, (16 * inside(at / 65 % 64, 64) * inside(at % 65, 65)) as f32, "{at}");
    }
}

#[test]
fn a_convolution_without_a_find_call_does_not_run() {
    let mi = mi();
    let (xd, wd, yd) = (mi.floats(&[1, 1, 3, 3]), mi.floats(&[1, 1, 2, 2]), mi.floats(&[1, 1, 2, 2]));
    let [x, w, y] = [9, 4, 4].map(|len| mi.hip.zeros::<f32>(len));
    let convolution = mi.convolution(0, 0, 1, 1);
    let algorithm = miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoGEMM;
    let run = |alpha: &f32| {
        mi!(
            mi,
            miopenConvolutionForward(
                mi.handle,
                scale(alpha),
                xd,
                x.pointer,
                wd,
                w.pointer,
                convolution,
                algorithm,
                scale(ZERO),
                yd,
                y.pointer,
                null_mut(),
                0
            )
        )
    };
    assert_eq!(run(ONE), UNKNOWN);
    forward(&mi, convolution, (xd, &x), (wd, &w), (yd, &y));
    assert_eq!(run(ONE), 0);
    // MIOpen has factors for three dimensions only.
    assert_eq!(run(&2.0), NOT_IMPLEMENTED);
    let immediate = |id, w: *const std::ffi::c_void| {
        mi!(
            mi,
            miopenConvolutionForwardImmediate(
                mi.handle,
                wd,
                w,
                xd,
                x.pointer,
                convolution,
                yd,
                y.pointer,
                null_mut(),
                0,
                id
            )
        )
    };
    assert_eq!((immediate(77, w.pointer), immediate(1, null())), (BAD, BAD));
    // Another shape than the convolution's, another type.
    let (wrong, half) = (mi.floats(&[1, 1, 3, 3]), mi.tensor(HALF, &[1, 1, 2, 2]));
    let mut count = 0;
    assert_eq!(
        mi!(mi, miopenConvolutionForwardGetSolutionCount(mi.handle, wd, xd, convolution, wrong, &mut count)),
        BAD
    );
    assert_eq!(
        mi!(mi, miopenConvolutionForwardGetSolutionCount(mi.handle, wd, xd, convolution, half, &mut count)),
        BAD
    );
}

#[test]
fn sixteen_bits_are_rounded_once() {
    let mi = mi();
    // 256 + 1 + 1: in steps of 16 bits it would stay 256 in bfloat16, whose next number is 258.
    let convolution = mi.convolution(0, 0, 1, 1);
    let values = [256.0_f32, 1.0, 1.0].map(half::bf16::from_f32);
    let (xd, wd, yd) = (
        mi.tensor(BFLOAT, &[1, 3, 1, 1]),
        mi.tensor(BFLOAT, &[1, 3, 1, 1]),
        mi.tensor(BFLOAT, &[1, 1, 1, 1]),
    );
    let (x, y) = (mi.hip.buffer(&values), mi.hip.zeros::<half::bf16>(1));
    let w = mi.hip.buffer(&[half::bf16::ONE; 3]);
    good!(
        mi,
        miopenConvolutionForwardImmediate(
            mi.handle,
            wd,
            w.pointer,
            xd,
            x.pointer,
            convolution,
            yd,
            y.pointer,
            null_mut(),
            0,
            1
        )
    );
    assert_eq!(mi.read(&y), [half::bf16::from_f32(258.0)]);
}

#[test]
fn backward_with_groups_strides_and_other_layouts() {
    let mi = mi();
    // Two groups of one channel, a filter of one row and two columns, stride 2; images in NHWC, gradients in NCHW.
    let mut convolution = null_mut();
    good!(mi, miopenCreateConvolutionDescriptor(&mut convolution));
    let mode = miopenConvolutionMode_t::miopenGroupConv;
    good!(mi, miopenInitConvolutionDescriptor(convolution, mode, 0, 0, 1, 2, 1, 1));
    good!(mi, miopenSetConvolutionGroupCount(convolution, 2));
    let xd = mi.strided(FLOAT, &[1, 2, 1, 4], Some(&[8, 1, 8, 2]));
    let (wd, yd) = (mi.floats(&[2, 1, 1, 2]), mi.floats(&[1, 2, 1, 2]));
    let w = mi.hip.buffer(&[1.0_f32, 2.0, 3.0, 4.0]);
    let dy = mi.hip.buffer(&[1.0_f32, 10.0, 100.0, 1000.0]);
    let dx = mi.hip.zeros::<f32>(8);
    good!(
        mi,
        miopenConvolutionBackwardDataImmediate(
            mi.handle,
            yd,
            dy.pointer,
            wd,
            w.pointer,
            convolution,
            xd,
            dx.pointer,
            null_mut(),
            0,
            1
        )
    );
    assert_eq!(mi.read(&dx), [1.0, 300.0, 2.0, 400.0, 10.0, 3000.0, 20.0, 4000.0]);
    let (x, dw) = (mi.hip.buffer(&[1.0_f32, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 8.0]), mi.hip.zeros::<f32>(4));
    good!(
        mi,
        miopenConvolutionBackwardWeightsImmediate(
            mi.handle,
            yd,
            dy.pointer,
            xd,
            x.pointer,
            convolution,
            wd,
            dw.pointer,
            null_mut(),
            0,
            1
        )
    );
    assert_eq!(mi.read(&dw), [1.0 + 30.0, 2.0 + 40.0, 500.0 + 7000.0, 600.0 + 8000.0]);
}

#[test]
fn three_dimensions_have_factors() {
    let mi = mi();
    let mut convolution = null_mut();
    good!(mi, miopenCreateConvolutionDescriptor(&mut convolution));
    let (pads, ones, mode) = ([0; 3], [1; 3], miopenConvolutionMode_t::miopenConvolution);
    let one = ones.as_ptr();
    good!(mi, miopenInitConvolutionNdDescriptor(convolution, 3, pads.as_ptr(), one, one, mode));
    let (xd, wd) = (mi.floats(&[1, 1, 1, 1, 2]), mi.floats(&[1, 1, 1, 1, 1]));
    let (x, w, y) =
        (mi.hip.buffer(&[1.0_f32, 2.0]), mi.hip.buffer(&[3.0_f32]), mi.hip.buffer(&[100.0_f32, 200.0]));
    let (mut count, mut perf) = (0, miopenConvAlgoPerf_t::default());
    good!(
        mi,
        miopenFindConvolutionForwardAlgorithm(
            mi.handle,
            xd,
            x.pointer,
            wd,
            w.pointer,
            convolution,
            xd,
            y.pointer,
            1,
            &mut count,
            &mut perf,
            null_mut(),
            0,
            false
        )
    );
    let algorithm = miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoGEMM;
    good!(
        mi,
        miopenConvolutionForward(
            mi.handle,
            scale(&2.0),
            xd,
            x.pointer,
            wd,
            w.pointer,
            convolution,
            algorithm,
            scale(&0.5),
            xd,
            y.pointer,
            null_mut(),
            0
        )
    );
    assert_eq!(mi.read(&y), [56.0, 112.0]);
}
