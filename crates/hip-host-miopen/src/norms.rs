//! Normalisation within each image: layer, group and T5's layer normalisation. Tensors are contiguous.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::answer::{BAD, NO_SOLVER, Outcome, answer, check, give};
use super::handle::stream;
use super::job::Job;
use super::tensor::{Array, Tensor, tensor};
use hip_sys::miopen::{
    miopenDataType_t, miopenHandle_t, miopenNormMode_t, miopenStatus_t, miopenTensorDescriptor_t,
};
use rayon::prelude::*;
use std::ffi::c_void;

/// A descriptor and its tensor's address; null means no tensor.
type Given = (miopenTensorDescriptor_t, *const c_void);
/// As [`Given`], for outputs.
type Wanted = (miopenTensorDescriptor_t, *mut c_void);

/// How values are normalised.
#[derive(Clone, Copy)]
struct How {
    /// The number of contiguous values that are normalised together.
    inner: usize,
    /// The number of neighbours that share a weight, and the number of weights.
    share: usize,
    weights: usize,
    epsilon: f32,
    /// Whether the mean is subtracted.
    centred: bool,
}

/// Contiguous tensors of one type that is supported here.
fn checked(tensors: &[&Tensor]) -> Outcome {
    const TYPES: [miopenDataType_t; 3] =
        [miopenDataType_t::miopenFloat, miopenDataType_t::miopenHalf, miopenDataType_t::miopenBFloat16];
    check(tensors.iter().all(|it| it.is_packed() && it.is_of(&TYPES)), NO_SOLVER)?;
    check(tensors.iter().all(|it| it.dtype == tensors[0].dtype), NO_SOLVER)
}

/// A tensor that is read and must have that many elements.
fn read(job: &mut Job, (desc, pointer): Given, count: usize) -> Outcome<Array> {
    let tensor = tensor(desc)?;
    check(tensor.count() == count && tensor.is_packed(), BAD)?;
    job.read(pointer, &tensor)
}

/// An optional output, which must have that many elements.
fn write(job: &mut Job, (desc, pointer): Wanted, count: usize) -> Outcome<Option<Array>> {
    if pointer.is_null() {
        return Ok(None);
    }
    let tensor = tensor(desc)?;
    check(tensor.count() == count && tensor.is_packed(), BAD)?;
    job.write_if(pointer, &tensor)
}

/// Normalises the sum of the inputs. `affine` has the weight and optionally the bias.
fn forward(
    handle: miopenHandle_t,
    name: &'static str,
    how: How,
    inputs: &[Given],
    affine: &[Given],
    (y_desc, y): Wanted,
    [mean, deviation]: [Wanted; 2],
) -> Outcome {
    let output = tensor(y_desc)?;
    let tensors = inputs.iter().map(|(desc, _)| tensor(*desc)).collect::<Outcome<Vec<_>>>()?;
    checked(&tensors.iter().chain([&output]).collect::<Vec<_>>())?;
    check(tensors.iter().all(|it| it.lens == output.lens), NO_SOLVER)?;
    let groups = output.count() / how.inner;
    let mut job = Job::new(handle)?;
    let inputs = inputs.iter().zip(&tensors).map(|((_, x), tensor)| job.read(*x, tensor));
    let inputs = inputs.collect::<Outcome<Vec<_>>>()?;
    let affine = affine.iter().map(|given| read(&mut job, *given, how.weights));
    let affine = affine.collect::<Outcome<Vec<_>>>()?;
    let to = job.write(y, &output)?;
    let (means, deviations) = (write(&mut job, mean, groups)?, write(&mut job, deviation, groups)?);
    job.submit(name, move || {
        let affine: Vec<Vec<f32>> = affine.iter().map(Array::read).collect();
        (0..groups).into_par_iter().for_each_init(Default::default, |scratch, group| {
            let (values, more): &mut (Vec<f32>, Vec<f32>) = scratch;
            let first = group * how.inner;
            values.resize(how.inner, 0.0);
            inputs[0].load(first, values);
            for input in &inputs[1..] {
                more.resize(how.inner, 0.0);
                input.load(first, more);
                values.iter_mut().zip(&*more).for_each(|(value, more)| *value += more);
            }
            let count = how.inner as f64;
            let mean = match how.centred {
                true => values.iter().map(|it| f64::from(*it)).sum::<f64>() / count,
                false => 0.0,
            };
            let variance = values.iter().map(|it| (f64::from(*it) - mean).powi(2)).sum::<f64>() / count;
            let inverse = 1.0 / (variance + f64::from(how.epsilon)).sqrt();
            for (at, value) in values.iter_mut().enumerate() {
                let which = (first + at) / how.share % how.weights;
                let weight = affine.first().map_or(1.0, |weights| weights[which]);
                let bias = affine.get(1).map_or(0.0, |biases| biases[which]);
                *value = ((f64::from(*value) - mean) * inverse) as f32 * weight + bias;
            }
            to.store(first, values);
            if let Some(means) = &means {
                means.store(group, &[mean]);
            }
            if let Some(deviations) = &deviations {
                deviations.store(group, &[inverse]);
            }
        });
    })
}

/// Layer normalisation over the dimensions from `axis` on.
fn layer(x_desc: miopenTensorDescriptor_t, axis: i32, epsilon: f32) -> Outcome<How> {
    let tensor = tensor(x_desc)?;
    let axis = usize::try_from(axis).ok().filter(|&axis| axis <= tensor.rank()).ok_or(NO_SOLVER)?;
    let inner = tensor.lens[axis..].iter().product();
    Ok(How { inner, share: 1, weights: inner, epsilon, centred: true })
}

/// The weight and the bias, unless the mode is the one without.
fn affine(mode: miopenNormMode_t, without: miopenNormMode_t, given: &[Given]) -> Outcome<&[Given]> {
    check(mode == without || mode.0 == without.0 + 1, BAD)?;
    given.iter().try_for_each(|(desc, _)| tensor(*desc).map(drop))?;
    Ok(if mode == without { &[] } else { given })
}

pub(super) unsafe extern "C" fn miopenLayerNormForward(
    handle: miopenHandle_t,
    mode: miopenNormMode_t,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    weight_desc: miopenTensorDescriptor_t,
    weight: *const c_void,
    bias_desc: miopenTensorDescriptor_t,
    bias: *const c_void,
    epsilon: f32,
    axis: i32,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    mean_desc: miopenTensorDescriptor_t,
    mean: *mut c_void,
    rstd_desc: miopenTensorDescriptor_t,
    rstd: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let given = [(weight_desc, weight), (bias_desc, bias)];
        let affine = affine(mode, miopenNormMode_t::MIOPEN_ELEMENTWISE_AFFINE, &given)?;
        let how = layer(x_desc, axis, epsilon)?;
        let kept = [(mean_desc, mean), (rstd_desc, rstd)];
        forward(handle, "miopenLayerNormForward", how, &[(x_desc, x)], affine, (y_desc, y), kept)
    })
}

pub(super) unsafe extern "C" fn miopenAddLayerNormForward(
    handle: miopenHandle_t,
    mode: miopenNormMode_t,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    x2_desc: miopenTensorDescriptor_t,
    x2: *const c_void,
    weight_desc: miopenTensorDescriptor_t,
    weight: *const c_void,
    bias_desc: miopenTensorDescriptor_t,
    bias: *const c_void,
    epsilon: f32,
    axis: i32,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    mean_desc: miopenTensorDescriptor_t,
    mean: *mut c_void,
    rstd_desc: miopenTensorDescriptor_t,
    rstd: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let given = [(weight_desc, weight), (bias_desc, bias)];
        let affine = affine(mode, miopenNormMode_t::MIOPEN_ELEMENTWISE_AFFINE_FUSED_ADD, &given)?;
        let how = layer(x_desc, axis, epsilon)?;
        let (inputs, kept) = ([(x_desc, x), (x2_desc, x2)], [(mean_desc, mean), (rstd_desc, rstd)]);
        forward(handle, "miopenAddLayerNormForward", how, &inputs, affine, (y_desc, y), kept)
    })
}

pub(super) unsafe extern "C" fn miopenGroupNormForward(
    handle: miopenHandle_t,
    mode: miopenNormMode_t,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    weight_desc: miopenTensorDescriptor_t,
    weight: *const c_void,
    bias_desc: miopenTensorDescriptor_t,
    bias: *const c_void,
    groups: u64,
    epsilon: f32,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    mean_desc: miopenTensorDescriptor_t,
    mean: *mut c_void,
    rstd_desc: miopenTensorDescriptor_t,
    rstd: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let given = [(weight_desc, weight), (bias_desc, bias)];
        let affine = affine(mode, miopenNormMode_t::MIOPEN_ELEMENTWISE_AFFINE, &given)?;
        let (input, output) = (tensor(x_desc)?, tensor(y_desc)?);
        check(input.lens == output.lens && input.rank() >= 3, BAD)?;
        let groups = usize::try_from(groups).ok().filter(|&it| it > 0).ok_or(BAD)?;
        check(input.lens[1].is_multiple_of(groups), BAD)?;
        let share = input.lens[2..].iter().product();
        let (weights, inner) = (input.lens[1], input.lens[1] / groups * share);
        let how = How { inner, share, weights, epsilon, centred: true };
        let kept = [(mean_desc, mean), (rstd_desc, rstd)];
        forward(handle, "miopenGroupNormForward", how, &[(x_desc, x)], affine, (y_desc, y), kept)
    })
}

pub(super) unsafe extern "C" fn miopenT5LayerNormForward(
    handle: miopenHandle_t,
    mode: miopenNormMode_t,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    weight_desc: miopenTensorDescriptor_t,
    weight: *const c_void,
    epsilon: f32,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    rstd_desc: miopenTensorDescriptor_t,
    rstd: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let given = [(weight_desc, weight)];
        let affine = affine(mode, miopenNormMode_t::MIOPEN_ELEMENTWISE_AFFINE_T5, &given)?;
        let last = tensor(x_desc)?.rank() as i32 - 1;
        let how = How { centred: false, ..layer(x_desc, last, epsilon)? };
        let kept = [(rstd_desc, std::ptr::null_mut()), (rstd_desc, rstd)];
        forward(handle, "miopenT5LayerNormForward", how, &[(x_desc, x)], affine, (y_desc, y), kept)
    })
}

pub(super) unsafe extern "C" fn miopenGetT5LayerNormBackwardWorkspaceSize(
    handle: miopenHandle_t,
    _: miopenNormMode_t,
    dy_desc: miopenTensorDescriptor_t,
    x_desc: miopenTensorDescriptor_t,
    weight_desc: miopenTensorDescriptor_t,
    rstd_desc: miopenTensorDescriptor_t,
    dx_desc: miopenTensorDescriptor_t,
    dw_desc: miopenTensorDescriptor_t,
    size: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        let descs = [dy_desc, x_desc, weight_desc, rstd_desc, dx_desc, dw_desc];
        descs.into_iter().try_for_each(|desc| tensor(desc).map(drop))?;
        // SAFETY: S11: the caller's output pointer for the size.
        unsafe { give(size, 0) }
    })
}

pub(super) unsafe extern "C" fn miopenT5LayerNormBackward(
    handle: miopenHandle_t,
    mode: miopenNormMode_t,
    _: *mut c_void,
    _: usize,
    dy_desc: miopenTensorDescriptor_t,
    dy: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    weight_desc: miopenTensorDescriptor_t,
    weight: *const c_void,
    rstd_desc: miopenTensorDescriptor_t,
    rstd: *const c_void,
    dx_desc: miopenTensorDescriptor_t,
    dx: *mut c_void,
    dw_desc: miopenTensorDescriptor_t,
    dw: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let [gradient, input, result] = [tensor(dy_desc)?, tensor(x_desc)?, tensor(dx_desc)?];
        checked(&[&gradient, &input, &result])?;
        check(gradient.lens == result.lens && input.lens == result.lens, NO_SOLVER)?;
        let inner = input.lens[input.rank() - 1];
        let groups = input.count() / inner;
        let given = [(weight_desc, weight)];
        let affine = affine(mode, miopenNormMode_t::MIOPEN_ELEMENTWISE_AFFINE_T5, &given)?;
        let mut job = Job::new(handle)?;
        let (given, from) = (job.read(dy, &gradient)?, job.read(x, &input)?);
        let weight = affine.first().map(|weight| read(&mut job, *weight, inner)).transpose()?;
        let inverses = read(&mut job, (rstd_desc, rstd), groups)?;
        let to = job.write(dx, &result)?;
        let to_weight = write(&mut job, (dw_desc, dw), inner)?;
        job.submit("miopenT5LayerNormBackward", move || {
            let weight = weight.as_ref().map_or_else(|| vec![1.0; inner], Array::read::<f32>);
            let inverses = inverses.read::<f32>();
            let group = |group: usize| {
                let (mut x, mut dy) = (vec![0.0_f32; inner], vec![0.0_f32; inner]);
                from.load(group * inner, &mut x);
                given.load(group * inner, &mut dy);
                (x, dy)
            };
            (0..groups).into_par_iter().for_each(|index| {
                let (mut x, dy) = group(index);
                let inverse = inverses[index];
                let sum: f32 = dy.iter().zip(&x).zip(&weight).map(|((dy, x), w)| dy * x * w).sum();
                let back = sum * inverse.powi(3) / inner as f32;
                for ((x, dy), w) in x.iter_mut().zip(&dy).zip(&weight) {
                    *x = inverse * dy * w - back * *x;
                }
                to.store(index * inner, &x);
            });
            if let Some(to_weight) = &to_weight {
                let mut sums = vec![0.0_f64; inner];
                for (index, inverse) in inverses.iter().enumerate() {
                    let (x, dy) = group(index);
                    for (sum, (x, dy)) in sums.iter_mut().zip(x.iter().zip(&dy)) {
                        *sum += f64::from(dy * x * inverse);
                    }
                }
                to_weight.store(0, &sums);
            }
        })
    })
}
