//! Convolution calls: by an algorithm that was found, and by a solution.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::backward;
use super::descriptor::CONVOLUTIONS;
use super::find::solution;
use super::forward::forward;
use super::geometry::Side;
use super::problem::{Direction, Problem};
use crate::answer::{BAD, NO_SOLVER, Outcome, UNKNOWN, answer, check};
use crate::handle::HANDLES;
use crate::job::{Job, floats};
use crate::tensor::tensor;
use hip_sys::miopen::{
    miopenConvBwdDataAlgorithm_t, miopenConvBwdWeightsAlgorithm_t, miopenConvFwdAlgorithm_t,
    miopenConvolutionDescriptor_t, miopenHandle_t, miopenStatus_t, miopenTensorDescriptor_t,
};
use std::ffi::c_void;

/// A tensor that the caller passed.
pub(super) type Given = (miopenTensorDescriptor_t, *mut c_void);

/// The operation, and the addresses of x, w and y.
pub(super) fn problem(
    direction: Direction,
    descriptor: miopenConvolutionDescriptor_t,
    [x, w, y]: [Given; 3],
) -> Outcome<(Problem, [*mut c_void; 3])> {
    let convolution = CONVOLUTIONS.get(descriptor)?;
    let pointers = if convolution.transposed { [y.1, w.1, x.1] } else { [x.1, w.1, y.1] };
    let tensors = [tensor(x.0)?, tensor(w.0)?, tensor(y.0)?];
    Ok((Problem::new(direction, convolution, tensors), pointers))
}

/// Checks a convolution and declares its memory. Returns the work for the stream.
pub(super) fn prepare(
    job: &mut Job,
    problem: &Problem,
    pointers: [*mut c_void; 3],
    scales: [f32; 2],
) -> Outcome<Box<dyn Fn() + Send + Sync>> {
    let geometry = problem.geometry()?;
    let output = match problem.direction {
        Direction::Data => 0,
        Direction::Weights => 1,
        Direction::Forward => 2,
    };
    let mut side = |index: usize, tensor| {
        let array = match index == output {
            true => job.write(pointers[index], tensor)?,
            false => job.read(pointers[index], tensor)?,
        };
        Ok(Side::new(array.view, tensor))
    };
    let [x, w, y] = [side(0, &problem.x)?, side(1, &problem.w)?, side(2, &problem.y)?];
    Ok(match problem.direction {
        Direction::Forward => Box::new(move || {
            forward(&geometry, &x, &w, &|image, channel, first, values| {
                y.positions.blend(&y.view, y.start(image, channel), first, values, scales);
            });
        }),
        Direction::Data => Box::new(move || backward::data(&geometry, &y, &w, &x, scales)),
        Direction::Weights => Box::new(move || backward::weights(&geometry, &y, &x, &w, scales)),
    })
}

/// Runs a convolution for which a find function was called before.
///
/// # Safety
/// The factors' pointers are null or point to floats.
unsafe fn run(
    handle: miopenHandle_t,
    descriptor: miopenConvolutionDescriptor_t,
    direction: Direction,
    given: [Given; 3],
    factors: [*const c_void; 2],
) -> Outcome {
    check(given.iter().all(|(_, pointer)| !pointer.is_null()), BAD)?;
    let (problem, pointers) = problem(direction, descriptor, given)?;
    // SAFETY: S11: the caller's factors.
    let scales = unsafe { floats(factors) }?;
    check(!problem.is_flat() || scales == [1.0, 0.0], NO_SOLVER)?;
    let mut job = Job::new(handle)?;
    let body = prepare(&mut job, &problem, pointers, scales)?;
    check(HANDLES.with(handle, |handle| handle.found.contains(&problem))?, UNKNOWN)?;
    job.submit(name(problem.direction), body)
}

fn immediate(
    handle: miopenHandle_t,
    descriptor: miopenConvolutionDescriptor_t,
    direction: Direction,
    given: [Given; 3],
    id: u64,
) -> Outcome {
    check(given.iter().all(|(_, pointer)| !pointer.is_null()), BAD)?;
    let (problem, pointers) = problem(direction, descriptor, given)?;
    solution(id)?;
    let mut job = Job::new(handle)?;
    let body = prepare(&mut job, &problem, pointers, [1.0, 0.0])?;
    job.submit(name(problem.direction), body)
}

fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "miopenConvolutionForward",
        Direction::Data => "miopenConvolutionBackwardData",
        Direction::Weights => "miopenConvolutionBackwardWeights",
    }
}

pub(crate) unsafe extern "C" fn miopenConvolutionForward(
    handle: miopenHandle_t,
    alpha: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    w_desc: miopenTensorDescriptor_t,
    w: *const c_void,
    descriptor: miopenConvolutionDescriptor_t,
    _: miopenConvFwdAlgorithm_t,
    beta: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    _: *mut c_void,
    _: usize,
) -> miopenStatus_t {
    let given = [(x_desc, x.cast_mut()), (w_desc, w.cast_mut()), (y_desc, y)];
    // SAFETY: S11: the caller's factors.
    answer(|| unsafe { run(handle, descriptor, Direction::Forward, given, [alpha, beta]) })
}

pub(crate) unsafe extern "C" fn miopenConvolutionBackwardData(
    handle: miopenHandle_t,
    alpha: *const c_void,
    dy_desc: miopenTensorDescriptor_t,
    dy: *const c_void,
    w_desc: miopenTensorDescriptor_t,
    w: *const c_void,
    descriptor: miopenConvolutionDescriptor_t,
    _: miopenConvBwdDataAlgorithm_t,
    beta: *const c_void,
    dx_desc: miopenTensorDescriptor_t,
    dx: *mut c_void,
    _: *mut c_void,
    _: usize,
) -> miopenStatus_t {
    let given = [(dx_desc, dx), (w_desc, w.cast_mut()), (dy_desc, dy.cast_mut())];
    // SAFETY: S11: the caller's factors.
    answer(|| unsafe { run(handle, descriptor, Direction::Data, given, [alpha, beta]) })
}

pub(crate) unsafe extern "C" fn miopenConvolutionBackwardWeights(
    handle: miopenHandle_t,
    alpha: *const c_void,
    dy_desc: miopenTensorDescriptor_t,
    dy: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    descriptor: miopenConvolutionDescriptor_t,
    _: miopenConvBwdWeightsAlgorithm_t,
    beta: *const c_void,
    dw_desc: miopenTensorDescriptor_t,
    dw: *mut c_void,
    _: *mut c_void,
    _: usize,
) -> miopenStatus_t {
    let given = [(x_desc, x.cast_mut()), (dw_desc, dw), (dy_desc, dy.cast_mut())];
    // SAFETY: S11: the caller's factors.
    answer(|| unsafe { run(handle, descriptor, Direction::Weights, given, [alpha, beta]) })
}

pub(crate) unsafe extern "C" fn miopenConvolutionForwardImmediate(
    handle: miopenHandle_t,
    w_desc: miopenTensorDescriptor_t,
    w: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    descriptor: miopenConvolutionDescriptor_t,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    _: *mut c_void,
    _: usize,
    id: u64,
) -> miopenStatus_t {
    let given = [(x_desc, x.cast_mut()), (w_desc, w.cast_mut()), (y_desc, y)];
    answer(|| immediate(handle, descriptor, Direction::Forward, given, id))
}

pub(crate) unsafe extern "C" fn miopenConvolutionBackwardDataImmediate(
    handle: miopenHandle_t,
    dy_desc: miopenTensorDescriptor_t,
    dy: *const c_void,
    w_desc: miopenTensorDescriptor_t,
    w: *const c_void,
    descriptor: miopenConvolutionDescriptor_t,
    dx_desc: miopenTensorDescriptor_t,
    dx: *mut c_void,
    _: *mut c_void,
    _: usize,
    id: u64,
) -> miopenStatus_t {
    let given = [(dx_desc, dx), (w_desc, w.cast_mut()), (dy_desc, dy.cast_mut())];
    answer(|| immediate(handle, descriptor, Direction::Data, given, id))
}

pub(crate) unsafe extern "C" fn miopenConvolutionBackwardWeightsImmediate(
    handle: miopenHandle_t,
    dy_desc: miopenTensorDescriptor_t,
    dy: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    descriptor: miopenConvolutionDescriptor_t,
    dw_desc: miopenTensorDescriptor_t,
    dw: *mut c_void,
    _: *mut c_void,
    _: usize,
    id: u64,
) -> miopenStatus_t {
    let given = [(x_desc, x.cast_mut()), (dw_desc, dw), (dy_desc, dy.cast_mut())];
    answer(|| immediate(handle, descriptor, Direction::Weights, given, id))
}
