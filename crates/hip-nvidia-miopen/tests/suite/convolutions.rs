//! Convolutions: `x` is 1‥9 in rows of three, the weights are `1 0` above `0 1`.

use crate::bench::{Bench, F16, F32, ONE, ZERO, at, f16, ok, set};
use hip_sys::miopen::*;
use std::ptr::null_mut;

const X: [f32; 9] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
const W: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const Y: [f32; 4] = [6.0, 8.0, 12.0, 14.0];
const DY: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
const DX: [f32; 9] = [1.0, 2.0, 0.0, 3.0, 5.0, 2.0, 0.0, 3.0, 4.0];
const DW: [f32; 4] = [37.0, 47.0, 67.0, 77.0];

fn convolution(bench: &Bench, mode: miopenConvolutionMode_t, groups: i32) -> miopenConvolutionDescriptor_t {
    let mut conv = null_mut();
    set!(bench.miopenCreateConvolutionDescriptor(&mut conv));
    set!(bench.miopenInitConvolutionDescriptor(conv, mode, 0, 0, 1, 1, 1, 1));
    set!(bench.miopenSetConvolutionGroupCount(conv, groups));
    conv
}

#[test]
fn every_solution_of_every_direction() {
    let Some(bench) = Bench::open() else { return };
    let conv = convolution(&bench, miopenConvolutionMode_t::miopenConvolution, 1);
    let (xd, wd, yd) = (
        bench.tensor(F32, &[1, 1, 3, 3]),
        bench.tensor(F32, &[1, 1, 2, 2]),
        bench.tensor(F32, &[1, 1, 2, 2]),
    );
    let (x, w, dy) = (bench.put(&X), bench.put(&W), bench.put(&DY));
    let mut list = [miopenConvSolution_t {
        time: 0.0,
        workspace_size: 0,
        solution_id: 0,
        algorithm: miopenConvAlgorithm_t(0),
    }; 16];
    let mut count = 0;
    ok!(bench.miopenConvolutionForwardGetSolution(wd, xd, conv, yd, 16, &mut count, list.as_mut_ptr()));
    assert!(count > 0);
    for solution in &list[..count] {
        let (y, space) = (bench.put(&[0_f32; 4]), bench.room(solution.workspace_size.max(1)));
        let (size, id) = (solution.workspace_size, solution.solution_id);
        ok!(bench.miopenConvolutionForwardImmediate(
            wd,
            w.at(),
            xd,
            x.at(),
            conv,
            yd,
            y.at(),
            space.at(),
            size,
            id
        ));
        y.is_near(&Y.map(f64::from), 1e-4);
    }
    ok!(bench.miopenConvolutionBackwardDataGetSolution(yd, wd, conv, xd, 16, &mut count, list.as_mut_ptr()));
    for solution in &list[..count] {
        let (dx, space) = (bench.put(&[0_f32; 9]), bench.room(solution.workspace_size.max(1)));
        let (size, id) = (solution.workspace_size, solution.solution_id);
        ok!(bench.miopenConvolutionBackwardDataImmediate(
            yd,
            dy.at(),
            wd,
            w.at(),
            conv,
            xd,
            dx.at(),
            space.at(),
            size,
            id
        ));
        dx.is_near(&DX.map(f64::from), 1e-4);
    }
    ok!(bench.miopenConvolutionBackwardWeightsGetSolution(
        yd,
        xd,
        conv,
        wd,
        16,
        &mut count,
        list.as_mut_ptr()
    ));
    for solution in &list[..count] {
        let (dw, space) = (bench.put(&[0_f32; 4]), bench.room(solution.workspace_size.max(1)));
        let (size, id) = (solution.workspace_size, solution.solution_id);
        ok!(bench.miopenConvolutionBackwardWeightsImmediate(
            yd,
            dy.at(),
            xd,
            x.at(),
            conv,
            wd,
            dw.at(),
            space.at(),
            size,
            id
        ));
        dw.is_near(&DW.map(f64::from), 1e-3);
    }
}

#[test]
fn find_and_execute() {
    let Some(bench) = Bench::open() else { return };
    let conv = convolution(&bench, miopenConvolutionMode_t::miopenConvolution, 1);
    let (xd, wd, yd) = (
        bench.tensor(F32, &[1, 1, 3, 3]),
        bench.tensor(F32, &[1, 1, 2, 2]),
        bench.tensor(F32, &[1, 1, 2, 2]),
    );
    let (x, w, y) = (bench.put(&X), bench.put(&W), bench.put(&[0_f32; 4]));
    let (mut size, mut count) = (0, 0);
    ok!(bench.miopenConvolutionForwardGetWorkSpaceSize(wd, xd, conv, yd, &mut size));
    let space = bench.room(size.max(1));
    let mut list = [miopenConvAlgoPerf_t::default(); 4];
    ok!(bench.miopenFindConvolutionForwardAlgorithm(
        xd,
        x.at(),
        wd,
        w.at(),
        conv,
        yd,
        y.at(),
        4,
        &mut count,
        list.as_mut_ptr(),
        space.at(),
        size,
        false,
    ));
    assert!(count > 0);
    for result in &list[..count as usize] {
        // SAFETY: S1: all members of the union have the same type of number.
        let class = unsafe { result.__bindgen_anon_1.fwd_algo };
        let y = bench.put(&[100_f32; 4]);
        // Half of the result plus the old output.
        let half = 0.5;
        ok!(bench.miopenConvolutionForward(
            at(&half),
            xd,
            x.at(),
            wd,
            w.at(),
            conv,
            class,
            at(&ONE),
            yd,
            y.at(),
            space.at(),
            size,
        ));
        y.is_near(&Y.map(|y| 100.0 + f64::from(y) / 2.0), 1e-4);
    }
    // Also without a workspace, and with a bias.
    let gemm = miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoGEMM;
    let (b, bd) = (bench.put(&[10_f32]), bench.tensor(F32, &[1, 1, 1, 1]));
    ok!(bench.miopenConvolutionForward(
        at(&ONE),
        xd,
        x.at(),
        wd,
        w.at(),
        conv,
        gemm,
        at(&ZERO),
        yd,
        y.at(),
        null_mut(),
        0,
    ));
    ok!(bench.miopenConvolutionForwardBias(at(&ONE), bd, b.at(), at(&ZERO), yd, y.at()));
    y.is(&[16_f32, 18.0, 22.0, 24.0]);
    ok!(bench.miopenConvolutionBackwardBias(at(&ONE), yd, y.at(), at(&ZERO), bd, b.at()));
    b.is(&[80_f32]);
}

#[test]
fn transposed_is_the_gradient_of_the_picture() {
    let Some(bench) = Bench::open() else { return };
    let conv = convolution(&bench, miopenConvolutionMode_t::miopenTranspose, 1);
    let (xd, wd, yd) = (
        bench.tensor(F32, &[1, 1, 2, 2]),
        bench.tensor(F32, &[1, 1, 2, 2]),
        bench.tensor(F32, &[1, 1, 3, 3]),
    );
    let (x, w, y) = (bench.put(&DY), bench.put(&W), bench.put(&[0_f32; 9]));
    let class = miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoImplicitGEMM;
    ok!(bench.miopenConvolutionForward(
        at(&ONE),
        xd,
        x.at(),
        wd,
        w.at(),
        conv,
        class,
        at(&ZERO),
        yd,
        y.at(),
        null_mut(),
        0,
    ));
    y.is(&DX);
    // Back: the picture's gradient is an ordinary convolution; the weights' is the same as before.
    let (dy, dx, dw) = (bench.put(&X), bench.put(&[0_f32; 4]), bench.put(&[0_f32; 4]));
    let class = miopenConvBwdDataAlgorithm_t::miopenConvolutionBwdDataAlgoDirect;
    ok!(bench.miopenConvolutionBackwardData(
        at(&ONE),
        yd,
        dy.at(),
        wd,
        w.at(),
        conv,
        class,
        at(&ZERO),
        xd,
        dx.at(),
        null_mut(),
        0,
    ));
    dx.is(&Y);
    let class = miopenConvBwdWeightsAlgorithm_t::miopenConvolutionBwdWeightsAlgoDirect;
    ok!(bench.miopenConvolutionBackwardWeights(
        at(&ONE),
        yd,
        dy.at(),
        xd,
        x.at(),
        conv,
        class,
        at(&ZERO),
        wd,
        dw.at(),
        null_mut(),
        0,
    ));
    dw.is(&DW);
}

#[test]
fn groups_of_halves() {
    let Some(bench) = Bench::open() else { return };
    let conv = convolution(&bench, miopenConvolutionMode_t::miopenGroupConv, 2);
    let (xd, wd) = (bench.tensor(F16, &[1, 2, 2, 2]), bench.tensor(F16, &[2, 1, 1, 1]));
    let x = bench.put(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0].map(f16));
    let (w, y) = (bench.put(&[2.0, 3.0].map(f16)), bench.put(&[0_u16; 8]));
    let class = miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoImplicitGEMM;
    let (mut size, none) = (0, at(&ZERO));
    ok!(bench.miopenConvolutionForwardGetWorkSpaceSize(wd, xd, conv, xd, &mut size));
    let space = bench.room(size.max(1));
    ok!(bench.miopenConvolutionForward(
        at(&ONE),
        xd,
        x.at(),
        wd,
        w.at(),
        conv,
        class,
        none,
        xd,
        y.at(),
        space.at(),
        size,
    ));
    y.is(&[2.0, 4.0, 6.0, 8.0, 15.0, 18.0, 21.0, 24.0].map(f16));
}

#[test]
fn a_plan_and_a_fused_call() {
    let Some(bench) = Bench::open() else { return };
    let conv = convolution(&bench, miopenConvolutionMode_t::miopenConvolution, 1);
    let (xd, wd, yd) = (
        bench.tensor(F32, &[1, 1, 3, 3]),
        bench.tensor(F32, &[1, 1, 2, 2]),
        bench.tensor(F32, &[1, 1, 2, 2]),
    );
    let bd = bench.tensor(F32, &[1, 1, 1, 1]);
    let (x, w, b, y) = (bench.put(&X), bench.put(&W), bench.put(&[-10_f32]), bench.put(&[9_f32; 4]));
    let (mut plan, mut args) = (null_mut(), null_mut());
    let [mut convolve, mut add, mut bend] = [null_mut(); 3];
    let relu = miopenActivationMode_t::miopenActivationRELU;
    set!(bench.miopenCreateFusionPlan(&mut plan, miopenFusionDirection_t::miopenVerticalFusion, xd));
    set!(bench.miopenCreateOpConvForward(plan, &mut convolve, conv, wd));
    set!(bench.miopenCreateOpBiasForward(plan, &mut add, bd));
    set!(bench.miopenCreateOpActivationForward(plan, &mut bend, relu));
    ok!(bench.miopenCompileFusionPlan(plan));
    set!(bench.miopenCreateOperatorArgs(&mut args));
    set!(bench.miopenSetOpArgsConvForward(args, convolve, at(&ONE), at(&ZERO), w.at()));
    set!(bench.miopenSetOpArgsBiasForward(args, add, at(&ONE), at(&ZERO), b.at()));
    set!(bench.miopenSetOpArgsActivForward(args, bend, at(&ONE), at(&ZERO), 0.0, 0.0, 0.0));
    ok!(bench.miopenExecuteFusionPlan(plan, xd, x.at(), yd, y.at(), args));
    y.is_near(&[0.0, 0.0, 2.0, 4.0], 1e-5);
    set!(bench.miopenDestroyOperatorArgs(args));
    set!(bench.miopenDestroyFusionPlan(plan));

    // With an added tensor, and a leaky ReLU, which cuDNN cannot fuse.
    let fused = bench.dnn().miopenConvolutionBiasActivationForward.get().unwrap();
    let (z, mut leaky) = (bench.put(&[1_f32, 2.0, 3.0, 4.0]), null_mut());
    set!(bench.miopenCreateActivationDescriptor(&mut leaky));
    for (mode, expected) in [
        (relu, [0.0, 2.0, 8.0, 12.0]),
        (miopenActivationMode_t::miopenActivationLEAKYRELU, [-1.0, 2.0, 8.0, 12.0]),
    ] {
        set!(bench.miopenSetActivationDescriptor(leaky, mode, 0.5, 0.0, 0.0));
        let class = miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoImplicitGEMM;
        let two = 2.0;
        // SAFETY: S1: the test's own memory.
        let status = unsafe {
            fused(
                bench.handle,
                at(&ONE),
                xd,
                x.at(),
                wd,
                w.at(),
                conv,
                class,
                null_mut(),
                0,
                at(&two),
                yd,
                z.at(),
                bd,
                b.at(),
                leaky,
                yd,
                y.at(),
            )
        };
        assert_eq!(status.0, 0);
        y.is_near(&expected, 1e-5);
    }
}
