//! Softmax over the channels at each position, or over each image.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::answer::{BAD, NO_SOLVER, Outcome, answer, check};
use super::job::{Job, floats};
use super::tensor::{Dims, Tensor, tensor};
use hip_sys::miopen::{
    miopenDataType_t, miopenHandle_t, miopenSoftmaxAlgorithm_t, miopenSoftmaxMode_t, miopenStatus_t,
    miopenTensorDescriptor_t,
};
use rayon::prelude::*;
use std::ffi::c_void;

const LOG: miopenSoftmaxAlgorithm_t = miopenSoftmaxAlgorithm_t::MIOPEN_SOFTMAX_LOG;
const FAST: miopenSoftmaxAlgorithm_t = miopenSoftmaxAlgorithm_t::MIOPEN_SOFTMAX_FAST;
const ACCURATE: miopenSoftmaxAlgorithm_t = miopenSoftmaxAlgorithm_t::MIOPEN_SOFTMAX_ACCURATE;
const INSTANCE: miopenSoftmaxMode_t = miopenSoftmaxMode_t::MIOPEN_SOFTMAX_MODE_INSTANCE;
const CHANNEL: miopenSoftmaxMode_t = miopenSoftmaxMode_t::MIOPEN_SOFTMAX_MODE_CHANNEL;

/// The dimensions that have separate sums, and those that are summed over.
fn split(tensor: &Tensor, mode: miopenSoftmaxMode_t) -> (Dims, Dims) {
    let summed = |axis: &usize| if mode == INSTANCE { *axis > 0 } else { *axis == 1 };
    let axes = || 0..tensor.rank();
    (tensor.dims(axes().filter(|axis| !summed(axis))), tensor.dims(axes().filter(summed)))
}

fn checked(tensors: &[&Tensor], algorithm: miopenSoftmaxAlgorithm_t, mode: miopenSoftmaxMode_t) -> Outcome {
    check(!tensors.iter().any(|it| it.is_of(&[miopenDataType_t::miopenBFloat16])), NO_SOLVER)?;
    check(tensors.iter().all(|it| it.dtype == tensors[0].dtype && it.lens == tensors[0].lens), BAD)?;
    check(tensors[0].is_of(&[miopenDataType_t::miopenFloat, miopenDataType_t::miopenHalf]), NO_SOLVER)?;
    check(tensors[0].rank() >= 2 && algorithm.0 <= LOG.0 && mode.0 <= CHANNEL.0, BAD)
}

/// The softmax of a list, in place.
fn softmax(values: &mut [f32], algorithm: miopenSoftmaxAlgorithm_t) {
    let largest = if algorithm == FAST { 0.0 } else { values.iter().copied().fold(f32::MIN, f32::max) };
    if algorithm == LOG {
        let sum: f32 = values.iter().map(|it| (it - largest).exp()).sum();
        let log = sum.ln();
        values.iter_mut().for_each(|it| *it = *it - largest - log);
    } else {
        values.iter_mut().for_each(|it| *it = (*it - largest).exp());
        let sum: f32 = values.iter().sum();
        values.iter_mut().for_each(|it| *it /= sum);
    }
}

pub(super) unsafe extern "C" fn miopenSoftmaxForward_V2(
    handle: miopenHandle_t,
    alpha: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    beta: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    algorithm: miopenSoftmaxAlgorithm_t,
    mode: miopenSoftmaxMode_t,
) -> miopenStatus_t {
    answer(|| {
        let (input, output) = (tensor(x_desc)?, tensor(y_desc)?);
        checked(&[&input, &output], algorithm, mode)?;
        // SAFETY: S11: the caller's factors.
        let scales = unsafe { floats([alpha, beta]) }?;
        let mut job = Job::new(handle)?;
        let (from, to) = (job.read(x, &input)?.view, job.write(y, &output)?.view);
        let ((from_outer, from_inner), (to_outer, to_inner)) = (split(&input, mode), split(&output, mode));
        job.submit("miopenSoftmaxForward", move || {
            (0..to_outer.count()).into_par_iter().with_min_len(64).for_each_init(
                Vec::new,
                |values, index| {
                    values.resize(from_inner.count(), 0.0);
                    from_inner.load(&from, from_outer.offset_of(index), 0, values);
                    softmax(values, algorithm);
                    to_inner.blend(&to, to_outer.offset_of(index), 0, values, scales);
                },
            );
        })
    })
}

pub(super) unsafe extern "C" fn miopenSoftmaxBackward_V2(
    handle: miopenHandle_t,
    alpha: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *const c_void,
    dy_desc: miopenTensorDescriptor_t,
    dy: *const c_void,
    beta: *const c_void,
    dx_desc: miopenTensorDescriptor_t,
    dx: *mut c_void,
    algorithm: miopenSoftmaxAlgorithm_t,
    mode: miopenSoftmaxMode_t,
) -> miopenStatus_t {
    answer(|| {
        let [output, gradient, input] = [tensor(y_desc)?, tensor(dy_desc)?, tensor(dx_desc)?];
        checked(&[&output, &gradient, &input], algorithm, mode)?;
        check(output.strides == gradient.strides, BAD)?;
        // SAFETY: S11: the caller's factors.
        let scales = unsafe { floats([alpha, beta]) }?;
        let mut job = Job::new(handle)?;
        let (result, given) = (job.read(y, &output)?.view, job.read(dy, &gradient)?.view);
        let to = job.write(dx, &input)?.view;
        let ((outer, inner), (to_outer, to_inner)) = (split(&output, mode), split(&input, mode));
        job.submit("miopenSoftmaxBackward", move || {
            (0..outer.count()).into_par_iter().with_min_len(64).for_each_init(Vec::new, |scratch, index| {
                let (start, count) = (outer.offset_of(index), inner.count());
                scratch.resize(2 * count, 0.0);
                let (y, dy) = scratch.split_at_mut(count);
                inner.load(&result, start, 0, y);
                inner.load(&given, start, 0, dy);
                if algorithm == LOG {
                    let sum: f32 = dy.iter().sum();
                    dy.iter_mut().zip(y).for_each(|(dy, y)| *dy -= sum * y.exp());
                } else {
                    let sum: f32 = dy.iter().zip(&*y).map(|(dy, y)| dy * y).sum();
                    dy.iter_mut().zip(y).for_each(|(dy, y)| *dy = (*dy - sum) * *y);
                }
                to_inner.blend(&to, to_outer.offset_of(index), 0, dy, scales);
            });
        })
    })
}

pub(super) unsafe extern "C" fn miopenSoftmaxForward(
    handle: miopenHandle_t,
    alpha: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    beta: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
) -> miopenStatus_t {
    // SAFETY: S11: the same contract.
    unsafe { miopenSoftmaxForward_V2(handle, alpha, x_desc, x, beta, y_desc, y, ACCURATE, CHANNEL) }
}

pub(super) unsafe extern "C" fn miopenSoftmaxBackward(
    handle: miopenHandle_t,
    alpha: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *const c_void,
    dy_desc: miopenTensorDescriptor_t,
    dy: *const c_void,
    beta: *const c_void,
    dx_desc: miopenTensorDescriptor_t,
    dx: *mut c_void,
) -> miopenStatus_t {
    // SAFETY: S11: the same contract.
    unsafe {
        miopenSoftmaxBackward_V2(handle, alpha, y_desc, y, dy_desc, dy, beta, dx_desc, dx, ACCURATE, CHANNEL)
    }
}
