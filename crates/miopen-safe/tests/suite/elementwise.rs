//! Activations, softmax, and operations on tensors.

use crate::numbers::{Real, check, check_exact, noise, steps};
use crate::under_test::{Machine, offered, offered_case};
use half::f16;
use miopen_safe::{
    Activation, ActivationDesc, Blend, Factors, SoftmaxAlgorithm, SoftmaxMode, TensorDesc, TensorOp,
};
use reference::network::Sum;
use reference::network::norm::{groups, softmax, softmax_backward};

/// The function and its slope, from the documentation of [`Activation`]. Inputs are in 0‥1 where a power wants that.
fn function(activation: Activation, x: f64) -> (f64, f64) {
    let positive = x > 0.0;
    match activation {
        Activation::PassThrough => (x, 1.0),
        Activation::Logistic => {
            let y = 1.0 / (1.0 + (-x).exp());
            (y, y * (1.0 - y))
        }
        Activation::Tanh { alpha, beta } => {
            let y = (alpha * x).tanh();
            (beta * y, alpha * beta * (1.0 - y * y))
        }
        Activation::Relu => (x.max(0.0), f64::from(positive)),
        Activation::SoftRelu => (x.exp().ln_1p(), 1.0 / (1.0 + (-x).exp())),
        Activation::Abs => (x.abs(), x.signum()),
        Activation::Power { alpha, beta, gamma } => {
            let base = alpha + beta * x;
            (base.powf(gamma), gamma * beta * base.powf(gamma - 1.0))
        }
        Activation::ClippedRelu { alpha } => (x.clamp(0.0, alpha), f64::from(positive && x <= alpha)),
        Activation::LeakyRelu { alpha } => {
            if positive {
                (x, 1.0)
            } else {
                (alpha * x, alpha)
            }
        }
        Activation::Elu { alpha } => {
            if positive {
                (x, 1.0)
            } else {
                (alpha * x.exp_m1(), alpha * x.exp())
            }
        }
    }
}

fn activations() -> [Activation; 10] {
    [
        Activation::PassThrough,
        Activation::Logistic,
        Activation::Tanh { alpha: 0.75, beta: 1.5 },
        Activation::Relu,
        Activation::SoftRelu,
        Activation::Abs,
        Activation::Power { alpha: 2.0, beta: 0.5, gamma: 1.5 },
        Activation::ClippedRelu { alpha: 0.5 },
        Activation::LeakyRelu { alpha: 0.25 },
        Activation::Elu { alpha: 0.5 },
    ]
}

fn activate<T: Real>(machine: &Machine, activation: Activation) {
    let Machine { handle, .. } = machine;
    let name = |step: &str| format!("{step} {activation:?} {:?}", T::DTYPE);
    let shown = format!("{activation:?}");
    let case = shown.split(' ').next().unwrap_or_default();
    let desc = ActivationDesc::new(handle, activation).unwrap();
    let t_desc = machine.desc::<T>(&[2, 3, 4, 5]);
    let (x, dy) = (noise::<T>(7, 120), noise::<T>(8, 120));
    let (dev_x, dev_dy, mut dev_y) = (machine.up::<T>(&x), machine.up::<T>(&dy), machine.scratch::<T>(120));
    let tx = t_desc.view(&dev_x).unwrap();
    let done = handle.activation_forward(&desc, Blend::SET, &tx, &mut t_desc.view_mut(&mut dev_y).unwrap());
    if offered_case(case, done).is_none() {
        return;
    }
    // Powers and logarithms lose a few units, near 0 also of the intermediate values of 1.
    let error = |value: f64| Sum { scale: 4.0 * value.abs() + 1.0, ..steps(value, 1) };
    let y = machine.down(&dev_y);
    let wanted: Vec<Sum> = x.iter().map(|x| error(function(activation, *x).0)).collect();
    check::<T>(&name("forward"), &y, &wanted);

    let mut dev_dx = machine.scratch::<T>(120);
    let (ty, tdy) = (t_desc.view(&dev_y).unwrap(), t_desc.view(&dev_dy).unwrap());
    let done = handle.activation_backward(
        &desc,
        Blend::SET,
        &ty,
        &tdy,
        &tx,
        &mut t_desc.view_mut(&mut dev_dx).unwrap(),
    );
    if offered_case(case, done).is_some() {
        // The slope may be computed from the rounded output.
        let rounding = reference::round::ulp(T::DTYPE, 1.0) / 2e-7;
        let wanted: Vec<Sum> = (0..120)
            .map(|at| {
                // MIOpen leaves the output's gradient out of a power's.
                let given = if matches!(activation, Activation::Power { .. }) { 1.0 } else { dy[at] };
                let value = given * function(activation, x[at]).1;
                Sum { scale: given.abs() * (8.0 + 2.0 * rounding), ..steps(value, 1) }
            })
            .collect();
        check::<T>(&name("backward"), &machine.down(&dev_dx), &wanted);
    }
}

#[test]
fn every_activation() {
    let machine = Machine::new();
    for activation in activations() {
        activate::<f32>(&machine, activation);
    }
    for activation in [Activation::Logistic, Activation::Relu, Activation::Elu { alpha: 0.5 }] {
        activate::<f16>(&machine, activation);
    }
}

fn soften<T: Real>(machine: &Machine, algorithm: SoftmaxAlgorithm, mode: SoftmaxMode) {
    let Machine { handle, .. } = machine;
    let name = |step: &str| format!("{step} {algorithm:?} {mode:?} {:?}", T::DTYPE);
    let (dims, log) = ([2, 3, 4, 5], algorithm == SoftmaxAlgorithm::Log);
    let parts = groups(&dims, |index| match mode {
        SoftmaxMode::Instance => vec![index[0]],
        SoftmaxMode::Channel => vec![index[0], index[2], index[3]],
    });
    let desc = machine.desc::<T>(&dims);
    let x: Vec<f64> = noise::<T>(9, 120).iter().map(|x| T::of(x * 4.0).value()).collect();
    let dy = noise::<T>(10, 120);
    let (dev_x, dev_dy, mut dev_y) = (machine.up::<T>(&x), machine.up::<T>(&dy), machine.scratch::<T>(120));
    let tx = desc.view(&dev_x).unwrap();
    let done =
        handle.softmax_forward(algorithm, mode, Blend::SET, &tx, &mut desc.view_mut(&mut dev_y).unwrap());
    if offered(done).is_none() {
        return;
    }
    let y = machine.down(&dev_y);
    check::<T>(&name("forward"), &y, &softmax(&x, &parts, log));
    let mut dev_dx = machine.scratch::<T>(120);
    let (ty, tdy) = (desc.view(&dev_y).unwrap(), desc.view(&dev_dy).unwrap());
    let mut tdx = desc.view_mut(&mut dev_dx).unwrap();
    if offered(handle.softmax_backward(algorithm, mode, Blend::SET, &ty, &tdy, &mut tdx)).is_some() {
        check::<T>(&name("backward"), &machine.down(&dev_dx), &softmax_backward(&y, &dy, &parts, log));
    }
}

#[test]
fn every_softmax() {
    let machine = Machine::new();
    for mode in [SoftmaxMode::Instance, SoftmaxMode::Channel] {
        for algorithm in [SoftmaxAlgorithm::Fast, SoftmaxAlgorithm::Accurate, SoftmaxAlgorithm::Log] {
            soften::<f32>(&machine, algorithm, mode);
        }
        soften::<f16>(&machine, SoftmaxAlgorithm::Accurate, mode);
    }
}

#[test]
fn operations_on_two_tensors() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let (whole, part) = (machine.desc::<f32>(&[2, 3, 2, 2]), machine.desc::<f32>(&[1, 3, 1, 1]));
    let (a, b, c) = (noise::<f32>(1, 24), noise::<f32>(2, 3), noise::<f32>(3, 24));
    let factors = Factors { a: 2.0, b: 0.5, c: 0.25 };
    for op in [TensorOp::Add, TensorOp::Mul, TensorOp::Min, TensorOp::Max] {
        let (dev_a, dev_b, mut dev_c) = (machine.up::<f32>(&a), machine.up::<f32>(&b), machine.up::<f32>(&c));
        let (ta, tb) = (whole.view(&dev_a).unwrap(), part.view(&dev_b).unwrap());
        let done = handle.tensor_op(op, factors, &ta, &tb, &mut whole.view_mut(&mut dev_c).unwrap());
        if offered(done).is_none() {
            continue;
        }
        let wanted = |at: usize| -> Sum {
            let (a, b) = (2.0 * a[at], 0.5 * b[at / 4 % 3]);
            let terms = match op {
                TensorOp::Add => vec![a, b],
                TensorOp::Mul => vec![a * b],
                TensorOp::Min => vec![a.min(b)],
                TensorOp::Max => vec![a.max(b)],
            };
            terms.into_iter().chain([0.25 * c[at]]).collect()
        };
        check::<f32>(&format!("{op:?}"), &machine.down(&dev_c), &(0..24).map(wanted).collect::<Vec<_>>());
    }
}

#[test]
fn fills_and_scales_do_not_write_gaps() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let desc = TensorDesc::strided::<f32>(handle, &[2, 2], &[3, 1]).unwrap();
    let mut memory = machine.up::<f32>(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    if offered(handle.scale_tensor(&mut desc.view_mut(&mut memory).unwrap(), 10.0)).is_some() {
        check_exact("scaled", &machine.down(&memory), &[10.0, 20.0, 3.0, 40.0, 50.0, 6.0]);
        offered(handle.set_tensor(&mut desc.view_mut(&mut memory).unwrap(), -0.5));
        check_exact("filled", &machine.down(&memory), &[-0.5, -0.5, 3.0, -0.5, -0.5, 6.0]);
    }
    let mut halves = machine.up::<f16>(&[1.0, 2.0, 3.0, 4.0]);
    let desc = machine.desc::<f16>(&[2, 2]);
    if offered(handle.set_tensor(&mut desc.view_mut(&mut halves).unwrap(), 1.5)).is_some() {
        check_exact("filled halves", &machine.down(&halves), &[1.5; 4]);
    }
}

#[test]
fn a_transform_changes_the_layout() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let dims = [2, 3, 2, 2];
    let packed = machine.desc::<f32>(&dims);
    // Channels last.
    let other = TensorDesc::strided::<f32>(handle, &dims, &[12, 1, 6, 3]).unwrap();
    let x = noise::<f32>(4, 24);
    let (dev_x, mut dev_y) = (machine.up::<f32>(&x), machine.scratch::<f32>(24));
    let done = handle.transform_tensor(
        Blend::SET,
        &packed.view(&dev_x).unwrap(),
        &mut other.view_mut(&mut dev_y).unwrap(),
    );
    if offered(done).is_some() {
        let mut wanted = vec![0.0; 24];
        for (at, x) in x.iter().enumerate() {
            wanted[at / 12 * 12 + at / 4 % 3 + at / 2 % 2 * 6 + at % 2 * 3] = *x;
        }
        check_exact("channels last", &machine.down(&dev_y), &wanted);
    }
}
