//! The arguments of a plan's operations.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::plan::{Op, op_of};
use crate::activation::Activation;
use crate::entry::{entries, give, there};
use crate::factor::Factor;
use crate::library::{In, Out};
use crate::{BAD, Outcome, UNSUPPORTED};
use hip_sys::miopen::*;
use hip_sys::provider::Handles;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// An operation's memory, as device addresses, and its parameters.
#[derive(Clone)]
pub(super) enum Argument {
    Convolution { w: usize },
    Bias { bias: usize },
    BatchNorm { scale: usize, bias: usize, mean: usize, variance: usize, epsilon: f64 },
    Activation(Arc<Activation>),
}

/// The arguments by the operation's handle.
pub(super) type Arguments = HashMap<usize, Argument>;

static ARGUMENTS: LazyLock<Handles<Mutex<Arguments>>> = LazyLock::new(|| Handles::new(0x5a));

pub(super) fn arguments_of(handle: miopenOperatorArgs_t) -> Outcome<Arc<Mutex<Arguments>>> {
    ARGUMENTS.get(handle as usize).map_err(|_| BAD)
}

/// Checks the factors, if they are given: MIOpen accepts only one and zero.
///
/// # Safety
/// They are null or point to an `f32`.
unsafe fn plain(alpha: In, beta: In) -> Outcome {
    let kind = miopenDataType_t::miopenFloat;
    // SAFETY: S11: the caller's factors.
    let (alpha, beta) = unsafe { (Factor::read(alpha, kind), Factor::read(beta, kind)) };
    let plain = alpha.is_ok_and(|a| a.value() != 1.0) || beta.is_ok_and(|b| b.value() != 0.0);
    if plain { Err(UNSUPPORTED) } else { Ok(()) }
}

type A = miopenOperatorArgs_t;
type O = miopenFusionOpDescriptor_t;

fn set(args: A, op: O, argument: Argument) -> Outcome {
    let same = match (op_of(op)?, &argument) {
        (Op::Convolution { .. }, Argument::Convolution { .. })
        | (Op::Bias { .. }, Argument::Bias { .. })
        | (Op::BatchNorm { .. }, Argument::BatchNorm { .. }) => true,
        (Op::Activation { mode }, Argument::Activation(activation)) => activation.is_of(mode),
        _ => false,
    };
    if !same {
        return Err(BAD);
    }
    arguments_of(args)?.lock().insert(op as usize, argument);
    Ok(())
}

entries! {
    fn miopenCreateOperatorArgs(out: *mut A) {
        there(out)?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, ARGUMENTS.insert(Arc::default()) as A) }
    }

    fn miopenDestroyOperatorArgs(args: A) {
        ARGUMENTS.remove(args as usize).map(drop).map_err(|_| BAD)
    }

    fn miopenSetOpArgsConvForward(args: A, op: O, alpha: In, beta: In, w: In) {
        there(w)?;
        // SAFETY: S11: the caller's factors.
        unsafe { plain(alpha, beta) }?;
        set(args, op, Argument::Convolution { w: w as usize })
    }

    fn miopenSetOpArgsBiasForward(args: A, op: O, alpha: In, beta: In, bias: In) {
        there(bias)?;
        // SAFETY: S11: as above.
        unsafe { plain(alpha, beta) }?;
        set(args, op, Argument::Bias { bias: bias as usize })
    }

    fn miopenSetOpArgsActivForward(args: A, op: O, alpha: In, beta: In, a: f64, b: f64, c: f64) {
        // SAFETY: S11: as above.
        unsafe { plain(alpha, beta) }?;
        let Op::Activation { mode } = op_of(op)? else { return Err(BAD) };
        set(args, op, Argument::Activation(Arc::new(Activation::new(mode, a, b, c)?)))
    }

    fn miopenSetOpArgsBatchNormInference(
        args: A, op: O, alpha: In, beta: In, scale: In, bias: In, mean: In, variance: In, epsilon: f64,
    ) {
        // SAFETY: S11: as above.
        unsafe { plain(alpha, beta) }?;
        let [scale, bias, mean, variance] = [scale, bias, mean, variance].map(|pointer| pointer as usize);
        set(args, op, Argument::BatchNorm { scale, bias, mean, variance, epsilon })
    }

    /// No plan has one of these operations.
    fn miopenSetOpArgsActivBackward(
        _args: A, _op: O, _alpha: In, _beta: In, _y: In, _reserved: In, _a: f64, _b: f64, _c: f64,
    ) {
        Err(UNSUPPORTED)
    }

    fn miopenSetOpArgsBatchNormForward(
        _args: A, _op: O, _alpha: In, _beta: In, _scale: In, _bias: In, _mean: Out, _deviation: Out,
        _running_mean: Out, _running_variance: Out, _factor: f64, _epsilon: f64,
    ) {
        Err(UNSUPPORTED)
    }

    fn miopenSetOpArgsBatchNormBackward(
        _args: A, _op: O, _alpha: In, _beta: In, _x: In, _scale: In, _bias: In, _scale_gradient: Out,
        _bias_gradient: Out, _mean: In, _deviation: In,
    ) {
        Err(UNSUPPORTED)
    }
}
