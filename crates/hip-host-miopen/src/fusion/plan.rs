//! Plans, their operations, and the arguments of these.
#![allow(non_snake_case, reason = "MIOpen's names")]

use crate::answer::{BAD, NO_SOLVER, Outcome, UNKNOWN, answer, check, give};
use crate::convolution::{CONVOLUTIONS, Convolution, Direction, Problem};
use crate::handle::stream;
use crate::job::floats;
use crate::registry::Registry;
use crate::tensor::{Tensor, tensor};
use hip_sys::miopen::{
    miopenActivationMode_t, miopenBatchNormMode_t, miopenConvFwdAlgorithm_t, miopenConvolutionDescriptor_t,
    miopenDataType_t, miopenFusionDirection_t, miopenFusionOpDescriptor_t, miopenFusionPlanDescriptor_t,
    miopenHandle_t, miopenOperatorArgs_t, miopenStatus_t, miopenTensorDescriptor_t,
};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};

/// An operation of a plan.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Convolution(Convolution, Tensor),
    Bias(Tensor),
    Normalisation(miopenBatchNormMode_t, Tensor),
    Activation(miopenActivationMode_t),
}

/// A plan.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) input: Tensor,
    pub(super) output: Tensor,
    /// The operations with their handles.
    pub(super) operations: Vec<(usize, Operation)>,
    vertical: bool,
    pub(super) compiled: bool,
}

/// The arguments of an operation. Addresses are checked when the plan runs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Argument {
    Convolution(usize),
    Bias(usize),
    /// Scale, bias, mean and variance.
    Normalisation([usize; 4], f64),
    Activation([f64; 3]),
}

pub(super) static PLANS: Registry<Plan> = Registry::new(0x7a);
/// Operations by handle, each with the kind of its arguments.
static OPERATIONS: Registry<Operation> = Registry::new(0x7b);
/// Arguments by the operation's handle.
pub(super) static ARGUMENTS: Registry<HashMap<usize, Argument>> = Registry::new(0x7c);

impl Plan {
    /// Whether these operations can be fused here: a convolution, a bias, a normalisation and an activation, each at most once and
    /// in this order.
    fn fits(&self) -> bool {
        let rank = |(_, operation): &(usize, Operation)| match operation {
            Operation::Convolution(..) => 0,
            Operation::Bias(_) => 1,
            Operation::Normalisation(..) => 2,
            Operation::Activation(_) => 3,
        };
        let ranks: Vec<i32> = self.operations.iter().map(rank).collect();
        self.vertical && !ranks.is_empty() && ranks.is_sorted_by(|a, b| a < b)
    }

    /// MIOpen's kernels read normalisation parameters as floats, whatever their descriptor says. Other types are refused here.
    fn has_read_parameters(&self) -> bool {
        let (half, float) = (miopenDataType_t::miopenHalf, miopenDataType_t::miopenFloat);
        self.operations.iter().all(|(_, operation)| match operation {
            Operation::Normalisation(_, desc) => {
                desc.dtype == float && [half, float].contains(&self.input.dtype)
            }
            _ => true,
        })
    }
}

pub(crate) unsafe extern "C" fn miopenCreateFusionPlan(
    out: *mut miopenFusionPlanDescriptor_t,
    direction: miopenFusionDirection_t,
    input: miopenTensorDescriptor_t,
) -> miopenStatus_t {
    answer(|| {
        let input = tensor(input)?;
        let vertical = direction == miopenFusionDirection_t::miopenVerticalFusion;
        let plan = Plan { output: input.clone(), input, operations: Vec::new(), vertical, compiled: false };
        // SAFETY: S11: the caller's output pointer for the handle.
        unsafe { PLANS.create(out, plan) }
    })
}

pub(crate) unsafe extern "C" fn miopenDestroyFusionPlan(
    plan: miopenFusionPlanDescriptor_t,
) -> miopenStatus_t {
    answer(|| {
        let operations = PLANS.get(plan)?.operations;
        PLANS.destroy(plan)?;
        operations
            .into_iter()
            .try_for_each(|(handle, _)| OPERATIONS.destroy(handle as miopenFusionOpDescriptor_t))
    })
}

pub(crate) unsafe extern "C" fn miopenFusionPlanGetOp(
    plan: miopenFusionPlanDescriptor_t,
    index: c_int,
    out: *mut miopenFusionOpDescriptor_t,
) -> miopenStatus_t {
    answer(|| {
        let operations = PLANS.get(plan)?.operations;
        let found = usize::try_from(index).ok().and_then(|index| operations.get(index)).ok_or(BAD)?;
        // SAFETY: S11: the caller's output pointer for the handle.
        unsafe { give(out, found.0 as miopenFusionOpDescriptor_t) }
    })
}

/// Adds an operation to a plan.
///
/// # Safety
/// `out` is null or writable.
unsafe fn add(
    plan: miopenFusionPlanDescriptor_t,
    out: *mut miopenFusionOpDescriptor_t,
    operation: Operation,
) -> Outcome {
    check(!out.is_null(), BAD)?;
    PLANS.with(plan, |plan| {
        if let Operation::Convolution(convolution, w) = &operation {
            check(!convolution.transposed, NO_SOLVER)?;
            plan.output = Tensor::packed(plan.output.dtype, convolution.output(&plan.output, w)?)?;
        }
        let handle: miopenFusionOpDescriptor_t = OPERATIONS.insert(operation.clone());
        plan.operations.push((handle as usize, operation));
        plan.compiled = false;
        // SAFETY: S11: the caller's output pointer for the handle.
        unsafe { give(out, handle) }
    })?
}

pub(crate) unsafe extern "C" fn miopenCreateOpConvForward(
    plan: miopenFusionPlanDescriptor_t,
    out: *mut miopenFusionOpDescriptor_t,
    convolution: miopenConvolutionDescriptor_t,
    w: miopenTensorDescriptor_t,
) -> miopenStatus_t {
    answer(|| {
        let operation = Operation::Convolution(CONVOLUTIONS.get(convolution)?, tensor(w)?);
        // SAFETY: S11: the caller's output pointer for the handle.
        unsafe { add(plan, out, operation) }
    })
}

pub(crate) unsafe extern "C" fn miopenCreateOpBiasForward(
    plan: miopenFusionPlanDescriptor_t,
    out: *mut miopenFusionOpDescriptor_t,
    bias: miopenTensorDescriptor_t,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { add(plan, out, Operation::Bias(tensor(bias)?)) })
}

pub(crate) unsafe extern "C" fn miopenCreateOpActivationForward(
    plan: miopenFusionPlanDescriptor_t,
    out: *mut miopenFusionOpDescriptor_t,
    mode: miopenActivationMode_t,
) -> miopenStatus_t {
    answer(|| {
        check(mode.0 <= miopenActivationMode_t::miopenActivationELU.0, BAD)?;
        // SAFETY: S11: the caller's output pointer for the handle.
        unsafe { add(plan, out, Operation::Activation(mode)) }
    })
}

pub(crate) unsafe extern "C" fn miopenCreateOpBatchNormInference(
    plan: miopenFusionPlanDescriptor_t,
    out: *mut miopenFusionOpDescriptor_t,
    mode: miopenBatchNormMode_t,
    parameters: miopenTensorDescriptor_t,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { add(plan, out, Operation::Normalisation(mode, tensor(parameters)?)) })
}

/// UnsupportedOp for operations that cannot be fused.
pub(crate) unsafe extern "C" fn miopenCompileFusionPlan(
    handle: miopenHandle_t,
    plan: miopenFusionPlanDescriptor_t,
) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        PLANS.with(plan, |plan| {
            check(plan.fits(), miopenStatus_t::miopenStatusUnsupportedOp)?;
            check((3..=5).contains(&plan.input.rank()), miopenStatus_t::miopenStatusUnsupportedOp)?;
            check(plan.has_read_parameters(), miopenStatus_t::miopenStatusUnsupportedOp)?;
            if let Some((_, Operation::Convolution(convolution, w))) = plan.operations.first() {
                let tensors = [plan.input.clone(), w.clone(), plan.output.clone()];
                Problem::new(Direction::Forward, convolution.clone(), tensors).geometry()?;
            }
            plan.compiled = true;
            Ok(())
        })?
    })
}

pub(crate) unsafe extern "C" fn miopenFusionPlanGetWorkSpaceSize(
    handle: miopenHandle_t,
    plan: miopenFusionPlanDescriptor_t,
    size: *mut usize,
    _: miopenConvFwdAlgorithm_t,
) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        PLANS.with(plan, |_| ())?;
        // SAFETY: S11: the caller's output pointer for the size.
        unsafe { give(size, 0) }
    })
}

pub(crate) unsafe extern "C" fn miopenFusionPlanConvolutionGetAlgo(
    plan: miopenFusionPlanDescriptor_t,
    requested: c_int,
    count: *mut c_int,
    algorithms: *mut miopenConvFwdAlgorithm_t,
) -> miopenStatus_t {
    answer(|| {
        PLANS.with(plan, |_| ())?;
        check(requested >= 1, BAD)?;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            give(algorithms, miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoGEMM)?;
            give(count, 1)
        }
    })
}

/// There is only one implementation.
pub(crate) unsafe extern "C" fn miopenFusionPlanConvolutionSetAlgo(
    plan: miopenFusionPlanDescriptor_t,
    _: miopenConvFwdAlgorithm_t,
) -> miopenStatus_t {
    answer(|| PLANS.with(plan, |_| ()))
}

pub(crate) unsafe extern "C" fn miopenCreateOperatorArgs(out: *mut miopenOperatorArgs_t) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { ARGUMENTS.create(out, HashMap::new()) })
}

pub(crate) unsafe extern "C" fn miopenDestroyOperatorArgs(args: miopenOperatorArgs_t) -> miopenStatus_t {
    answer(|| ARGUMENTS.destroy(args))
}

/// Stores the arguments of an operation of that kind.
///
/// # Safety
/// Each factor is null or points to a float.
unsafe fn set(
    args: miopenOperatorArgs_t,
    operation: miopenFusionOpDescriptor_t,
    factors: [*const c_void; 2],
    is: fn(&Operation) -> bool,
    argument: Argument,
) -> Outcome {
    check(OPERATIONS.with(operation, |operation| is(operation))?, UNKNOWN)?;
    // SAFETY: S11: the caller's factors.
    check(unsafe { floats(factors) }? == [1.0, 0.0], NO_SOLVER)?;
    ARGUMENTS.with(args, |args| {
        args.insert(operation as usize, argument);
    })
}

pub(crate) unsafe extern "C" fn miopenSetOpArgsConvForward(
    args: miopenOperatorArgs_t,
    operation: miopenFusionOpDescriptor_t,
    alpha: *const c_void,
    beta: *const c_void,
    w: *const c_void,
) -> miopenStatus_t {
    let (is, argument) =
        (|it: &Operation| matches!(it, Operation::Convolution(..)), Argument::Convolution(w as usize));
    // SAFETY: S11: the caller's factors.
    answer(|| unsafe { set(args, operation, [alpha, beta], is, argument) })
}

pub(crate) unsafe extern "C" fn miopenSetOpArgsBiasForward(
    args: miopenOperatorArgs_t,
    operation: miopenFusionOpDescriptor_t,
    alpha: *const c_void,
    beta: *const c_void,
    bias: *const c_void,
) -> miopenStatus_t {
    let (is, argument) = (|it: &Operation| matches!(it, Operation::Bias(_)), Argument::Bias(bias as usize));
    // SAFETY: S11: the caller's factors.
    answer(|| unsafe { set(args, operation, [alpha, beta], is, argument) })
}

pub(crate) unsafe extern "C" fn miopenSetOpArgsActivForward(
    args: miopenOperatorArgs_t,
    operation: miopenFusionOpDescriptor_t,
    alpha: *const c_void,
    beta: *const c_void,
    function_alpha: f64,
    function_beta: f64,
    function_gamma: f64,
) -> miopenStatus_t {
    let argument = Argument::Activation([function_alpha, function_beta, function_gamma]);
    let is = |it: &Operation| matches!(it, Operation::Activation(_));
    // SAFETY: S11: the caller's factors.
    answer(|| unsafe { set(args, operation, [alpha, beta], is, argument) })
}

pub(crate) unsafe extern "C" fn miopenSetOpArgsBatchNormInference(
    args: miopenOperatorArgs_t,
    operation: miopenFusionOpDescriptor_t,
    alpha: *const c_void,
    beta: *const c_void,
    scale: *const c_void,
    bias: *const c_void,
    mean: *const c_void,
    variance: *const c_void,
    epsilon: f64,
) -> miopenStatus_t {
    let addresses = [scale, bias, mean, variance].map(|it| it as usize);
    let is = |it: &Operation| matches!(it, Operation::Normalisation(..));
    // SAFETY: S11: the caller's factors.
    answer(|| unsafe { set(args, operation, [alpha, beta], is, Argument::Normalisation(addresses, epsilon)) })
}
