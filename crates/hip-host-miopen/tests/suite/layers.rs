//! Softmax and pooling.

use crate::library::*;
use hip_sys::miopen::*;
use std::ptr::{null, null_mut};

#[test]
fn softmax_over_channels_and_images() {
    let mi = mi();
    // Two channels of two positions.
    let values = [1.0_f32, 2.0, 3.0, -1.0];
    let tensor = mi.floats(&[1, 2, 1, 2]);
    let x = mi.hip.buffer(&values);
    let (y, dx) = (mi.hip.zeros::<f32>(4), mi.hip.zeros::<f32>(4));
    let sums = |mode: u32| -> [f32; 4] {
        let e = values.map(f32::exp);
        if mode == 0 { [e.iter().sum(); 4] } else { [e[0] + e[2], e[1] + e[3], e[0] + e[2], e[1] + e[3]] }
    };
    for (algorithm, mode) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
        let (how, over) = (miopenSoftmaxAlgorithm_t(algorithm), miopenSoftmaxMode_t(mode));
        good!(
            mi,
            miopenSoftmaxForward_V2(
                mi.handle,
                scale(ONE),
                tensor,
                x.pointer,
                scale(ZERO),
                tensor,
                y.pointer,
                how,
                over
            )
        );
        let sums = sums(mode);
        let soft: [f32; 4] = std::array::from_fn(|at| values[at].exp() / sums[at]);
        let wanted = if algorithm == 2 { soft.map(f32::ln) } else { soft };
        close(&mi.read(&y), &wanted, 1e-6);
        // The gradient of the first output.
        let dy = mi.hip.buffer(&[1.0_f32, 0.0, 0.0, 0.0]);
        good!(
            mi,
            miopenSoftmaxBackward_V2(
                mi.handle,
                scale(ONE),
                tensor,
                y.pointer,
                tensor,
                dy.pointer,
                scale(ZERO),
                tensor,
                dx.pointer,
                how,
                over
            )
        );
        let wanted: [f32; 4] = std::array::from_fn(|at| {
            let (own, apart) = (at == 0, mode == 1 && at % 2 == 1);
            match (algorithm == 2, apart) {
                (_, true) => 0.0,
                (true, _) => f32::from(own) - soft[at],
                (false, _) => soft[0] * (f32::from(own) - soft[at]),
            }
        });
        close(&mi.read(&dx), &wanted, 1e-6);
    }
}

fn pooling(mi: &Mi, mode: u32, window: i32, pad: i32, stride: i32) -> miopenPoolingDescriptor_t {
    let mut descriptor = null_mut();
    good!(mi, miopenCreatePoolingDescriptor(&mut descriptor));
    let mode = miopenPoolingMode_t(mode);
    good!(mi, miopenSet2dPoolingDescriptor(descriptor, mode, window, window, pad, pad, stride, stride));
    descriptor
}

/// Runs a pooling of one channel of 3 by 3 to 2 by 2 and back.
fn pool(mi: &Mi, descriptor: miopenPoolingDescriptor_t, index: u32) -> (Vec<f32>, Vec<f32>) {
    let (xd, mut dims) = (mi.floats(&[1, 1, 3, 3]), [0; 4]);
    good!(mi, miopenSetPoolingIndexType(descriptor, miopenIndexType_t(index)));
    let [n, c, h, w] = &mut dims;
    good!(mi, miopenGetPoolingForwardOutputDim(descriptor, xd, n, c, h, w));
    assert_eq!(dims, [1, 1, 2, 2]);
    let (yd, mut size) = (mi.floats(&dims), 0);
    good!(mi, miopenPoolingGetWorkSpaceSizeV2(descriptor, yd, &mut size));
    let x = mi.hip.buffer(&[1.0_f32, 2.0, 3.0, 4.0, 9.0, 6.0, 7.0, 8.0, 5.0]);
    let (y, workspace) = (mi.hip.zeros::<f32>(4), mi.hip.zeros::<u8>(size.max(1)));
    good!(
        mi,
        miopenPoolingForward(
            mi.handle,
            descriptor,
            scale(ONE),
            xd,
            x.pointer,
            scale(ZERO),
            yd,
            y.pointer,
            true,
            workspace.pointer,
            size
        )
    );
    let (dy, dx) = (mi.hip.buffer(&[1.0_f32, 10.0, 100.0, 1000.0]), mi.hip.buffer(&[7.0_f32; 9]));
    good!(
        mi,
        miopenPoolingBackward(
            mi.handle,
            descriptor,
            scale(ONE),
            yd,
            y.pointer,
            yd,
            dy.pointer,
            xd,
            x.pointer,
            scale(ZERO),
            xd,
            dx.pointer,
            workspace.pointer
        )
    );
    (mi.read(&y), mi.read(&dx))
}

#[test]
fn poolings_and_their_gradients() {
    let mi = mi();
    // The largest of each window of 2 by 2 is the middle; counted in windows and in the image.
    for (index, global) in [(0, false), (1, true), (2, false), (3, true)] {
        let descriptor = pooling(&mi, 0, 2, 0, 1);
        let mode = miopenPoolingWorkspaceIndexMode_t(u32::from(global));
        good!(mi, miopenSetPoolingWorkSpaceIndexMode(descriptor, mode));
        let (y, dx) = pool(&mi, descriptor, index);
        assert_eq!(y, [9.0; 4]);
        assert_eq!(dx, [0.0, 0.0, 0.0, 0.0, 1111.0, 0.0, 0.0, 0.0, 0.0]);
    }
    // Windows that reach over the edge: 1; 2, 3; 4, 7; and the rest.
    let (y, dx) = pool(&mi, pooling(&mi, 1, 2, 1, 2), 0);
    assert_eq!(y, [1.0, 2.5, 5.5, 7.0]);
    assert_eq!(dx, [1.0, 5.0, 5.0, 50.0, 250.0, 250.0, 50.0, 250.0, 250.0]);
    let (y, dx) = pool(&mi, pooling(&mi, 2, 2, 1, 2), 0);
    assert_eq!(y, [0.25, 1.25, 2.75, 7.0]);
    assert_eq!(dx, [0.25, 2.5, 2.5, 25.0, 250.0, 250.0, 25.0, 250.0, 250.0]);
}

#[test]
fn pooling_in_three_dimensions() {
    let mi = mi();
    let mut descriptor = null_mut();
    good!(mi, miopenCreatePoolingDescriptor(&mut descriptor));
    let (window, pads, mode) = ([2; 3], [0; 3], miopenPoolingMode_t::miopenPoolingMax);
    let (two, none) = (window.as_ptr(), pads.as_ptr());
    good!(mi, miopenSetNdPoolingDescriptor(descriptor, mode, 3, two, none, two));
    let (xd, mut dims) = (mi.floats(&[1, 1, 2, 2, 4]), [0; 5]);
    good!(mi, miopenGetPoolingNdForwardOutputDim(descriptor, xd, 5, dims.as_mut_ptr()));
    assert_eq!(dims, [1, 1, 1, 1, 2]);
    let x = mi.hip.buffer(&(0..16).map(|it| (it * 5 % 16) as f32).collect::<Vec<_>>());
    let (yd, y) = (mi.floats(&dims), mi.hip.zeros::<f32>(2));
    good!(
        mi,
        miopenPoolingForward(
            mi.handle,
            descriptor,
            scale(ONE),
            xd,
            x.pointer,
            scale(ZERO),
            yd,
            y.pointer,
            false,
            null_mut(),
            0
        )
    );
    assert_eq!(mi.read(&y), [13.0, 15.0]);
}

#[test]
fn invalid_poolings_are_refused() {
    let mi = mi();
    // A byte cannot index the 256 positions of a window; and indices need a workspace.
    let (xd, yd) = (mi.floats(&[1, 1, 16, 16]), mi.floats(&[1, 1, 1, 1]));
    let (x, y, workspace) = (mi.hip.zeros::<f32>(256), mi.hip.zeros::<f32>(1), mi.hip.zeros::<u8>(8));
    let forward = |descriptor, workspace| {
        mi!(
            mi,
            miopenPoolingForward(
                mi.handle,
                descriptor,
                scale(ONE),
                xd,
                x.pointer,
                scale(ZERO),
                yd,
                y.pointer,
                true,
                workspace,
                8
            )
        )
    };
    let descriptor = pooling(&mi, 0, 16, 0, 1);
    assert_eq!(forward(descriptor, workspace.pointer), UNKNOWN);
    good!(mi, miopenSetPoolingIndexType(descriptor, miopenIndexType_t::miopenIndexUint16));
    assert_eq!(forward(descriptor, null_mut()), UNKNOWN);
    assert_eq!(forward(descriptor, workspace.pointer), 0);
    assert_eq!(forward(pooling(&mi, 0, 8, 0, 8), workspace.pointer), BAD);
    let backward = mi!(
        mi,
        miopenPoolingBackward(
            mi.handle,
            descriptor,
            scale(ONE),
            yd,
            null(),
            yd,
            y.pointer,
            xd,
            null(),
            scale(ZERO),
            xd,
            x.pointer,
            null_mut()
        )
    );
    assert_eq!(backward, BAD);
}
