//! Batch normalisation: over each channel, or over each position of the images.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::answer::{BAD, NO_SOLVER, Outcome, UNKNOWN, answer, check};
use super::job::{Job, floats};
use super::tensor::{Array, Dims, TENSORS, Tensor, View, tensor};
use hip_sys::miopen::{
    miopenBatchNormMode_t, miopenDataType_t, miopenHandle_t, miopenStatus_t, miopenTensorDescriptor_t,
};
use rayon::prelude::*;
use std::ffi::c_void;

const SPATIAL: miopenBatchNormMode_t = miopenBatchNormMode_t::miopenBNSpatial;

/// The groups of one tensor whose values are normalised together.
struct Groups {
    view: View,
    /// Tells groups apart.
    outer: Dims,
    /// The values of a group.
    inner: Dims,
}

impl Groups {
    fn new(view: View, tensor: &Tensor, mode: miopenBatchNormMode_t) -> Self {
        let apart = |axis: &usize| if mode == SPATIAL { *axis == 1 } else { *axis > 0 };
        let axes = || 0..tensor.rank();
        let (outer, inner) = (axes().filter(apart), axes().filter(|axis| !apart(axis)));
        Self { view, outer: tensor.dims(outer), inner: tensor.dims(inner) }
    }

    fn load(&self, group: usize, values: &mut Vec<f32>) {
        values.resize(self.inner.count(), 0.0);
        self.inner.load(&self.view, self.outer.offset_of(group), 0, values);
    }

    fn store(&self, group: usize, values: &[f32]) {
        self.inner.store(&self.view, self.outer.offset_of(group), 0, values);
    }
}

/// Mean and variance.
fn moments(values: &[f32]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().map(|it| f64::from(*it)).sum::<f64>() / count;
    let variance = values.iter().map(|it| (f64::from(*it) - mean).powi(2)).sum::<f64>() / count;
    (mean, variance)
}

/// Checks that the tensors are supported, and that there is a parameter for each group.
fn checked(mode: miopenBatchNormMode_t, tensors: &[&Tensor], parameters: &Tensor) -> Outcome {
    let first = tensors[0];
    check(mode.0 <= SPATIAL.0, BAD)?;
    check(tensors.iter().all(|it| it.rank() == first.rank() && it.dtype == first.dtype), BAD)?;
    check(first.rank() >= 3 && parameters.rank() == first.rank(), BAD)?;
    check(tensors.iter().all(|it| it.lens == first.lens), BAD)?;
    const TYPES: [miopenDataType_t; 3] =
        [miopenDataType_t::miopenFloat, miopenDataType_t::miopenHalf, miopenDataType_t::miopenBFloat16];
    check(first.is_of(&TYPES) && parameters.is_of(&TYPES), NO_SOLVER)?;
    check(parameters.lens == derived(first, mode)?, BAD)
}

/// The lengths of the parameters' tensor.
fn derived(x: &Tensor, mode: miopenBatchNormMode_t) -> Outcome<Vec<usize>> {
    check(x.rank() >= 2, BAD)?;
    let length = |(axis, len): (usize, &usize)| match axis {
        0 => 1,
        1 => *len,
        _ if mode == SPATIAL => 1,
        _ => *len,
    };
    Ok(x.lens.iter().enumerate().map(length).collect())
}

pub(super) unsafe extern "C" fn miopenDeriveBNTensorDescriptor(
    derived_desc: miopenTensorDescriptor_t,
    x_desc: miopenTensorDescriptor_t,
    mode: miopenBatchNormMode_t,
) -> miopenStatus_t {
    answer(|| {
        let lens = derived(&tensor(x_desc)?, mode)?;
        TENSORS.set(derived_desc, || Tensor::packed(miopenDataType_t::miopenFloat, lens))
    })
}

/// The outputs of a pass over a batch that the caller requested.
#[derive(Default)]
struct Kept {
    /// Mean and inverse of the deviation.
    saved: Option<[Array; 2]>,
    /// Running mean and variance, blended with the batch's by the factor.
    running: Option<([Array; 2], f64)>,
}

/// Both pointers, or neither.
fn both<T>([first, second]: [Option<T>; 2]) -> Option<[T; 2]> {
    Some([first?, second?])
}

/// Normalises by the batch's own mean and variance.
fn train(from: &Groups, to: &Groups, parameters: &[Array; 2], epsilon: f64, kept: &Kept) {
    let [scale, bias] = parameters.each_ref().map(Array::read::<f32>);
    (0..from.outer.count()).into_par_iter().for_each_init(Vec::new, |values, group| {
        from.load(group, values);
        let (mean, variance) = moments(values);
        let inverse = 1.0 / (variance + epsilon).sqrt();
        let (by, add) = (scale[group], bias[group]);
        let (mean_f, inverse_f) = (mean as f32, inverse as f32);
        values.iter_mut().for_each(|it| *it = (*it - mean_f) * inverse_f * by + add);
        to.store(group, values);
        if let Some([means, inverses]) = &kept.saved {
            means.store(group, &[mean]);
            inverses.store(group, &[inverse]);
        }
        if let Some(([means, variances], factor)) = &kept.running {
            let count = values.len() as f64;
            let unbiased = if values.len() > 1 { variance * count / (count - 1.0) } else { variance };
            for (array, value) in [(means, mean), (variances, unbiased)] {
                let mut old = [0.0_f64];
                array.load(group, &mut old);
                array.store(group, &[(1.0 - factor) * old[0] + factor * value]);
            }
        }
    });
}

pub(super) unsafe extern "C" fn miopenBatchNormalizationForwardTraining(
    handle: miopenHandle_t,
    mode: miopenBatchNormMode_t,
    alpha: *mut c_void,
    beta: *mut c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    parameters: miopenTensorDescriptor_t,
    scale: *mut c_void,
    bias: *mut c_void,
    factor: f64,
    running_mean: *mut c_void,
    running_variance: *mut c_void,
    epsilon: f64,
    saved_mean: *mut c_void,
    saved_inverse: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let (input, output, parameters) = (tensor(x_desc)?, tensor(y_desc)?, tensor(parameters)?);
        checked(mode, &[&input, &output], &parameters)?;
        check(input.is_packed(), BAD)?;
        // SAFETY: S11: the caller's factors.
        check(unsafe { floats([alpha.cast_const(), beta.cast_const()]) }? == [1.0, 0.0], UNKNOWN)?;
        let mut job = Job::new(handle)?;
        let from = Groups::new(job.read(x, &input)?.view, &input, mode);
        let to = Groups::new(job.write(y, &output)?.view, &output, mode);
        let given = [job.read(scale, &parameters)?, job.read(bias, &parameters)?];
        let wanted = [running_mean, running_variance, saved_mean, saved_inverse];
        let mut arrays = Vec::with_capacity(wanted.len());
        for pointer in wanted {
            arrays.push(job.write_if(pointer, &parameters)?);
        }
        let mut arrays = arrays.into_iter();
        let mut next = || arrays.next().flatten();
        let running = both([next(), next()]).map(|arrays| (arrays, factor));
        let kept = Kept { running, saved: both([next(), next()]) };
        let name = "miopenBatchNormalizationForwardTraining";
        job.submit(name, move || train(&from, &to, &given, epsilon, &kept))
    })
}

/// Without estimates the batch's own mean and variance are used.
pub(super) unsafe extern "C" fn miopenBatchNormalizationForwardInference(
    handle: miopenHandle_t,
    mode: miopenBatchNormMode_t,
    alpha: *mut c_void,
    beta: *mut c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    parameters: miopenTensorDescriptor_t,
    scale: *mut c_void,
    bias: *mut c_void,
    mean: *mut c_void,
    variance: *mut c_void,
    epsilon: f64,
) -> miopenStatus_t {
    answer(|| {
        let (input, output, parameters) = (tensor(x_desc)?, tensor(y_desc)?, tensor(parameters)?);
        checked(mode, &[&input, &output], &parameters)?;
        // SAFETY: S11: the caller's factors.
        check(unsafe { floats([alpha.cast_const(), beta.cast_const()]) }? == [1.0, 0.0], BAD)?;
        let mut job = Job::new(handle)?;
        let from = Groups::new(job.read(x, &input)?.view, &input, mode);
        let to = Groups::new(job.write(y, &output)?.view, &output, mode);
        let given = [job.read(scale, &parameters)?, job.read(bias, &parameters)?];
        let estimates = [job.read_if(mean, &parameters)?, job.read_if(variance, &parameters)?];
        let Some(estimates) = both(estimates) else {
            return job.submit("miopenBatchNormalizationForwardInference", move || {
                train(&from, &to, &given, epsilon, &Kept::default());
            });
        };
        job.submit("miopenBatchNormalizationForwardInference", move || {
            let [scale, bias] = given.each_ref().map(Array::read::<f64>);
            let [mean, variance] = estimates.each_ref().map(Array::read::<f64>);
            (0..from.outer.count()).into_par_iter().for_each_init(Vec::new, |values, group| {
                from.load(group, values);
                let by = (scale[group] / (variance[group] + epsilon).sqrt()) as f32;
                let (mean, add) = (mean[group] as f32, bias[group] as f32);
                values.iter_mut().for_each(|it| *it = (*it - mean) * by + add);
                to.store(group, values);
            });
        })
    })
}

pub(super) unsafe extern "C" fn miopenBatchNormalizationBackward(
    handle: miopenHandle_t,
    mode: miopenBatchNormMode_t,
    alpha_data: *const c_void,
    beta_data: *const c_void,
    alpha_parameters: *const c_void,
    beta_parameters: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    dy_desc: miopenTensorDescriptor_t,
    dy: *const c_void,
    dx_desc: miopenTensorDescriptor_t,
    dx: *mut c_void,
    parameters: miopenTensorDescriptor_t,
    scale: *const c_void,
    d_scale: *mut c_void,
    d_bias: *mut c_void,
    epsilon: f64,
    saved_mean: *const c_void,
    saved_inverse: *const c_void,
) -> miopenStatus_t {
    answer(|| {
        let [input, gradient, result] = [tensor(x_desc)?, tensor(dy_desc)?, tensor(dx_desc)?];
        let parameters = tensor(parameters)?;
        checked(mode, &[&input, &gradient, &result], &parameters)?;
        let factors = [alpha_data, beta_data, alpha_parameters, beta_parameters];
        // SAFETY: S11: the caller's factors.
        check(unsafe { floats(factors) }? == [1.0, 0.0, 1.0, 0.0], BAD)?;
        let mut job = Job::new(handle)?;
        let from = Groups::new(job.read(x, &input)?.view, &input, mode);
        let given = Groups::new(job.read(dy, &gradient)?.view, &gradient, mode);
        let to = Groups::new(job.write(dx, &result)?.view, &result, mode);
        let scale = job.read(scale, &parameters)?;
        let (d_scale, d_bias) = (job.write(d_scale, &parameters)?, job.write(d_bias, &parameters)?);
        let saved = [job.read_if(saved_mean, &parameters)?, job.read_if(saved_inverse, &parameters)?];
        let saved = both(saved);
        job.submit("miopenBatchNormalizationBackward", move || {
            let scale = scale.read::<f64>();
            let saved = saved.as_ref().map(|saved| saved.each_ref().map(Array::read::<f64>));
            (0..from.outer.count()).into_par_iter().for_each_init(Default::default, |scratch, group| {
                let (x, dy): &mut (Vec<f32>, Vec<f32>) = scratch;
                from.load(group, x);
                given.load(group, dy);
                let (mean, inverse) = match &saved {
                    Some([means, inverses]) => (means[group], inverses[group]),
                    None => {
                        let (mean, variance) = moments(x);
                        (mean, 1.0 / (variance + epsilon).sqrt())
                    }
                };
                let hat = |x: f32| (f64::from(x) - mean) * inverse;
                let sum: f64 = dy.iter().map(|dy| f64::from(*dy)).sum();
                let product: f64 = dy.iter().zip(&*x).map(|(dy, x)| f64::from(*dy) * hat(*x)).sum();
                let (count, by) = (x.len() as f64, scale[group] * inverse);
                for (x, dy) in x.iter_mut().zip(&*dy) {
                    *x = (by * (f64::from(*dy) - (sum + hat(*x) * product) / count)) as f32;
                }
                to.store(group, x);
                d_scale.store(group, &[product]);
                d_bias.store(group, &[sum]);
            });
        })
    })
}
