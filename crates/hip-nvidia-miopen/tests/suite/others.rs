//! Operations other than convolutions and networks.

use crate::bench::{Bench, F16, F32, ONE, ZERO, at, f16, ok, set};
use hip_sys::miopen::*;
use std::ptr::null_mut;

#[test]
fn poolings() {
    let Some(bench) = Bench::open() else { return };
    let (xd, yd) = (bench.tensor(F32, &[1, 1, 2, 2]), bench.tensor(F32, &[1, 1, 2, 2]));
    let (x, dy) = (bench.put(&[1_f32, 2.0, 3.0, 4.0]), bench.put(&[4_f32, 8.0, 12.0, 16.0]));
    let mut pooling = null_mut();
    set!(bench.miopenCreatePoolingDescriptor(&mut pooling));
    // A window of two with a padding of one: each window has one element.
    for (mode, y_expected, dx_expected) in [
        (miopenPoolingMode_t::miopenPoolingMax, [1_f32, 2.0, 3.0, 4.0], [4_f32, 8.0, 12.0, 16.0]),
        (miopenPoolingMode_t::miopenPoolingAverage, [1.0, 2.0, 3.0, 4.0], [4.0, 8.0, 12.0, 16.0]),
        (miopenPoolingMode_t::miopenPoolingAverageInclusive, [0.25, 0.5, 0.75, 1.0], [1.0, 2.0, 3.0, 4.0]),
    ] {
        set!(bench.miopenSet2dPoolingDescriptor(pooling, mode, 2, 2, 1, 1, 2, 2));
        let (y, dx) = (bench.put(&[0_f32; 4]), bench.put(&[0_f32; 4]));
        ok!(bench.miopenPoolingForward(
            pooling,
            at(&ONE),
            xd,
            x.at(),
            at(&ZERO),
            yd,
            y.at(),
            true,
            null_mut(),
            0
        ));
        y.is(&y_expected);
        ok!(bench.miopenPoolingBackward(
            pooling,
            at(&ONE),
            yd,
            y.at(),
            yd,
            dy.at(),
            xd,
            x.at(),
            at(&ZERO),
            xd,
            dx.at(),
            null_mut(),
        ));
        dx.is(&dx_expected);
    }
}

#[test]
fn activations() {
    let Some(bench) = Bench::open() else { return };
    let desc = bench.tensor(F32, &[4]);
    let xs = [-2_f32, -0.5, 1.0, 3.0];
    let (x, dy) = (bench.put(&xs), bench.put(&[1_f32, 2.0, 3.0, 4.0]));
    let mut activation = null_mut();
    set!(bench.miopenCreateActivationDescriptor(&mut activation));
    type Function = fn(f64) -> (f64, f64);
    let tanh: Function = |x| (2.0 * (0.5 * x).tanh(), 1.0 - (0.5 * x).tanh().powi(2));
    let list: [(u32, f64, f64, Function); 7] = [
        (0, 0.0, 0.0, |x| (x, 1.0)),
        (1, 0.0, 0.0, |x| (1.0 / (1.0 + (-x).exp()), (-x).exp() / (1.0 + (-x).exp()).powi(2))),
        (2, 0.5, 2.0, tanh),
        (3, 0.0, 0.0, |x| (x.max(0.0), f64::from(x > 0.0))),
        (5, 0.0, 0.0, |x| (x.abs(), x.signum())),
        (7, 2.0, 0.0, |x| (x.clamp(0.0, 2.0), f64::from(x > 0.0 && x < 2.0))),
        (8, 0.25, 0.0, |x| if x > 0.0 { (x, 1.0) } else { (0.25 * x, 0.25) }),
    ];
    for (mode, alpha, beta, function) in list {
        set!(bench.miopenSetActivationDescriptor(activation, miopenActivationMode_t(mode), alpha, beta, 0.0));
        let (y, dx) = (bench.put(&[9_f32; 4]), bench.put(&[9_f32; 4]));
        ok!(bench.miopenActivationForward(activation, at(&ONE), desc, x.at(), at(&ZERO), desc, y.at()));
        y.is_near(&xs.map(|x| function(f64::from(x)).0), 1e-6);
        ok!(bench.miopenActivationBackward(
            activation,
            at(&ONE),
            desc,
            y.at(),
            desc,
            dy.at(),
            desc,
            x.at(),
            at(&ZERO),
            desc,
            dx.at(),
        ));
        let expected = [0, 1, 2, 3].map(|i| (i + 1) as f64 * function(f64::from(xs[i as usize])).1);
        dx.is_near(&expected, 2e-6);
    }
}

#[test]
fn softmax_over_channels() {
    let Some(bench) = Bench::open() else { return };
    let desc = bench.tensor(F32, &[1, 2, 1, 1]);
    let (x, y) = (bench.put(&[0_f32, 3_f32.ln()]), bench.put(&[0_f32; 2]));
    ok!(bench.miopenSoftmaxForward(at(&ONE), desc, x.at(), at(&ZERO), desc, y.at()));
    y.is_near(&[0.25, 0.75], 1e-6);
}

#[test]
fn a_transform_converts() {
    let Some(bench) = Bench::open() else { return };
    let (wide, narrow) = (bench.tensor(F32, &[2, 2]), bench.tensor(F16, &[2, 2]));
    let (x, y) = (bench.put(&[1_f32, -2.0, 3.0, 1024.0]), bench.put(&[0_u16; 4]));
    let two = 2.0;
    ok!(bench.miopenTransformTensor(at(&two), wide, x.at(), at(&ZERO), narrow, y.at()));
    y.is(&[2.0, -4.0, 6.0, 2048.0].map(f16));
    ok!(bench.miopenTransformTensor(at(&ONE), narrow, y.at(), at(&ZERO), wide, x.at()));
    x.is(&[2_f32, -4.0, 6.0, 2048.0]);
}

#[test]
fn a_reduction_with_indices() {
    let Some(bench) = Bench::open() else { return };
    let (ad, cd) = (bench.tensor(F32, &[2, 3]), bench.tensor(F32, &[2, 1]));
    let a = bench.put(&[3_f32, 9.0, -1.0, 5.0, 4.0, 7.0]);
    let (c, mut reduction) = (bench.put(&[0_f32; 2]), null_mut());
    let nan = miopenNanPropagation_t::MIOPEN_NOT_PROPAGATE_NAN;
    let (mut index_bytes, mut size) = (0, 0);
    set!(bench.miopenCreateReduceTensorDescriptor(&mut reduction));
    set!(bench.miopenSetReduceTensorDescriptor(
        reduction,
        miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_MAX,
        F32,
        nan,
        miopenReduceTensorIndices_t::MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES,
        miopenIndicesType_t::MIOPEN_32BIT_INDICES,
    ));
    ok!(bench.miopenGetReductionIndicesSize(reduction, ad, cd, &mut index_bytes));
    ok!(bench.miopenGetReductionWorkspaceSize(reduction, ad, cd, &mut size));
    let (indices, space) = (bench.room(index_bytes.max(8)), bench.room(size.max(1)));
    ok!(bench.miopenReduceTensor(
        reduction,
        indices.at(),
        index_bytes,
        space.at(),
        size,
        at(&ONE),
        ad,
        a.at(),
        at(&ZERO),
        cd,
        c.at(),
    ));
    c.is(&[9_f32, 7.0]);
    indices.is(&[1_u32, 2]);
}

#[test]
fn batch_norm_and_its_parameters() {
    let Some(bench) = Bench::open() else { return };
    let (xd, pd) = (bench.tensor(F32, &[2, 1, 1, 2]), bench.tensor(F32, &[1]));
    let mode = miopenBatchNormMode_t::miopenBNSpatial;
    set!(bench.miopenDeriveBNTensorDescriptor(pd, xd, mode));
    let (x, y) = (bench.put(&[1_f32, 5.0, 3.0, 7.0]), bench.put(&[0_f32; 4]));
    let [scale, bias, mean, variance] = [2.0, 1.0, 3.0, 4.0].map(|value: f32| bench.put(&[value]));
    let (mut one, mut none) = (1_f32, 0_f32);
    let (alpha, beta) = ((&raw mut one).cast(), (&raw mut none).cast());
    ok!(bench.miopenBatchNormalizationForwardInference(
        mode,
        alpha,
        beta,
        xd,
        x.at(),
        xd,
        y.at(),
        pd,
        scale.at(),
        bias.at(),
        mean.at(),
        variance.at(),
        0.0,
    ));
    y.is_near(&[-1.0, 3.0, 1.0, 5.0], 1e-5);
    // Training: mean 4, variance 5; the running variance divides by one less.
    let (saved, deviation) = (bench.put(&[0_f32]), bench.put(&[0_f32]));
    ok!(bench.miopenBatchNormalizationForwardTraining(
        mode,
        alpha,
        beta,
        xd,
        x.at(),
        xd,
        y.at(),
        pd,
        scale.at(),
        bias.at(),
        0.5,
        mean.at(),
        variance.at(),
        0.0,
        saved.at(),
        deviation.at(),
    ));
    saved.is_near(&[4.0], 1e-5);
    deviation.is_near(&[1.0 / 5_f64.sqrt()], 1e-5);
    mean.is_near(&[3.5], 1e-5);
    variance.is_near(&[2.0 + 10.0 / 3.0], 1e-5);
}

#[test]
fn a_dropout_keeps_or_doubles() {
    let Some(bench) = Bench::open() else { return };
    let desc = bench.tensor(F32, &[1000]);
    let (mut dropout, mut states, mut reserve) = (null_mut(), 0, 0);
    set!(bench.miopenCreateDropoutDescriptor(&mut dropout));
    ok!(bench.miopenDropoutGetStatesSize(&mut states));
    set!(bench.miopenDropoutGetReserveSpaceSize(desc, &mut reserve));
    let (memory, mask) = (bench.room(states), bench.room(reserve));
    let generator = miopenRNGType_t::MIOPEN_RNG_PSEUDO_XORWOW;
    set!(bench.miopenSetDropoutDescriptor(
        dropout,
        bench.handle,
        0.5,
        memory.at(),
        states,
        7,
        false,
        false,
        generator
    ));
    let (x, y, dx) = (bench.put(&[1_f32; 1000]), bench.put(&[9_f32; 1000]), bench.put(&[9_f32; 1000]));
    ok!(bench.miopenDropoutForward(dropout, desc, desc, x.at(), desc, y.at(), mask.at(), reserve));
    let values = y.read::<f32>(1000);
    let kept = values.iter().filter(|y| **y == 2.0).count();
    assert!(values.iter().all(|y| [0.0, 2.0].contains(y)) && (350..650).contains(&kept), "{kept}");
    ok!(bench.miopenDropoutBackward(dropout, desc, desc, x.at(), desc, dx.at(), mask.at(), reserve));
    dx.is(&values);
}
