//! Activations and operations on tensors.

use crate::library::*;
use hip_sys::miopen::*;
use std::ptr::null_mut;

fn activation(mi: &Mi, mode: u32, [alpha, beta, gamma]: [f64; 3]) -> miopenActivationDescriptor_t {
    let mut descriptor = null_mut();
    good!(mi, miopenCreateActivationDescriptor(&mut descriptor));
    good!(mi, miopenSetActivationDescriptor(descriptor, miopenActivationMode_t(mode), alpha, beta, gamma));
    descriptor
}

#[test]
fn activations_and_their_gradients() {
    let mi = mi();
    let x = [-2.0_f32, -0.5, 0.0, 1.0, 3.0];
    let tensor = mi.floats(&[1, 5]);
    let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
    type Function = Box<dyn Fn(f32) -> f32>;
    // Mode, parameters, the function, its gradient.
    let cases: [(u32, [f64; 3], Function, Function); 9] = [
        (0, [0.0; 3], Box::new(|x| x), Box::new(|_| 1.0)),
        (1, [0.0; 3], Box::new(sigmoid), Box::new(move |x| sigmoid(x) * (1.0 - sigmoid(x)))),
        (
            2,
            [0.5, 2.0, 0.0],
            Box::new(|x| 2.0 * (0.5 * x).tanh()),
            Box::new(|x| 1.0 - (0.5 * x).tanh() * (0.5 * x).tanh()),
        ),
        (3, [0.0; 3], Box::new(|x| x.max(0.0)), Box::new(|x| if x > 0.0 { 1.0 } else { 0.0 })),
        (4, [0.0; 3], Box::new(|x| x.exp().ln_1p()), Box::new(sigmoid)),
        (5, [0.0; 3], Box::new(f32::abs), Box::new(|x| if x > 0.0 { 1.0 } else { -1.0 })),
        (
            7,
            [2.0, 0.0, 0.0],
            Box::new(|x| x.clamp(0.0, 2.0)),
            Box::new(|x| if x > 0.0 && x <= 2.0 { 1.0 } else { 0.0 }),
        ),
        (
            8,
            [0.25, 0.0, 0.0],
            Box::new(|x| if x > 0.0 { x } else { x / 4.0 }),
            Box::new(|x| if x > 0.0 { 1.0 } else { 0.25 }),
        ),
        (
            9,
            [1.5, 0.0, 0.0],
            Box::new(|x| if x > 0.0 { x } else { 1.5 * (x.exp() - 1.0) }),
            Box::new(|x| if x > 0.0 { 1.0 } else { 1.5 * x.exp() }),
        ),
    ];
    for (mode, parameters, function, gradient) in cases {
        let descriptor = activation(&mi, mode, parameters);
        let (input, y) = (mi.hip.buffer(&x), mi.hip.zeros::<f32>(5));
        good!(
            mi,
            miopenActivationForward(
                mi.handle,
                descriptor,
                scale(ONE),
                tensor,
                input.pointer,
                scale(ZERO),
                tensor,
                y.pointer
            )
        );
        close(&mi.read(&y), &x.map(&function), 1e-6);
        let (dy, dx) = (mi.hip.buffer(&[2.0_f32; 5]), mi.hip.zeros::<f32>(5));
        good!(
            mi,
            miopenActivationBackward(
                mi.handle,
                descriptor,
                scale(ONE),
                tensor,
                y.pointer,
                tensor,
                dy.pointer,
                tensor,
                input.pointer,
                scale(ZERO),
                tensor,
                dx.pointer
            )
        );
        close(&mi.read(&dx), &x.map(|x| 2.0 * gradient(x)), 2e-6);
    }
}

#[test]
fn powers_and_what_activations_refuse() {
    let mi = mi();
    let tensor = mi.floats(&[1, 3]);
    let (x, y) = (mi.hip.buffer(&[-3.0_f32, 1.0, 4.0]), mi.hip.zeros::<f32>(3));
    let forward = |descriptor, tensor, beta| {
        mi!(
            mi,
            miopenActivationForward(
                mi.handle,
                descriptor,
                scale(ONE),
                tensor,
                x.pointer,
                scale(beta),
                tensor,
                y.pointer
            )
        )
    };
    // (1 + 2 x) ^ 2, and nothing below zero.
    assert_eq!(forward(activation(&mi, 6, [1.0, 2.0, 2.0]), tensor, ZERO), 0);
    close(&mi.read(&y), &[0.0, 9.0, 81.0], 1e-4);
    assert_eq!(forward(activation(&mi, 3, [0.0; 3]), tensor, ONE), UNKNOWN);
    assert_eq!(forward(activation(&mi, 3, [0.0; 3]), mi.tensor(BFLOAT, &[1, 3]), ZERO), NOT_IMPLEMENTED);
}

#[test]
fn tensors_are_combined_with_repetition() {
    let mi = mi();
    let (full, column) = (mi.floats(&[1, 2, 1, 3]), mi.floats(&[1, 2, 1, 1]));
    let a = mi.hip.buffer(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let (b, wide) = (mi.hip.buffer(&[10.0_f32, 4.5]), mi.strided(FLOAT, &[1, 2, 1, 3], Some(&[12, 6, 6, 2])));
    let run = |op, [alpha1, alpha2, beta]: [&f32; 3], c: &crate::common::Buffer<'_, f32>, tensor| {
        let op = miopenTensorOp_t(op);
        good!(
            mi,
            miopenOpTensor(
                mi.handle,
                op,
                scale(alpha1),
                full,
                a.pointer,
                scale(alpha2),
                column,
                b.pointer,
                scale(beta),
                tensor,
                c.pointer
            )
        );
        mi.read(c)
    };
    let c = mi.hip.buffer(&[100.0_f32; 6]);
    assert_eq!(run(0, [&2.0, ONE, ZERO], &c, full), [12.0, 14.0, 16.0, 12.5, 14.5, 16.5]);
    assert_eq!(run(1, [ONE, ONE, ONE], &c, full), [22.0, 34.0, 46.0, 30.5, 37.0, 43.5]);
    assert_eq!(run(2, [ONE, ONE, ZERO], &c, full), [1.0, 2.0, 3.0, 4.0, 4.5, 4.5]);
    assert_eq!(run(3, [ONE, ONE, ZERO], &c, full), [10.0, 10.0, 10.0, 4.5, 5.0, 6.0]);
    let c = mi.hip.buffer(&[-1.0_f32; 11]);
    let strided = run(0, [ONE, ONE, ZERO], &c, wide);
    assert_eq!(strided, [11.0, -1.0, 12.0, -1.0, 13.0, -1.0, 8.5, -1.0, 9.5, -1.0, 10.5]);
    // The repeated dimension has to be 1 long.
    let (two, sum) = (mi.floats(&[1, 1, 1, 2]), miopenTensorOp_t::miopenTensorOpAdd);
    let refused = mi!(
        mi,
        miopenOpTensor(
            mi.handle,
            sum,
            scale(ONE),
            full,
            a.pointer,
            scale(ONE),
            two,
            b.pointer,
            scale(ZERO),
            full,
            c.pointer
        )
    );
    assert_eq!(refused, UNKNOWN);
}

#[test]
fn tensors_are_set_scaled_and_moved() {
    let mi = mi();
    let doubles = mi.tensor(DOUBLE, &[2, 2]);
    let d = mi.hip.zeros::<f64>(4);
    let value = 0.1_f64;
    good!(mi, miopenSetTensor(mi.handle, doubles, d.pointer, std::ptr::from_ref(&value).cast()));
    good!(mi, miopenScaleTensor(mi.handle, doubles, d.pointer, std::ptr::from_ref(&3.0_f64).cast()));
    assert_eq!(mi.read(&d), [0.1 * 3.0; 4]);
    let integers = mi.tensor(miopenDataType_t::miopenInt32, &[2]);
    let i = mi.hip.zeros::<i32>(2);
    good!(mi, miopenSetTensor(mi.handle, integers, i.pointer, std::ptr::from_ref(&16_777_217_i32).cast()));
    assert_eq!(mi.read(&i), [16_777_217; 2]);
    // From rows to columns, doubled, on top of what is there.
    let (rows, columns) = (mi.floats(&[2, 3]), mi.strided(FLOAT, &[2, 3], Some(&[1, 2])));
    let x = mi.hip.buffer(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let y = mi.hip.buffer(&[100.0_f32; 6]);
    good!(mi, miopenTransformTensor(mi.handle, scale(&2.0), rows, x.pointer, scale(ONE), columns, y.pointer));
    assert_eq!(mi.read(&y), [102.0, 108.0, 104.0, 110.0, 106.0, 112.0]);
}
