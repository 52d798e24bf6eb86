//! Dropout and fusion plans.

use crate::numbers::{check, noise};
use crate::under_test::{Machine, offered};
use half::{bf16, f16};
use miopen_safe::{
    Activation, ActivationDesc, Addends, Algorithm, BatchNormMode, Convolution, ConvolutionDesc, DropoutDesc,
    Error, FusionArg, FusionOp, FusionPlan, TensorDesc,
};
use reference::network::Sum;
use reference::network::convolution::{Shapes, Walk, forward};

#[test]
fn a_dropout_keeps_its_mask() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    assert!(matches!(DropoutDesc::new(handle, 1.5, 1), Err(Error::Invalid { .. })));
    let Some(mut dropout) = offered(DropoutDesc::new(handle, 0.25, 7)) else { return };
    let desc = machine.desc::<f32>(&[4, 5, 10, 20]);
    let len = desc.elements();
    let (x, mut y) = (machine.up::<f32>(&vec![3.0; len]), machine.scratch::<f32>(len));
    let (tx, mut ty) = (desc.view(&x).unwrap(), desc.view_mut(&mut y).unwrap());
    let Some(mut mask) = offered(handle.dropout_forward(&mut dropout, &tx, &mut ty)) else { return };
    let dropped = machine.down(&y);
    assert!(dropped.iter().all(|y| *y == 0.0 || (*y - 4.0).abs() < 1e-6), "0 or 3 / 0.75");
    // Of 4000 with probability ¼: 1000, give or take five deviations of 27.
    let zeros = dropped.iter().filter(|y| **y == 0.0).count();
    assert!((860..=1140).contains(&zeros), "{zeros}");
    let (dy, mut dx) = (machine.up::<f32>(&vec![6.0; len]), machine.scratch::<f32>(len));
    let (tdy, mut tdx) = (desc.view(&dy).unwrap(), desc.view_mut(&mut dx).unwrap());
    if offered(handle.dropout_backward(&mut dropout, &tdy, &mut tdx, &mut mask)).is_some() {
        let same = machine.down(&dx).iter().zip(&dropped).all(|(dx, y)| (*dx - 2.0 * y).abs() < 1e-5);
        assert!(same, "the same elements");
    }
    offered(dropout.set_rate(handle, 0.0));
    assert_eq!(dropout.rate(), 0.0);
    let mut ty = desc.view_mut(&mut y).unwrap();
    drop(offered(handle.dropout_forward(&mut dropout, &tx, &mut ty)));
    assert!(machine.down(&y).iter().all(|y| *y == 3.0), "nothing is dropped");
    dropout.close().unwrap();
}

#[test]
fn a_plan_is_held_to_algorithms() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let convolution = ConvolutionDesc::new(handle, Convolution::new(2)).unwrap();
    let (x_desc, w_desc) = (machine.desc::<f32>(&[1, 2, 6, 6]), machine.desc::<f32>(&[3, 2, 3, 3]));
    let ops = [FusionOp::Convolution(convolution, w_desc), FusionOp::Activation(Activation::Relu)];
    let Some(mut plan) = offered(FusionPlan::new(handle, &x_desc, &ops)) else { return };
    let named = plan.algorithms().unwrap();
    assert!(!named.is_empty());
    offered(FusionPlan::held_to(handle, &x_desc, &ops, &named));
    for others in [&[][..], &[Algorithm::FFT]] {
        let refused = FusionPlan::held_to(handle, &x_desc, &ops, others);
        assert!(refused.is_err_and(|error| error.is_unsupported()), "{named:?} but {others:?}");
    }
}

#[test]
fn a_plan_of_convolution_bias_and_activation() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let convolution = Convolution { padding: vec![1, 1], ..Convolution::new(2) };
    let convolution = ConvolutionDesc::new(handle, convolution).unwrap();
    let (x_desc, w_desc) = (machine.desc::<f32>(&[2, 4, 6, 6]), machine.desc::<f32>(&[3, 4, 3, 3]));
    let (b_desc, y_desc) = (machine.desc::<f32>(&[1, 3, 1, 1]), machine.desc::<f32>(&[2, 3, 6, 6]));
    let plan = FusionPlan::convolution(
        handle,
        &x_desc,
        &convolution,
        &w_desc,
        Some(&b_desc),
        Some(Activation::Relu),
    );
    let Some(mut plan) = offered(plan) else { return };
    assert_eq!(plan.output_dims(), [2, 3, 6, 6]);
    let (x, w, b) = (noise::<f32>(1, 288), noise::<f32>(2, 108), noise::<f32>(3, 3));
    let (dev_x, dev_w, dev_b) = (machine.up::<f32>(&x), machine.up::<f32>(&w), machine.up::<f32>(&b));
    let mut y = machine.scratch::<f32>(216);
    let (tx, tw, tb) =
        (x_desc.view(&dev_x).unwrap(), w_desc.view(&dev_w).unwrap(), b_desc.view(&dev_b).unwrap());
    let args = [FusionArg::Convolution(tw), FusionArg::Bias(tb), FusionArg::Activation];
    let done = plan.execute(handle, &tx, &args[..2], &mut y_desc.view_mut(&mut y).unwrap());
    assert!(matches!(done, Err(Error::Mismatch { .. })), "an argument is missing");
    let swapped = [args[1], args[0], args[2]];
    let done = plan.execute(handle, &tx, &swapped, &mut y_desc.view_mut(&mut y).unwrap());
    assert!(matches!(done, Err(Error::Mismatch { .. })), "arguments in another order");
    let done = plan.execute(handle, &tx, &args, &mut y_desc.view_mut(&mut y).unwrap());
    if offered(done).is_some() {
        let walk = Walk {
            padding: vec![1, 1],
            stride: vec![1, 1],
            dilation: vec![1, 1],
            groups: 1,
            transposed: false,
        };
        let shapes = Shapes { x: x_desc.dims(), w: w_desc.dims(), y: y_desc.dims() };
        let mut wanted: Vec<Sum> = forward(&x, &w, shapes, &walk);
        for (at, sum) in wanted.iter_mut().enumerate() {
            sum.add(b[at / 36 % 3]);
            sum.value = sum.value.max(0.0);
        }
        check::<f32>("the plan", &machine.down(&y), &wanted);
    }
    plan.close().unwrap();
}

/// The parameters are `f32` beside a half input. Only the handle that compiled the plan has its kernels, and it may be dropped before.
#[test]
fn a_plan_of_a_normalisation_and_an_activation() {
    let (machine, other) = (Machine::new(), Machine::new());
    let x_desc = machine.desc::<f16>(&[1, 2, 1, 2]);
    let p_desc = machine.desc::<f32>(&[1, 2, 1, 1]);
    let ops = |params| {
        [FusionOp::BatchNormInference(BatchNormMode::Spatial, params), FusionOp::Activation(Activation::Relu)]
    };
    let halves = machine.desc::<f16>(&[1, 2, 1, 1]);
    for (x_desc, params) in [
        (&x_desc, &halves),
        (&machine.desc::<bf16>(&[1, 2, 1, 2]), &p_desc),
        (&machine.desc::<f64>(&[1, 2, 1, 2]), &p_desc),
    ] {
        let refused = FusionPlan::new(&machine.handle, x_desc, &ops(params.clone()));
        assert!(matches!(refused, Err(Error::Mismatch { .. })), "{refused:?}");
    }
    let gaps = TensorDesc::strided::<f16>(&machine.handle, &[1, 2, 1, 2], &[8, 4, 2, 1]).unwrap();
    let refused = FusionPlan::new(&machine.handle, &gaps, &ops(p_desc.clone()));
    assert!(matches!(refused, Err(Error::Mismatch { .. })), "{refused:?}");
    let (volume, params) = (machine.desc::<f32>(&[1, 2, 1, 1, 2]), machine.desc::<f32>(&[1, 2, 1, 1, 1]));
    let refused = FusionPlan::new(&machine.handle, &volume, &ops(params));
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    let Some(mut plan) = offered(FusionPlan::new(&machine.handle, &x_desc, &ops(p_desc.clone()))) else {
        return;
    };
    let x = machine.up::<f16>(&[1.0, 3.0, -2.0, 4.0]);
    let [scale, bias, mean, variance] =
        [[2.0, 1.0], [0.5, -1.0], [1.0, 2.0], [4.0, 0.25]].map(|values| machine.up::<f32>(&values));
    let [scale, bias, mean, variance] =
        [&scale, &bias, &mean, &variance].map(|memory| p_desc.view(memory).unwrap());
    let args =
        [FusionArg::BatchNormInference { scale, bias, mean, variance, epsilon: 0.0 }, FusionArg::Activation];
    let mut y = machine.scratch::<f16>(4);
    let (tx, mut ty) = (x_desc.view(&x).unwrap(), x_desc.view_mut(&mut y).unwrap());
    let refused = plan.execute(&other.handle, &tx, &args, &mut ty);
    assert!(matches!(refused, Err(Error::Mismatch { what: "the handle of a plan", .. })), "{refused:?}");
    if offered(plan.execute(&machine.handle, &tx, &args, &mut ty)).is_some() {
        // (x - 1) / 2 · 2 + ½, and (x - 2) / ½ - 1; nothing below zero.
        assert_eq!(machine.down(&y), [0.5, 2.5, 0.0, 3.0]);
    }
    machine.handle.close().unwrap();
    plan.close().unwrap();
}

#[test]
fn a_convolution_with_a_sum_a_bias_and_an_activation() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let convolution = ConvolutionDesc::new(handle, Convolution::new(2)).unwrap();
    let relu = ActivationDesc::new(handle, Activation::Relu).unwrap();
    let (x_desc, w_desc) = (machine.desc::<f32>(&[2, 4, 5, 5]), machine.desc::<f32>(&[3, 4, 3, 3]));
    let (b_desc, y_desc) = (machine.desc::<f32>(&[1, 3, 1, 1]), machine.desc::<f32>(&[2, 3, 3, 3]));
    let (x, w) = (noise::<f32>(1, 200), noise::<f32>(2, 108));
    let (b, z) = (noise::<f32>(3, 3), noise::<f32>(4, 54));
    let (dev_x, dev_w) = (machine.up::<f32>(&x), machine.up::<f32>(&w));
    let (dev_b, dev_z, mut y) = (machine.up::<f32>(&b), machine.up::<f32>(&z), machine.scratch::<f32>(54));
    let addends = Addends { z: y_desc.view(&dev_z).unwrap(), bias: b_desc.view(&dev_b).unwrap() };
    let (tx, tw) = (x_desc.view(&dev_x).unwrap(), w_desc.view(&dev_w).unwrap());
    let mut ty = y_desc.view_mut(&mut y).unwrap();
    let done = handle.convolution_bias_activation(&convolution, &tx, &tw, &addends, &relu, &mut ty);
    if offered(done).is_some() {
        let walk = Walk {
            padding: vec![0, 0],
            stride: vec![1, 1],
            dilation: vec![1, 1],
            groups: 1,
            transposed: false,
        };
        let mut wanted =
            forward(&x, &w, Shapes { x: x_desc.dims(), w: w_desc.dims(), y: y_desc.dims() }, &walk);
        for (at, sum) in wanted.iter_mut().enumerate() {
            sum.add(z[at]);
            sum.add(b[at / 9 % 3]);
            sum.value = sum.value.max(0.0);
        }
        check::<f32>("all in one", &machine.down(&y), &wanted);
    }
}
