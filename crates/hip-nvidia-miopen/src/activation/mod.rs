//! Activations: those that cuDNN has, and those that two of its operations give.
#![allow(non_snake_case, reason = "MIOpen's names")]

mod compute;

pub(super) use compute::forward;

use crate::descriptor::Descriptors;
use crate::entry::{all_there, entries, offer};
use crate::factor::Factor;
use crate::handle::with;
use crate::library::{In, Out, check};
use crate::raw::{Lazy, RawActivation};
use crate::tensor::tensor_of;
use crate::{BAD, Outcome, UNSUPPORTED};
use compute::backward;
use cudarc::cudnn::sys::{self, cudnnActivationMode_t as Native};
use hip_sys::miopen::*;
use std::sync::{Arc, LazyLock};

/// A function with its parameters.
pub(super) struct Activation {
    mode: miopenActivationMode_t,
    alpha: f64,
    beta: f64,
    gamma: f64,
    raw: Lazy<RawActivation>,
}

/// How a function is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// cuDNN has the function, with one coefficient.
    Native(Native, f64),
    Identity,
    /// The larger of `x` and `-x`. As in MIOpen, the slope at zero is -1.
    Absolute,
    /// The larger (above slope 1 the smaller) of `x` and `slope * x`.
    Leaky(f64),
    /// `beta * tanh(alpha * x)` with factors other than one: in steps, with intermediate results in the output.
    Tanh {
        alpha: f64,
        beta: f64,
    },
}

static ACTIVATIONS: LazyLock<Descriptors<Activation>> = LazyLock::new(|| Descriptors::new(0x53));

/// The activation of a descriptor.
pub(super) fn activation_of(handle: miopenActivationDescriptor_t) -> Outcome<Arc<Activation>> {
    ACTIVATIONS.get(handle)
}

impl Default for Activation {
    fn default() -> Self {
        Self::unchecked(miopenActivationMode_t::miopenActivationPASTHRU, 0.0, 0.0, 0.0)
    }
}

impl Activation {
    fn unchecked(mode: miopenActivationMode_t, alpha: f64, beta: f64, gamma: f64) -> Self {
        Self { mode, alpha, beta, gamma, raw: Lazy::new() }
    }

    pub(super) fn new(mode: miopenActivationMode_t, alpha: f64, beta: f64, gamma: f64) -> Outcome<Self> {
        if mode.0 > miopenActivationMode_t::miopenActivationELU.0 {
            return Err(BAD);
        }
        Ok(Self::unchecked(mode, alpha, beta, gamma))
    }

    pub(super) fn is_of(&self, mode: miopenActivationMode_t) -> bool {
        self.mode == mode
    }

    /// The way to compute it, if cuDNN can.
    pub(super) fn way(&self) -> Outcome<Way> {
        use miopenActivationMode_t as M;
        Ok(match self.mode {
            M::miopenActivationPASTHRU => Way::Identity,
            M::miopenActivationLOGISTIC => Way::Native(Native::CUDNN_ACTIVATION_SIGMOID, 0.0),
            M::miopenActivationTANH if self.alpha == 1.0 && self.beta == 1.0 => {
                Way::Native(Native::CUDNN_ACTIVATION_TANH, 0.0)
            }
            M::miopenActivationTANH => Way::Tanh { alpha: self.alpha, beta: self.beta },
            M::miopenActivationRELU => Way::Native(Native::CUDNN_ACTIVATION_RELU, 0.0),
            M::miopenActivationCLIPPEDRELU => Way::Native(Native::CUDNN_ACTIVATION_CLIPPED_RELU, self.alpha),
            M::miopenActivationELU => Way::Native(Native::CUDNN_ACTIVATION_ELU, self.alpha),
            M::miopenActivationABS => Way::Absolute,
            M::miopenActivationLEAKYRELU => Way::Leaky(self.alpha),
            _ => return Err(UNSUPPORTED),
        })
    }

    /// cuDNN's descriptor of a native function, or of the identity, which only fused convolutions accept.
    pub(super) fn raw(&self) -> Outcome<sys::cudnnActivationDescriptor_t> {
        let (mode, coefficient) = match self.way()? {
            Way::Native(mode, coefficient) => (mode, coefficient),
            Way::Identity => (Native::CUDNN_ACTIVATION_IDENTITY, 0.0),
            Way::Absolute | Way::Leaky(_) | Way::Tanh { .. } => return Err(UNSUPPORTED),
        };
        self.raw.get(|| make(mode, coefficient)).map(RawActivation::raw)
    }
}

fn make(mode: Native, coefficient: f64) -> Outcome<RawActivation> {
    RawActivation::new(|library, raw| {
        let nan = sys::cudnnNanPropagation_t::CUDNN_PROPAGATE_NAN;
        // SAFETY: S1: a new descriptor.
        check(unsafe { (library.cudnnSetActivationDescriptor)(raw, mode, nan, coefficient) })
    })
}

type H = miopenHandle_t;
type T = miopenTensorDescriptor_t;
type D = miopenActivationDescriptor_t;

entries! {
    fn miopenCreateActivationDescriptor(out: *mut D) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { ACTIVATIONS.create(out) }
    }

    fn miopenDestroyActivationDescriptor(handle: D) {
        ACTIVATIONS.destroy(handle)
    }

    fn miopenSetActivationDescriptor(handle: D, mode: miopenActivationMode_t, alpha: f64, beta: f64, gamma: f64) {
        ACTIVATIONS.set(handle, Activation::new(mode, alpha, beta, gamma)?)
    }

    /// Each pointer may be null.
    fn miopenGetActivationDescriptor(
        handle: D, mode: *mut miopenActivationMode_t, alpha: *mut f64, beta: *mut f64, gamma: *mut f64,
    ) {
        let activation = activation_of(handle)?;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            offer(mode, activation.mode);
            offer(alpha, activation.alpha);
            offer(beta, activation.beta);
            offer(gamma, activation.gamma);
        }
        Ok(())
    }

    fn miopenActivationForward(handle: H, activation: D, alpha: In, xd: T, x: In, beta: In, yd: T, y: Out) {
        let (activation, xd, yd) = (activation_of(activation)?, tensor_of(xd)?, tensor_of(yd)?);
        all_there(&[x, y.cast_const()])?;
        // SAFETY: S11: the caller's factors.
        let blend = unsafe { (Factor::read(alpha, yd.kind)?, Factor::read(beta, yd.kind)?) };
        // SAFETY: S11: the caller's memory.
        with(handle, |session| unsafe { forward(session, &activation, blend, (&xd, x), (&yd, y)) })
    }

    fn miopenActivationBackward(
        handle: H, activation: D, alpha: In, yd: T, y: In, dyd: T, dy: In, xd: T, x: In, beta: In, dxd: T, dx: Out,
    ) {
        let activation = activation_of(activation)?;
        let (yd, dyd, xd, dxd) = (tensor_of(yd)?, tensor_of(dyd)?, tensor_of(xd)?, tensor_of(dxd)?);
        all_there(&[dy, x, dx.cast_const()])?;
        // SAFETY: S11: the caller's factors.
        let blend = unsafe { (Factor::read(alpha, dxd.kind)?, Factor::read(beta, dxd.kind)?) };
        // SAFETY: S11: the caller's memory.
        with(handle, |session| unsafe {
            backward(session, &activation, blend, (&yd, y), (&dyd, dy), (&xd, x), (&dxd, dx))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(mode: u32, alpha: f64, beta: f64) -> Outcome<Way> {
        Activation::new(miopenActivationMode_t(mode), alpha, beta, 2.0).unwrap().way()
    }

    #[test]
    fn every_function_has_its_way_or_none() {
        assert_eq!(way(0, 0.0, 0.0), Ok(Way::Identity));
        assert_eq!(way(1, 0.0, 0.0), Ok(Way::Native(Native::CUDNN_ACTIVATION_SIGMOID, 0.0)));
        assert_eq!(way(2, 1.0, 1.0), Ok(Way::Native(Native::CUDNN_ACTIVATION_TANH, 0.0)));
        assert_eq!(way(2, 0.5, 1.0), Ok(Way::Tanh { alpha: 0.5, beta: 1.0 }));
        assert_eq!(way(3, 0.0, 0.0), Ok(Way::Native(Native::CUDNN_ACTIVATION_RELU, 0.0)));
        assert_eq!(way(4, 0.0, 0.0), Err(UNSUPPORTED));
        assert_eq!(way(5, 0.0, 0.0), Ok(Way::Absolute));
        assert_eq!(way(6, 0.0, 0.0), Err(UNSUPPORTED));
        assert_eq!(way(7, 6.0, 0.0), Ok(Way::Native(Native::CUDNN_ACTIVATION_CLIPPED_RELU, 6.0)));
        assert_eq!(way(8, 0.1, 0.0), Ok(Way::Leaky(0.1)));
        assert_eq!(way(9, 0.3, 0.0), Ok(Way::Native(Native::CUDNN_ACTIVATION_ELU, 0.3)));
        assert!(Activation::new(miopenActivationMode_t(10), 0.0, 0.0, 0.0).is_err());
    }

    #[test]
    fn settings_read_back() {
        let mut handle = std::ptr::null_mut();
        let (mut mode, mut alpha, mut beta, mut gamma) = (miopenActivationMode_t(0), 0.0, 0.0, 0.0);
        // SAFETY: S11: live variables.
        unsafe {
            assert_eq!(miopenCreateActivationDescriptor(&mut handle).0, 0);
            assert_eq!(miopenSetActivationDescriptor(handle, miopenActivationMode_t(6), 1.0, 2.0, 3.0).0, 0);
            assert_eq!(miopenSetActivationDescriptor(handle, miopenActivationMode_t(60), 1.0, 2.0, 3.0), BAD);
            assert_eq!(
                miopenGetActivationDescriptor(handle, &mut mode, &mut alpha, &mut beta, &mut gamma).0,
                0
            );
            assert_eq!(miopenDestroyActivationDescriptor(handle).0, 0);
        }
        assert_eq!((mode.0, alpha, beta, gamma), (6, 1.0, 2.0, 3.0));
    }
}
