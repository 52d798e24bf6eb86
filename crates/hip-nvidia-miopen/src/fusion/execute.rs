//! Running a plan.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::arguments::{Argument, Arguments, arguments_of};
use super::plan::{Op, Plan, is_possible, plan_of};
use crate::activation::{self, Activation};
use crate::batchnorm::{Parameters, infer};
use crate::convolution::{Direction, Fused, Problem, run_free, run_fused};
use crate::entry::{all_there, entries};
use crate::factor::Factor;
use crate::handle::{Session, with};
use crate::library::{In, Out, check, cudnn};
use crate::ops::transform;
use crate::tensor::{Tensor, tensor_of};
use crate::{BAD, Outcome};
use hip_sys::miopen::*;
use std::sync::Arc;

/// An operation with its arguments.
type Step = (Op, Argument);

fn steps(plan: &Plan, arguments: &Arguments) -> Outcome<Vec<Step>> {
    let given = |(handle, op): &(usize, Op)| Ok((op.clone(), arguments.get(handle).ok_or(BAD)?.clone()));
    plan.ops.iter().map(given).collect()
}

/// # Safety
/// The memory fits the tensors.
unsafe fn execute(
    session: &mut Session,
    steps: &[Step],
    (input, x): (&Arc<Tensor>, In),
    (output, y): (&Arc<Tensor>, Out),
) -> Outcome {
    let (one, none) = (Factor::new(1.0, output.kind), Factor::new(0.0, output.kind));
    let mut rest = steps;
    let (mut from_tensor, mut from) = (input, x);
    if let [(Op::Convolution { conv, w }, Argument::Convolution { w: weights }), after @ ..] = steps {
        let problem =
            Problem::from_parts(Direction::Forward, input.clone(), w.clone(), output.clone(), conv.clone());
        let weights = *weights as In;
        let fused = |bias: &Arc<Tensor>, at: usize, activation: &Activation, session: &mut Session| {
            let (bias, z) = ((&**bias, at as In), (&**output, std::ptr::null(), 0.0));
            let fused = Fused { problem: &problem, x, w: weights, alpha: 1.0, z, bias, activation, y };
            // SAFETY: S11: the caller's memory.
            unsafe { run_fused(session, &fused) }
        };
        rest = match after {
            [
                (Op::Bias { tensor }, Argument::Bias { bias }),
                (Op::Activation { .. }, Argument::Activation(activation)),
                last @ ..,
            ] => {
                fused(tensor, *bias, activation, session)?;
                last
            }
            [(Op::Bias { tensor }, Argument::Bias { bias }), last @ ..] => {
                fused(tensor, *bias, &Activation::default(), session)?;
                last
            }
            last => {
                // SAFETY: S11: the caller's memory.
                unsafe { run_free(session, &problem, x, weights, y) }?;
                last
            }
        };
        (from_tensor, from) = (output, y.cast_const());
    }
    for (op, argument) in rest {
        let (source, result) = ((&**from_tensor, from), (&**output, y));
        // SAFETY: S11: live descriptors and factors; the memory is the caller's word. A stream runs the calls in
        // this order.
        unsafe {
            match (op, argument) {
                (Op::Bias { tensor }, Argument::Bias { bias }) => {
                    transform(session, (one, none), source, result)?;
                    let (raw, bias) = (tensor.raw()?, *bias as In);
                    check((cudnn()?.cudnnAddTensor)(
                        session.raw,
                        one.get(),
                        raw,
                        bias,
                        one.get(),
                        output.raw()?,
                        y,
                    ))?;
                }
                (
                    Op::BatchNorm { mode, tensor },
                    Argument::BatchNorm { scale, bias, mean, variance, epsilon },
                ) => {
                    let [scale, bias, mean, variance] = [scale, bias, mean, variance].map(|at| *at as In);
                    let parameters = Parameters { tensor, scale, bias, mean, variance, epsilon: *epsilon };
                    infer(session, *mode, (one, none), source, result, parameters)?;
                }
                (Op::Activation { .. }, Argument::Activation(function)) => {
                    activation::forward(session, function, (one, none), source, result)?;
                }
                _ => return Err(BAD),
            }
        }
        (from_tensor, from) = (output, y.cast_const());
    }
    Ok(())
}

type H = miopenHandle_t;
type P = miopenFusionPlanDescriptor_t;
type T = miopenTensorDescriptor_t;

entries! {
    /// Checks whether the plan can be executed. Nothing has to be compiled.
    fn miopenCompileFusionPlan(handle: H, plan: P) {
        is_possible(&plan_of(plan)?.lock())?;
        with(handle, |_| Ok(()))
    }

    fn miopenExecuteFusionPlan(
        handle: H, plan: P, xd: T, x: In, yd: T, y: Out, args: miopenOperatorArgs_t,
    ) {
        let (xd, yd) = (tensor_of(xd)?, tensor_of(yd)?);
        all_there(&[x, y.cast_const()])?;
        let plan = plan_of(plan)?;
        let steps = {
            let plan = plan.lock();
            is_possible(&plan)?;
            if plan.input != xd {
                return Err(BAD);
            }
            steps(&plan, &arguments_of(args)?.lock())?
        };
        // SAFETY: S11: the caller's memory.
        with(handle, |session| unsafe { execute(session, &steps, (&xd, x), (&yd, y)) })
    }
}
