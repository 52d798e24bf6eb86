//! Plans as calls, and the fused convolution that is one function of MIOpen.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::plan::{ARGUMENTS, Argument, Operation, PLANS};
use super::steps::{Source, Step, run};
use crate::activation::{ACTIVATIONS, Activation, tiny};
use crate::answer::{BAD, NO_SOLVER, Outcome, answer, check};
use crate::convolution::{CONVOLUTIONS, Convolution, Direction, Problem, Side};
use crate::job::{Job, floats};
use crate::tensor::{Tensor, tensor};
use hip_sys::miopen::{
    miopenActivationDescriptor_t, miopenActivationMode_t, miopenBatchNormMode_t, miopenConvFwdAlgorithm_t,
    miopenConvolutionDescriptor_t, miopenFusionPlanDescriptor_t, miopenHandle_t, miopenOperatorArgs_t,
    miopenStatus_t, miopenTensorDescriptor_t,
};
use std::ffi::c_void;

/// The values of a convolution forward.
fn convolved(
    job: &mut Job,
    convolution: Convolution,
    (x, x_at): (&Tensor, *const c_void),
    (w, w_at): (&Tensor, *const c_void),
    y: &Tensor,
) -> Outcome<Source> {
    let problem = Problem::new(Direction::Forward, convolution, [x.clone(), w.clone(), y.clone()]);
    let geometry = Box::new(problem.geometry()?);
    let x = Side::new(job.read(x_at, x)?.view, x);
    Ok(Source::Convolution(geometry, x, Side::new(job.read(w_at, w)?.view, w)))
}

/// A value for each channel of the output.
fn bias(job: &mut Job, bias: &Tensor, at: *const c_void, output: &Tensor) -> Outcome<Step> {
    check(bias.count() == output.lens[1], BAD)?;
    Ok(Step::Bias(job.read(at, bias)?))
}

pub(crate) unsafe extern "C" fn miopenExecuteFusionPlan(
    handle: miopenHandle_t,
    plan: miopenFusionPlanDescriptor_t,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    args: miopenOperatorArgs_t,
) -> miopenStatus_t {
    answer(|| {
        let (plan, args) = (PLANS.get(plan)?, ARGUMENTS.get(args)?);
        let (input, output) = (tensor(x_desc)?, tensor(y_desc)?);
        check(
            input == plan.input && output.lens == plan.output.lens && output.dtype == plan.output.dtype,
            BAD,
        )?;
        check(plan.compiled, BAD)?;
        let mut job = Job::new(handle)?;
        let to = Side::new(job.write(y, &output)?.view, &output);
        let kind = to.view.kind();
        let (mut source, mut steps) = (None, Vec::new());
        for (operation_handle, operation) in plan.operations {
            match (operation, args.get(&operation_handle).ok_or(BAD)?) {
                (Operation::Convolution(convolution, w), Argument::Convolution(at)) => {
                    let (x, w) = ((&input, x), (&w, *at as *const c_void));
                    source = Some(convolved(&mut job, convolution, x, w, &output)?);
                }
                (Operation::Bias(desc), Argument::Bias(at)) => {
                    steps.push(bias(&mut job, &desc, *at as *const c_void, &output)?);
                }
                (Operation::Normalisation(mode, desc), Argument::Normalisation(at, epsilon)) => {
                    let each = mode != miopenBatchNormMode_t::miopenBNSpatial;
                    let count = if each { output.count() / output.lens[0] } else { output.lens[1] };
                    check(desc.count() == count, BAD)?;
                    let [scale, bias, mean, variance] = at.map(|at| job.read(at as *const c_void, &desc));
                    let parameters = [scale?, bias?, mean?, variance?];
                    steps.push(Step::Normalise { parameters, epsilon: *epsilon, each });
                }
                (Operation::Activation(mode), Argument::Activation([alpha, beta, gamma])) => {
                    let activation = Activation { mode, alpha: *alpha, beta: *beta, gamma: *gamma };
                    steps.push(Step::Function(Box::new(activation.forward(tiny(kind)))));
                }
                _ => return Err(BAD),
            }
        }
        let source = match source {
            Some(source) => source,
            None => {
                let from = Side::new(job.read(x, &input)?.view, &input);
                Source::Tensor(from, input.lens[0], input.lens[1])
            }
        };
        job.submit("miopenExecuteFusionPlan", move || run(&source, &steps, &to))
    })
}

/// `y = activation(alpha1 * convolution + alpha2 * z + bias)`. A null factor is 1. As in MIOpen, only ReLU is supported.
pub(crate) unsafe extern "C" fn miopenConvolutionBiasActivationForward(
    handle: miopenHandle_t,
    alpha1: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    w_desc: miopenTensorDescriptor_t,
    w: *const c_void,
    descriptor: miopenConvolutionDescriptor_t,
    _: miopenConvFwdAlgorithm_t,
    _: *mut c_void,
    _: usize,
    alpha2: *const c_void,
    z_desc: miopenTensorDescriptor_t,
    z: *const c_void,
    bias_desc: miopenTensorDescriptor_t,
    bias_at: *const c_void,
    activation: miopenActivationDescriptor_t,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let factor = |pointer: *const c_void| match pointer.is_null() {
            true => Ok(1.0),
            // SAFETY: S11: not null, and a float by the C contract.
            false => unsafe { floats([pointer]) }.map(|[factor]| factor),
        };
        let (alpha1, alpha2) = (factor(alpha1)?, factor(alpha2)?);
        let activation = ACTIVATIONS.get(activation)?;
        check(activation.mode == miopenActivationMode_t::miopenActivationRELU, NO_SOLVER)?;
        let convolution = CONVOLUTIONS.get(descriptor)?;
        check(!convolution.transposed, NO_SOLVER)?;
        let (input, filters, output) = (tensor(x_desc)?, tensor(w_desc)?, tensor(y_desc)?);
        let (added, biases) = (tensor(z_desc)?, tensor(bias_desc)?);
        let mut job = Job::new(handle)?;
        let source = convolved(&mut job, convolution, (&input, x), (&filters, w), &output)?;
        let mut steps = vec![Step::Scale(alpha1)];
        if alpha2 != 0.0 {
            check(added.lens == output.lens && added.dtype == output.dtype, BAD)?;
            steps.push(Step::Add(Side::new(job.read(z, &added)?.view, &added), alpha2));
        }
        steps.push(bias(&mut job, &biases, bias_at, &output)?);
        let to = Side::new(job.write(y, &output)?.view, &output);
        steps.push(Step::Function(Box::new(activation.forward(tiny(to.view.kind())))));
        job.submit("miopenConvolutionBiasActivationForward", move || run(&source, &steps, &to))
    })
}
