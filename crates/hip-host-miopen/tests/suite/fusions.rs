//! Plans, and the convolution with a bias and an activation.

use crate::library::*;
use hip_sys::miopen::*;
use std::ptr::null_mut;

#[test]
fn a_convolution_a_bias_a_norm_and_an_activation() {
    let mi = mi();
    let (xd, wd, yd) = (mi.floats(&[1, 1, 2, 2]), mi.floats(&[2, 1, 1, 1]), mi.floats(&[1, 2, 2, 2]));
    let channels = mi.floats(&[1, 2, 1, 1]);
    let (mut plan, mut args) = (null_mut(), null_mut());
    good!(mi, miopenCreateFusionPlan(&mut plan, miopenFusionDirection_t::miopenVerticalFusion, xd));
    let [mut convolution, mut bias, mut norm, mut activation] = [null_mut(); 4];
    good!(mi, miopenCreateOpConvForward(plan, &mut convolution, mi.convolution(0, 0, 1, 1), wd));
    good!(mi, miopenCreateOpBiasForward(plan, &mut bias, channels));
    let spatial = miopenBatchNormMode_t::miopenBNSpatial;
    good!(mi, miopenCreateOpBatchNormInference(plan, &mut norm, spatial, channels));
    let relu = miopenActivationMode_t::miopenActivationRELU;
    good!(mi, miopenCreateOpActivationForward(plan, &mut activation, relu));
    let mut third = null_mut();
    good!(mi, miopenFusionPlanGetOp(plan, 2, &mut third));
    assert_eq!(third, norm);
    assert_eq!(mi!(mi, miopenFusionPlanGetOp(plan, 4, &mut third)), BAD);
    good!(mi, miopenCreateOperatorArgs(&mut args));
    let x = mi.hip.buffer(&[1.0_f32, 2.0, 3.0, 4.0]);
    let (w, y) = (mi.hip.buffer(&[1.0_f32, -1.0]), mi.hip.zeros::<f32>(8));
    let b = mi.hip.buffer(&[1.0_f32, 5.0]);
    let [by, add, mean, variance] =
        [[2.0_f32, 1.0], [0.0, 1.0], [3.0, 2.0], [4.0, 1.0]].map(|values| mi.hip.buffer(&values));
    good!(mi, miopenSetOpArgsConvForward(args, convolution, scale(ONE), scale(ZERO), w.pointer));
    good!(mi, miopenSetOpArgsBiasForward(args, bias, scale(ONE), scale(ZERO), b.pointer));
    good!(
        mi,
        miopenSetOpArgsBatchNormInference(
            args,
            norm,
            scale(ONE),
            scale(ZERO),
            by.pointer,
            add.pointer,
            mean.pointer,
            variance.pointer,
            0.0
        )
    );
    let execute = || mi!(mi, miopenExecuteFusionPlan(mi.handle, plan, xd, x.pointer, yd, y.pointer, args));
    good!(mi, miopenCompileFusionPlan(mi.handle, plan));
    // One operation has no arguments yet; and arguments are of a kind.
    assert_eq!(execute(), BAD);
    let wrong = mi!(mi, miopenSetOpArgsBiasForward(args, convolution, scale(ONE), scale(ZERO), b.pointer));
    assert_eq!(wrong, UNKNOWN);
    good!(mi, miopenSetOpArgsActivForward(args, activation, scale(ONE), scale(ZERO), 0.0, 0.0, 0.0));
    assert_eq!(execute(), 0);
    // x + 1 - 3, and 5 - x - 2 + 1; nothing below zero.
    assert_eq!(mi.read(&y), [0.0, 0.0, 1.0, 2.0, 3.0, 2.0, 1.0, 0.0]);
    good!(mi, miopenDestroyFusionPlan(plan));
    assert_eq!(execute(), BAD);
}

#[test]
fn operations_that_cannot_be_fused_are_unsupported() {
    let mi = mi();
    let (xd, wd) = (mi.floats(&[1, 1, 2, 2]), mi.floats(&[1, 1, 1, 1]));
    let (mut plan, mut operation) = (null_mut(), null_mut());
    good!(mi, miopenCreateFusionPlan(&mut plan, miopenFusionDirection_t::miopenVerticalFusion, xd));
    let unsupported = miopenStatus_t::miopenStatusUnsupportedOp.0;
    assert_eq!(mi!(mi, miopenCompileFusionPlan(mi.handle, plan)), unsupported);
    let tanh = miopenActivationMode_t::miopenActivationTANH;
    good!(mi, miopenCreateOpActivationForward(plan, &mut operation, tanh));
    good!(mi, miopenCreateOpConvForward(plan, &mut operation, mi.convolution(0, 0, 1, 1), wd));
    assert_eq!(mi!(mi, miopenCompileFusionPlan(mi.handle, plan)), unsupported);
    // A normalisation reads floats, beside floats and halves.
    let (half, brief) = (HALF, miopenDataType_t::miopenBFloat16);
    let cases = [(FLOAT, FLOAT, 0), (half, FLOAT, 0), (half, half, unsupported), (brief, FLOAT, unsupported)];
    for (input, parameters, wanted) in cases {
        let (xd, pd) = (mi.tensor(input, &[1, 1, 2, 2]), mi.tensor(parameters, &[1, 1, 1, 1]));
        good!(mi, miopenCreateFusionPlan(&mut plan, miopenFusionDirection_t::miopenVerticalFusion, xd));
        let spatial = miopenBatchNormMode_t::miopenBNSpatial;
        good!(mi, miopenCreateOpBatchNormInference(plan, &mut operation, spatial, pd));
        assert_eq!(mi!(mi, miopenCompileFusionPlan(mi.handle, plan)), wanted, "{input:?} {parameters:?}");
    }
}

#[test]
fn a_convolution_with_a_sum_a_bias_and_a_rectifier() {
    let mi = mi();
    let (xd, wd, bd) = (mi.floats(&[1, 1, 1, 3]), mi.floats(&[1, 1, 1, 1]), mi.floats(&[1, 1, 1, 1]));
    let (x, y) = (mi.hip.buffer(&[1.0_f32, 2.0, 3.0]), mi.hip.zeros::<f32>(3));
    let (w, z, b) =
        (mi.hip.buffer(&[2.0_f32]), mi.hip.buffer(&[1.0_f32, -9.0, 1.0]), mi.hip.buffer(&[0.5_f32]));
    let algorithm = miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoGEMM;
    let convolution = mi.convolution(0, 0, 1, 1);
    let mut activation = null_mut();
    good!(mi, miopenCreateActivationDescriptor(&mut activation));
    let run = |mode| {
        good!(mi, miopenSetActivationDescriptor(activation, mode, 0.0, 0.0, 0.0));
        mi_later!(
            mi,
            miopenConvolutionBiasActivationForward(
                mi.handle,
                scale(&0.5),
                xd,
                x.pointer,
                wd,
                w.pointer,
                convolution,
                algorithm,
                null_mut(),
                0,
                scale(&2.0),
                xd,
                z.pointer,
                bd,
                b.pointer,
                activation,
                xd,
                y.pointer
            )
        )
    };
    assert_eq!(run(miopenActivationMode_t::miopenActivationRELU), 0);
    assert_eq!(mi.read(&y), [3.5, 0.0, 5.5]);
    assert_eq!(run(miopenActivationMode_t::miopenActivationTANH), NOT_IMPLEMENTED);
}
