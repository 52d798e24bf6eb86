//! Plans and their operations.
#![allow(non_snake_case, reason = "MIOpen's names")]

use crate::activation::Activation;
use crate::convert::batch_norm_mode;
use crate::convolution::{Convolution, convolution_of};
use crate::entry::{entries, give, there};
use crate::tensor::{Tensor, tensor_of};
use crate::{BAD, Outcome, UNSUPPORTED};
use cudarc::cudnn::sys;
use hip_sys::miopen::*;
use hip_sys::provider::Handles;
use parking_lot::Mutex;
use std::ffi::c_int;
use std::sync::{Arc, LazyLock};

/// An operation of a plan.
#[derive(Clone)]
pub(super) enum Op {
    Convolution { conv: Arc<Convolution>, w: Arc<Tensor> },
    Bias { tensor: Arc<Tensor> },
    BatchNorm { mode: sys::cudnnBatchNormMode_t, tensor: Arc<Tensor> },
    Activation { mode: miopenActivationMode_t },
}

/// The operations with their handles, in their order.
pub(super) struct Plan {
    pub(super) input: Arc<Tensor>,
    pub(super) ops: Vec<(usize, Op)>,
}

static PLANS: LazyLock<Handles<Mutex<Plan>>> = LazyLock::new(|| Handles::new(0x58));
/// Each operation's handle, with the handle of its plan.
static OPS: LazyLock<Handles<usize>> = LazyLock::new(|| Handles::new(0x59));

pub(super) fn plan_of(handle: miopenFusionPlanDescriptor_t) -> Outcome<Arc<Mutex<Plan>>> {
    PLANS.get(handle as usize).map_err(|_| BAD)
}

/// The operation of a handle.
pub(super) fn op_of(handle: miopenFusionOpDescriptor_t) -> Outcome<Op> {
    let plan = OPS.get(handle as usize).map_err(|_| BAD)?;
    let plan = PLANS.get(*plan).map_err(|_| BAD)?;
    let plan = plan.lock();
    plan.ops.iter().find(|(known, _)| *known == handle as usize).map(|(_, op)| op.clone()).ok_or(BAD)
}

unsafe fn add(
    plan: miopenFusionPlanDescriptor_t,
    out: *mut miopenFusionOpDescriptor_t,
    make: impl FnOnce() -> Outcome<Op>,
) -> Outcome {
    there(out)?;
    let owner = plan_of(plan)?;
    let op = make()?;
    let handle = OPS.insert(Arc::new(plan as usize));
    owner.lock().ops.push((handle, op));
    // SAFETY: S11: the caller's output pointer for the result.
    unsafe { give(out, handle as miopenFusionOpDescriptor_t) }
}

/// Whether the plan can be executed.
pub(super) fn is_possible(plan: &Plan) -> Outcome {
    let convolutions =
        plan.ops.iter().enumerate().filter(|(_, (_, op))| matches!(op, Op::Convolution { .. }));
    if plan.ops.is_empty() || convolutions.into_iter().any(|(index, _)| index > 0) {
        Err(UNSUPPORTED)
    } else {
        Ok(())
    }
}

/// The algorithms that cuDNN may use for a plan's convolution.
const ALGORITHMS: [miopenConvFwdAlgorithm_t; 5] = [
    miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoImplicitGEMM,
    miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoGEMM,
    miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoDirect,
    miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoFFT,
    miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoWinograd,
];

type P = miopenFusionPlanDescriptor_t;
type O = *mut miopenFusionOpDescriptor_t;
type T = miopenTensorDescriptor_t;

entries! {
    fn miopenCreateFusionPlan(out: *mut P, direction: miopenFusionDirection_t, input: T) {
        there(out)?;
        let input = tensor_of(input)?;
        if direction != miopenFusionDirection_t::miopenVerticalFusion {
            return Err(UNSUPPORTED);
        }
        let handle = PLANS.insert(Arc::new(Mutex::new(Plan { input, ops: Vec::new() })));
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, handle as P) }
    }

    fn miopenDestroyFusionPlan(plan: P) {
        let plan = PLANS.remove(plan as usize).map_err(|_| BAD)?;
        for (handle, _) in &plan.lock().ops {
            // The operations are destroyed with the plan.
            OPS.remove(*handle).map_err(|_| BAD)?;
        }
        Ok(())
    }

    fn miopenCreateOpConvForward(plan: P, out: O, conv: miopenConvolutionDescriptor_t, w: T) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { add(plan, out, || Ok(Op::Convolution { conv: convolution_of(conv)?, w: tensor_of(w)? })) }
    }

    fn miopenCreateOpBiasForward(plan: P, out: O, bias: T) {
        // SAFETY: S11: as above.
        unsafe { add(plan, out, || Ok(Op::Bias { tensor: tensor_of(bias)? })) }
    }

    fn miopenCreateOpBatchNormInference(plan: P, out: O, mode: miopenBatchNormMode_t, parameters: T) {
        let make = || Ok(Op::BatchNorm { mode: batch_norm_mode(mode)?, tensor: tensor_of(parameters)? });
        // SAFETY: S11: as above.
        unsafe { add(plan, out, make) }
    }

    fn miopenCreateOpActivationForward(plan: P, out: O, mode: miopenActivationMode_t) {
        let make = || {
            // Checked with parameters that every function accepts, so that an unsupported function is refused early.
            Activation::new(mode, 1.0, 1.0, 1.0)?.way()?;
            Ok(Op::Activation { mode })
        };
        // SAFETY: S11: as above.
        unsafe { add(plan, out, make) }
    }

    /// Gradients and training are not fused.
    fn miopenCreateOpActivationBackward(plan: P, _out: O, _mode: miopenActivationMode_t) {
        plan_of(plan)?;
        Err(UNSUPPORTED)
    }

    fn miopenCreateOpBatchNormForward(plan: P, _out: O, _mode: miopenBatchNormMode_t, _running: bool) {
        plan_of(plan)?;
        Err(UNSUPPORTED)
    }

    fn miopenCreateOpBatchNormBackward(plan: P, _out: O, _mode: miopenBatchNormMode_t) {
        plan_of(plan)?;
        Err(UNSUPPORTED)
    }

    fn miopenFusionPlanGetOp(plan: P, index: c_int, out: O) {
        let plan = plan_of(plan)?;
        let index = usize::try_from(index).map_err(|_| BAD)?;
        let handle = plan.lock().ops.get(index).ok_or(BAD)?.0;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, handle as miopenFusionOpDescriptor_t) }
    }

    /// A plan takes no workspace.
    fn miopenFusionPlanGetWorkSpaceSize(
        _handle: miopenHandle_t, plan: P, out: *mut usize, _algorithm: miopenConvFwdAlgorithm_t,
    ) {
        plan_of(plan)?;
        // SAFETY: S11: as above.
        unsafe { give(out, 0) }
    }

    /// cuDNN chooses when the plan runs, so this returns all algorithms that it may use.
    fn miopenFusionPlanConvolutionGetAlgo(
        plan: P, room: c_int, count: *mut c_int, list: *mut miopenConvFwdAlgorithm_t,
    ) {
        plan_of(plan)?;
        let named = &ALGORITHMS[..usize::try_from(room).map_err(|_| BAD)?.min(ALGORITHMS.len())];
        if named.is_empty() {
            return Err(BAD);
        }
        there(list)?;
        for (at, algorithm) in named.iter().enumerate() {
            // SAFETY: S11: the caller's list, with room for so many.
            unsafe { give(list.wrapping_add(at), *algorithm) }?;
        }
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(count, named.len() as c_int) }
    }

    fn miopenFusionPlanConvolutionSetAlgo(plan: P, algorithm: miopenConvFwdAlgorithm_t) {
        plan_of(plan)?;
        if algorithm == miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoImplicitGEMM { Ok(()) } else { Err(UNSUPPORTED) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{miopenCreateTensorDescriptor, miopenSet4dTensorDescriptor};
    use std::ptr::null_mut;

    #[test]
    fn a_plan_keeps_its_operations_in_order() {
        let (mut input, mut plan, mut bias, mut relu, mut got) =
            (null_mut(), null_mut(), null_mut(), null_mut(), null_mut());
        // SAFETY: S11: live variables.
        unsafe {
            assert_eq!(miopenCreateTensorDescriptor(&mut input).0, 0);
            assert_eq!(miopenSet4dTensorDescriptor(input, miopenDataType_t::miopenFloat, 1, 2, 3, 4).0, 0);
            let vertical = miopenFusionDirection_t::miopenVerticalFusion;
            assert_eq!(miopenCreateFusionPlan(&mut plan, vertical, null_mut()), BAD);
            assert_eq!(miopenCreateFusionPlan(&mut plan, vertical, input).0, 0);
            assert_eq!(is_possible(&plan_of(plan).unwrap().lock()), Err(UNSUPPORTED));
            assert_eq!(miopenCreateOpBiasForward(plan, &mut bias, input).0, 0);
            let mode = miopenActivationMode_t::miopenActivationRELU;
            assert_eq!(miopenCreateOpActivationForward(plan, &mut relu, mode).0, 0);
            let power = miopenActivationMode_t::miopenActivationPOWER;
            assert_eq!(miopenCreateOpActivationForward(plan, &mut got, power), UNSUPPORTED);
            assert_eq!(miopenCreateOpActivationBackward(plan, &mut got, mode), UNSUPPORTED);
            assert_eq!(miopenFusionPlanGetOp(plan, 1, &mut got).0, 0);
            assert_eq!(miopenFusionPlanGetOp(plan, 2, &mut got), BAD);
            assert_eq!(got, relu);
            assert_eq!(is_possible(&plan_of(plan).unwrap().lock()), Ok(()));
            assert!(matches!(op_of(bias), Ok(Op::Bias { .. })));
            assert_eq!(miopenDestroyFusionPlan(plan).0, 0);
            assert!(op_of(bias).is_err());
            assert_eq!(miopenDestroyFusionPlan(plan), BAD);
        }
    }
}
