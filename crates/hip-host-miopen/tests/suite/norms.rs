//! Normalisations.

use crate::common::Buffer;
use crate::library::*;
use hip_sys::miopen::*;
use std::ffi::c_void;
use std::ptr::null_mut;

const EPSILON: f64 = 1e-3;

fn mutable(value: &f32) -> *mut c_void {
    scale(value).cast_mut()
}

/// Two images of two channels of two positions; the channels' values are 1, 3, 5, 7 and 2, 2, 6, 6.
const X: [f32; 8] = [1.0, 3.0, 2.0, 2.0, 5.0, 7.0, 6.0, 6.0];
/// Mean and variance of the channels.
const MOMENTS: [(f32, f32); 2] = [(4.0, 5.0), (4.0, 4.0)];
const SCALE: [f32; 2] = [2.0, 1.0];
const BIAS: [f32; 2] = [0.0, 10.0];

fn inverse(channel: usize) -> f32 {
    1.0 / (MOMENTS[channel].1 + EPSILON as f32).sqrt()
}

#[test]
fn batches_are_normalised_by_channel() {
    let mi = mi();
    let (tensor, parameters) = (mi.floats(&[2, 2, 1, 2]), mi.floats(&[1]));
    let mode = miopenBatchNormMode_t::miopenBNSpatial;
    good!(mi, miopenDeriveBNTensorDescriptor(parameters, tensor, mode));
    let (mut dtype, mut lens) = (HALF, [0; 4]);
    good!(mi, miopenGetTensorDescriptor(parameters, &mut dtype, lens.as_mut_ptr(), null_mut()));
    assert_eq!((dtype, lens), (FLOAT, [1, 2, 1, 1]));
    let (x, y, by, add) =
        (mi.hip.buffer(&X), mi.hip.zeros::<f32>(8), mi.hip.buffer(&SCALE), mi.hip.buffer(&BIAS));
    let [running_mean, running_variance] = [[1.0_f32; 2], [1.0; 2]].map(|it| mi.hip.buffer(&it));
    let [saved_mean, saved_inverse] = [2, 2].map(|len| mi.hip.zeros::<f32>(len));
    good!(
        mi,
        miopenBatchNormalizationForwardTraining(
            mi.handle,
            mode,
            mutable(ONE),
            mutable(ZERO),
            tensor,
            x.pointer,
            tensor,
            y.pointer,
            parameters,
            by.pointer,
            add.pointer,
            0.25,
            running_mean.pointer,
            running_variance.pointer,
            EPSILON,
            saved_mean.pointer,
            saved_inverse.pointer
        )
    );
    let channel = |at: usize| at / 2 % 2;
    let hat = |at: usize| (X[at] - MOMENTS[channel(at)].0) * inverse(channel(at));
    let wanted: [f32; 8] = std::array::from_fn(|at| hat(at) * SCALE[channel(at)] + BIAS[channel(at)]);
    close(&mi.read(&y), &wanted, 1e-5);
    close(&mi.read(&saved_mean), &[4.0, 4.0], 1e-6);
    close(&mi.read(&saved_inverse), &[inverse(0), inverse(1)], 1e-6);
    // Three quarters of the old one and a quarter of the new one; the variance of four values is 4 / 3 as large.
    close(&mi.read(&running_mean), &[1.75, 1.75], 1e-6);
    close(&mi.read(&running_variance), &[0.75 + 5.0 / 3.0, 0.75 + 4.0 / 3.0], 1e-6);

    // Inference by estimates gives the same if they are these moments.
    let (mean, variance) = (mi.hip.buffer(&[4.0_f32, 4.0]), mi.hip.buffer(&[5.0_f32, 4.0]));
    let other = mi.hip.zeros::<f32>(8);
    let inference = |mean: *mut c_void, variance: *mut c_void| {
        good!(
            mi,
            miopenBatchNormalizationForwardInference(
                mi.handle,
                mode,
                mutable(ONE),
                mutable(ZERO),
                tensor,
                x.pointer,
                tensor,
                other.pointer,
                parameters,
                by.pointer,
                add.pointer,
                mean,
                variance,
                EPSILON
            )
        );
        mi.read(&other)
    };
    close(&inference(mean.pointer, variance.pointer), &wanted, 1e-5);
    close(&inference(null_mut(), null_mut()), &wanted, 1e-5);

    // Back: with the saved moments and without them.
    let dy = [1.0_f32, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0];
    let (dx, given) = (mi.hip.zeros::<f32>(8), mi.hip.buffer(&dy));
    let [d_scale, d_bias] = [2, 2].map(|len| mi.hip.zeros::<f32>(len));
    let sums: [(f32, f32); 2] = std::array::from_fn(|own| {
        let of = (0..8).filter(|at| channel(*at) == own);
        of.fold((0.0, 0.0), |sums, at| (sums.0 + dy[at], sums.1 + dy[at] * hat(at)))
    });
    let wanted: [f32; 8] = std::array::from_fn(|at| {
        let own = channel(at);
        SCALE[own] * inverse(own) * (dy[at] - (sums[own].0 + hat(at) * sums[own].1) / 4.0)
    });
    let (m, i) = (saved_mean.pointer.cast_const(), saved_inverse.pointer.cast_const());
    for (mean, inverse) in [(m, i), (std::ptr::null(), std::ptr::null())] {
        good!(
            mi,
            miopenBatchNormalizationBackward(
                mi.handle,
                mode,
                scale(ONE),
                scale(ZERO),
                scale(ONE),
                scale(ZERO),
                tensor,
                x.pointer,
                tensor,
                given.pointer,
                tensor,
                dx.pointer,
                parameters,
                by.pointer,
                d_scale.pointer,
                d_bias.pointer,
                EPSILON,
                mean,
                inverse
            )
        );
        close(&mi.read(&dx), &wanted, 1e-5);
        close(&mi.read(&d_scale), &[sums[0].1, sums[1].1], 1e-5);
        close(&mi.read(&d_bias), &[1.0, 2.0], 1e-6);
    }
}

#[test]
fn batches_are_normalised_by_position() {
    let mi = mi();
    let (tensor, parameters) = (mi.floats(&[2, 2, 1, 2]), mi.floats(&[1, 2, 1, 2]));
    let mode = miopenBatchNormMode_t::miopenBNPerActivation;
    let (x, y) = (mi.hip.buffer(&X), mi.hip.zeros::<f32>(8));
    let (by, add) = (mi.hip.buffer(&[1.0_f32, 2.0, 3.0, 4.0]), mi.hip.zeros::<f32>(4));
    let none = null_mut();
    let train = |parameters, beta| {
        mi!(
            mi,
            miopenBatchNormalizationForwardTraining(
                mi.handle,
                mode,
                mutable(ONE),
                mutable(beta),
                tensor,
                x.pointer,
                tensor,
                y.pointer,
                parameters,
                by.pointer,
                add.pointer,
                1.0,
                none,
                none,
                0.0,
                none,
                none
            )
        )
    };
    assert_eq!(train(parameters, ZERO), 0);
    // Of two values one is a deviation below the mean, the other one above.
    assert_eq!(mi.read(&y), [-1.0, -2.0, -3.0, -4.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!((train(mi.floats(&[1, 2, 1, 1]), ZERO), train(parameters, ONE)), (BAD, UNKNOWN));
}

/// Normalises lists of values by hand.
fn by_hand(values: &[f32], inner: usize, epsilon: f32, centred: bool) -> Vec<f32> {
    let normalised = values.chunks(inner).flat_map(|part| {
        let count = inner as f32;
        let mean = if centred { part.iter().sum::<f32>() / count } else { 0.0 };
        let variance = part.iter().map(|it| (it - mean) * (it - mean)).sum::<f32>() / count;
        part.iter().map(move |it| (it - mean) / (variance + epsilon).sqrt())
    });
    normalised.collect()
}

#[test]
fn layers_and_groups_are_normalised() {
    let mi = mi();
    let values = [1.0_f32, 2.0, 4.0, 8.0, -1.0, 0.0, 3.0, 5.0, 7.0, 7.0, 1.0, 2.0];
    let (tensor, inner) = (mi.floats(&[2, 2, 3]), mi.floats(&[2, 3]));
    let (x, y) = (mi.hip.buffer(&values), mi.hip.zeros::<f32>(12));
    let (w, b) = ([1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [0.5_f32; 6]);
    let (weight, bias) = (mi.hip.buffer(&w), mi.hip.buffer(&b));
    let (moments, [mean, inverse]) = (mi.floats(&[2]), [2, 2].map(|len| mi.hip.zeros::<f32>(len)));
    let plain = miopenNormMode_t::MIOPEN_ELEMENTWISE_AFFINE;
    let weighted = miopenNormMode_t::MIOPEN_WEIGHT_BIAS;
    for mode in [plain, weighted] {
        let status = mi_later!(
            mi,
            miopenLayerNormForward(
                mi.handle,
                mode,
                tensor,
                x.pointer,
                inner,
                weight.pointer,
                inner,
                bias.pointer,
                1e-3,
                1,
                tensor,
                y.pointer,
                moments,
                mean.pointer,
                moments,
                inverse.pointer
            )
        );
        assert_eq!(status, 0);
        let mut wanted = by_hand(&values, 6, 1e-3, true);
        if mode == weighted {
            wanted.iter_mut().enumerate().for_each(|(at, it)| *it = *it * w[at % 6] + 0.5);
        }
        close(&mi.read(&y), &wanted, 1e-5);
        close(&mi.read(&mean), &[14.0 / 6.0, 25.0 / 6.0], 1e-5);
    }
    // Two channels in two groups of three values; a weight for each channel.
    let (channels, groups) = (mi.floats(&[2]), mi.floats(&[2, 2]));
    let [mean, inverse] = [4, 4].map(|len| mi.hip.zeros::<f32>(len));
    let grouped = |count| {
        mi_later!(
            mi,
            miopenGroupNormForward(
                mi.handle,
                weighted,
                tensor,
                x.pointer,
                channels,
                weight.pointer,
                channels,
                bias.pointer,
                count,
                1e-3,
                tensor,
                y.pointer,
                groups,
                mean.pointer,
                groups,
                inverse.pointer
            )
        )
    };
    assert_eq!(grouped(2), 0);
    let mut wanted = by_hand(&values, 3, 1e-3, true);
    wanted.iter_mut().enumerate().for_each(|(at, it)| *it = *it * w[at / 3 % 2] + 0.5);
    close(&mi.read(&y), &wanted, 1e-5);
    close(&mi.read(&mean), &[7.0 / 3.0, 7.0 / 3.0, 5.0, 10.0 / 3.0], 1e-5);
    assert_eq!((grouped(3), grouped(0)), (BAD, BAD));
    // The sum of two tensors.
    let added = miopenNormMode_t::MIOPEN_ELEMENTWISE_AFFINE_FUSED_ADD;
    let (moments, no) = (mi.floats(&[2]), null_mut());
    let status = mi_later!(
        mi,
        miopenAddLayerNormForward(
            mi.handle,
            added,
            tensor,
            x.pointer,
            tensor,
            x.pointer,
            inner,
            weight.pointer,
            inner,
            bias.pointer,
            1e-3,
            1,
            tensor,
            y.pointer,
            moments,
            no,
            moments,
            no
        )
    );
    assert_eq!(status, 0);
    close(&mi.read(&y), &by_hand(&values.map(|it| 2.0 * it), 6, 1e-3, true), 1e-5);
}

#[test]
fn t5_s_layers_are_normalised_and_go_back() {
    let mi = mi();
    let values = [1.0_f32, 2.0, -2.0, 3.0, 0.0, 4.0];
    let (tensor, last, rows) = (mi.floats(&[2, 3]), mi.floats(&[3]), mi.floats(&[2]));
    let (x, y, inverse) = (mi.hip.buffer(&values), mi.hip.zeros::<f32>(6), mi.hip.zeros::<f32>(2));
    let w = [1.0_f32, 2.0, 0.5];
    let weight = mi.hip.buffer(&w);
    let mode = miopenNormMode_t::MIOPEN_WEIGHT_BIAS_T5;
    let status = mi_later!(
        mi,
        miopenT5LayerNormForward(
            mi.handle,
            mode,
            tensor,
            x.pointer,
            last,
            weight.pointer,
            0.0,
            tensor,
            y.pointer,
            rows,
            inverse.pointer
        )
    );
    assert_eq!(status, 0);
    // The rows' squares are 9 and 25 thirds.
    let by = [(3.0_f32 / 9.0).sqrt(), (3.0_f32 / 25.0).sqrt()];
    let wanted: [f32; 6] = std::array::from_fn(|at| values[at] * by[at / 3] * w[at % 3]);
    close(&mi.read(&y), &wanted, 1e-6);
    close(&mi.read(&inverse), &by, 1e-6);
    let dy = [1.0_f32, 0.0, 0.0, 0.0, 0.0, 2.0];
    let (given, dx, dw) = (mi.hip.buffer(&dy), mi.hip.zeros::<f32>(6), mi.hip.zeros::<f32>(3));
    let mut size = 9;
    let status = mi_later!(
        mi,
        miopenGetT5LayerNormBackwardWorkspaceSize(
            mi.handle, mode, tensor, tensor, last, rows, tensor, last, &mut size
        )
    );
    assert_eq!((status, size), (0, 0));
    let status = mi_later!(
        mi,
        miopenT5LayerNormBackward(
            mi.handle,
            mode,
            null_mut(),
            0,
            tensor,
            given.pointer,
            tensor,
            x.pointer,
            last,
            weight.pointer,
            rows,
            inverse.pointer,
            tensor,
            dx.pointer,
            last,
            dw.pointer
        )
    );
    assert_eq!(status, 0);
    let sums = [1.0 * 1.0 * 1.0, 2.0 * 4.0 * 0.5];
    let wanted: [f32; 6] = std::array::from_fn(|at| {
        let row = at / 3;
        by[row] * dy[at] * w[at % 3] - sums[row] * by[row].powi(3) / 3.0 * values[at]
    });
    close(&mi.read(&dx), &wanted, 1e-5);
    close(&mi.read(&dw), &[by[0], 0.0, 2.0 * 4.0 * by[1]], 1e-5);
}

/// Runs a local response normalisation of three channels of two positions and back; the gradient is of the sum of all outputs.
fn lrn(mi: &Mi, mode: u32, x: &Buffer<'_, f32>) -> (Vec<f32>, Vec<f32>) {
    let mut descriptor = null_mut();
    good!(mi, miopenCreateLRNDescriptor(&mut descriptor));
    good!(mi, miopenSetLRNDescriptor(descriptor, miopenLRNMode_t(mode), 3, 0.5, 0.75, 2.0));
    let (tensor, mut size) = (mi.floats(&[1, 3, 1, 2]), 0);
    good!(mi, miopenLRNGetWorkSpaceSize(tensor, &mut size));
    assert_eq!(size, 24);
    let (y, kept) = (mi.hip.zeros::<f32>(6), mi.hip.zeros::<f32>(6));
    good!(
        mi,
        miopenLRNForward(
            mi.handle,
            descriptor,
            scale(ONE),
            tensor,
            x.pointer,
            scale(ZERO),
            tensor,
            y.pointer,
            true,
            kept.pointer
        )
    );
    let (dy, dx) = (mi.hip.buffer(&[1.0_f32; 6]), mi.hip.zeros::<f32>(6));
    good!(
        mi,
        miopenLRNBackward(
            mi.handle,
            descriptor,
            scale(ONE),
            tensor,
            y.pointer,
            tensor,
            dy.pointer,
            tensor,
            x.pointer,
            scale(ZERO),
            tensor,
            dx.pointer,
            kept.pointer
        )
    );
    (mi.read(&y), mi.read(&dx))
}

#[test]
fn neighbours_normalise() {
    let mi = mi();
    let values = [1.0_f32, -2.0, 3.0, 0.5, -1.0, 2.0];
    let x = mi.hip.buffer(&values);
    for mode in [0, 1] {
        let across = mode == 1;
        let is_near = |a: usize, b: usize| match across {
            true => a % 2 == b % 2 && (a / 2).abs_diff(b / 2) <= 1,
            false => a / 2 == b / 2,
        };
        let share = if across { 3.0 } else { 9.0 };
        let by: [f64; 6] = std::array::from_fn(|at| {
            let squares = (0..6).filter(|it| is_near(at, *it)).map(|it| f64::from(values[it]).powi(2));
            2.0 + 0.5 / share * squares.sum::<f64>()
        });
        let y: [f32; 6] = std::array::from_fn(|at| (f64::from(values[at]) * by[at].powf(-0.75)) as f32);
        // The derivative of the sum of all outputs.
        let dx: [f32; 6] = std::array::from_fn(|at| {
            let others =
                (0..6).filter(|it| is_near(at, *it)).map(|it| f64::from(values[it]) * by[it].powf(-1.75));
            let other = 2.0 * 0.75 * 0.5 / share * f64::from(values[at]) * others.sum::<f64>();
            (by[at].powf(-0.75) - other) as f32
        });
        let (found, gradient) = lrn(&mi, mode, &x);
        close(&found, &y, 1e-6);
        close(&gradient, &dx, 1e-6);
    }
}
