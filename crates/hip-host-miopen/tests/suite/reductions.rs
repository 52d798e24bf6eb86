//! Reductions and dropout.

use crate::library::*;
use hip_sys::miopen::*;
use std::ptr::null_mut;

fn reduction(mi: &Mi, op: u32, nan: u32, indices: u32) -> miopenReduceTensorDescriptor_t {
    let mut descriptor = null_mut();
    good!(mi, miopenCreateReduceTensorDescriptor(&mut descriptor));
    good!(
        mi,
        miopenSetReduceTensorDescriptor(
            descriptor,
            miopenReduceTensorOp_t(op),
            FLOAT,
            miopenNanPropagation_t(nan),
            miopenReduceTensorIndices_t(indices),
            miopenIndicesType_t::MIOPEN_32BIT_INDICES
        )
    );
    descriptor
}

/// Reduces 2 by 3 by 2 to 2 by 1 by 2.
fn reduce(mi: &Mi, values: &[f32; 12], descriptor: miopenReduceTensorDescriptor_t) -> (Vec<f32>, Vec<i32>) {
    let (a, c) = (mi.floats(&[2, 3, 2]), mi.floats(&[2, 1, 2]));
    let (mut bytes, mut workspace) = (0, 9);
    good!(mi, miopenGetReductionIndicesSize(mi.handle, descriptor, a, c, &mut bytes));
    good!(mi, miopenGetReductionWorkspaceSize(mi.handle, descriptor, a, c, &mut workspace));
    assert_eq!(workspace, 0);
    let (from, to, indices) = (mi.hip.buffer(values), mi.hip.zeros::<f32>(4), mi.hip.zeros::<i32>(4));
    good!(
        mi,
        miopenReduceTensor(
            mi.handle,
            descriptor,
            indices.pointer,
            bytes,
            null_mut(),
            0,
            scale(ONE),
            a,
            from.pointer,
            scale(ZERO),
            c,
            to.pointer
        )
    );
    (mi.read(&to), mi.read(&indices))
}

#[test]
fn dimensions_are_reduced() {
    let mi = mi();
    let values = [1.0_f32, -2.0, 3.0, 4.0, -5.0, 6.0, 2.0, 0.5, -1.0, 1.0, 1.0, -3.0];
    let op = |op| reduce(&mi, &values, reduction(&mi, op, 1, 0)).0;
    assert_eq!(op(0), [-1.0, 8.0, 2.0, -1.5]);
    assert_eq!(op(1), [-15.0, -48.0, -2.0, -1.5]);
    assert_eq!(op(2), [-5.0, -2.0, -1.0, -3.0]);
    assert_eq!(op(3), [3.0, 6.0, 2.0, 1.0]);
    assert_eq!(op(4), [5.0, 6.0, 2.0, 3.0]);
    close(&op(5), &[-1.0 / 3.0, 8.0 / 3.0, 2.0 / 3.0, -0.5], 1e-6);
    assert_eq!(op(6), [9.0, 12.0, 4.0, 4.5]);
    close(&op(7), &[35.0_f32.sqrt(), 56.0_f32.sqrt(), 6.0_f32.sqrt(), 10.25_f32.sqrt()], 1e-6);
    let at = |op| reduce(&mi, &values, reduction(&mi, op, 0, 1));
    assert_eq!(at(2), (vec![-5.0, -2.0, -1.0, -3.0], vec![2, 0, 1, 2]));
    assert_eq!(at(3), (vec![3.0, 6.0, 2.0, 1.0], vec![1, 2, 0, 1]));
    assert_eq!(at(4), (vec![5.0, 6.0, 2.0, 3.0], vec![2, 2, 0, 2]));
    let mut with_nan = values;
    with_nan[4] = f32::NAN;
    let (kept, _) = reduce(&mi, &with_nan, reduction(&mi, 2, 1, 0));
    let (ignored, _) = reduce(&mi, &with_nan, reduction(&mi, 2, 0, 0));
    assert!(kept[0].is_nan());
    assert_eq!((&kept[1..], &ignored[..]), (&[-2.0, -1.0, -3.0][..], &[1.0, -2.0, -1.0, -3.0][..]));
}

#[test]
fn doubles_are_reduced_with_factors_of_their_own() {
    let mi = mi();
    let (a, c) = (mi.tensor(DOUBLE, &[3]), mi.tensor(DOUBLE, &[1]));
    let (from, to) = (mi.hip.buffer(&[1e-12_f64, 1.0, 2.0]), mi.hip.buffer(&[100.0_f64]));
    let factors = [2.0_f64, 0.5];
    let [alpha, beta] = factors.each_ref().map(|it| std::ptr::from_ref(it).cast());
    let run = |descriptor, c, bytes| {
        mi!(
            mi,
            miopenReduceTensor(
                mi.handle,
                descriptor,
                null_mut(),
                bytes,
                null_mut(),
                0,
                alpha,
                a,
                from.pointer,
                beta,
                c,
                to.pointer
            )
        )
    };
    assert_eq!(run(reduction(&mi, 0, 0, 0), c, 0), 0);
    assert_eq!(mi.read(&to), [2.0 * (1e-12 + 1.0 + 2.0) + 50.0]);
    // Nothing to reduce, too little memory for the indices, none for them.
    assert_eq!(run(reduction(&mi, 0, 0, 0), a, 0), UNKNOWN);
    assert_eq!(run(reduction(&mi, 3, 0, 1), c, 0), UNKNOWN);
    assert_eq!(run(reduction(&mi, 3, 0, 1), c, 4), BAD);
}

#[test]
fn dropout_is_repeatable_and_has_a_gradient() {
    let mi = mi();
    const COUNT: usize = 4096;
    let tensor = mi.floats(&[4, 1024]);
    let (mut states_size, mut size, mut descriptor) = (0, 0, null_mut());
    good!(mi, miopenDropoutGetStatesSize(mi.handle, &mut states_size));
    good!(mi, miopenDropoutGetReserveSpaceSize(tensor, &mut size));
    assert_eq!(size, COUNT);
    good!(mi, miopenCreateDropoutDescriptor(&mut descriptor));
    let states = mi.hip.zeros::<u8>(states_size);
    let set = |seed, evolves| {
        let generator = miopenRNGType_t::MIOPEN_RNG_PSEUDO_XORWOW;
        good!(
            mi,
            miopenSetDropoutDescriptor(
                descriptor,
                mi.handle,
                0.25,
                states.pointer,
                states_size,
                seed,
                false,
                evolves,
                generator
            )
        );
    };
    let (x, y) = (mi.hip.buffer(&vec![3.0_f32; COUNT]), mi.hip.zeros::<f32>(COUNT));
    let reserve = mi.hip.zeros::<u8>(COUNT);
    let forward = || {
        good!(
            mi,
            miopenDropoutForward(
                mi.handle,
                descriptor,
                tensor,
                tensor,
                x.pointer,
                tensor,
                y.pointer,
                reserve.pointer,
                size
            )
        );
        mi.read(&y)
    };
    set(7, false);
    let first = forward();
    // What is kept is divided by the share that is kept; about a quarter is not.
    assert!(first.iter().all(|it| [0.0, 4.0].contains(it)));
    let dropped = first.iter().filter(|it| **it == 0.0).count();
    assert!((COUNT / 5..COUNT * 3 / 10).contains(&dropped), "{dropped}");
    assert_eq!(forward(), first);
    let dx = mi.hip.zeros::<f32>(COUNT);
    good!(
        mi,
        miopenDropoutBackward(
            mi.handle,
            descriptor,
            tensor,
            tensor,
            x.pointer,
            tensor,
            dx.pointer,
            reserve.pointer,
            size
        )
    );
    assert_eq!(mi.read(&dx), first);
    // Another seed, and a round after a round.
    set(8, false);
    assert_ne!(forward(), first);
    set(7, true);
    assert_eq!(forward(), first);
    assert_ne!(forward(), first);
    let short = mi!(
        mi,
        miopenDropoutForward(
            mi.handle,
            descriptor,
            tensor,
            tensor,
            x.pointer,
            tensor,
            y.pointer,
            reserve.pointer,
            size - 1
        )
    );
    assert_eq!(short, UNKNOWN);
}
