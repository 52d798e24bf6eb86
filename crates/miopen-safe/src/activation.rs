//! Descriptors of activations.

use crate::owner::{ActivationObject, Owner};
use crate::raw::activation as raw;
use crate::{Handle, Result};
use hip_sys::miopen::{miopenActivationDescriptor_t, miopenActivationMode_t};
use std::sync::Arc;

/// The function of an activation. Names and parameters are MIOpen's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// `x`.
    PassThrough,
    /// `1 / (1 + e^−x)`.
    Logistic,
    /// `beta · tanh(alpha · x)`.
    Tanh {
        /// The factor of the argument.
        alpha: f64,
        /// The factor of the result.
        beta: f64,
    },
    /// `max(0, x)`.
    Relu,
    /// `ln(1 + e^x)`.
    SoftRelu,
    /// `|x|`.
    Abs,
    /// `(alpha + beta · x)^gamma`. MIOpen's gradient ignores the output's gradient: it is the slope only.
    Power {
        /// The summand.
        alpha: f64,
        /// The factor.
        beta: f64,
        /// The exponent.
        gamma: f64,
    },
    /// `min(alpha, max(0, x))`.
    ClippedRelu {
        /// The largest result.
        alpha: f64,
    },
    /// `x` above 0, else `alpha · x`.
    LeakyRelu {
        /// The factor for negative `x`.
        alpha: f64,
    },
    /// `x` above 0, else `alpha · (e^x − 1)`.
    Elu {
        /// The factor for negative `x`.
        alpha: f64,
    },
}

impl Activation {
    /// C's mode and three parameters.
    pub(crate) fn raw(self) -> (miopenActivationMode_t, [f64; 3]) {
        use miopenActivationMode_t as Mode;
        match self {
            Self::PassThrough => (Mode::miopenActivationPASTHRU, [0.0; 3]),
            Self::Logistic => (Mode::miopenActivationLOGISTIC, [0.0; 3]),
            Self::Tanh { alpha, beta } => (Mode::miopenActivationTANH, [alpha, beta, 0.0]),
            Self::Relu => (Mode::miopenActivationRELU, [0.0; 3]),
            Self::SoftRelu => (Mode::miopenActivationSOFTRELU, [0.0; 3]),
            Self::Abs => (Mode::miopenActivationABS, [0.0; 3]),
            Self::Power { alpha, beta, gamma } => (Mode::miopenActivationPOWER, [alpha, beta, gamma]),
            Self::ClippedRelu { alpha } => (Mode::miopenActivationCLIPPEDRELU, [alpha, 0.0, 0.0]),
            Self::LeakyRelu { alpha } => (Mode::miopenActivationLEAKYRELU, [alpha, 0.0, 0.0]),
            Self::Elu { alpha } => (Mode::miopenActivationELU, [alpha, 0.0, 0.0]),
        }
    }
}

/// An activation's descriptor. Cloning it copies a reference.
#[derive(Debug, Clone)]
#[doc(alias = "miopenActivationDescriptor_t")]
pub struct ActivationDesc {
    object: Arc<Owner<ActivationObject>>,
    activation: Activation,
}

impl ActivationDesc {
    /// Creates the descriptor.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenCreateActivationDescriptor")]
    #[doc(alias = "miopenSetActivationDescriptor")]
    pub fn new(handle: &Handle, activation: Activation) -> Result<Self> {
        let (mode, [alpha, beta, gamma]) = activation.raw();
        let object = Owner::new(handle.platform(), |m, desc| {
            // SAFETY: S1: the descriptor is live.
            unsafe { raw::set_activation_descriptor(m, desc, mode, alpha, beta, gamma) }
        })?;
        Ok(Self { object: Arc::new(object), activation })
    }

    /// Its settings.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// If this is the last reference, destroys it and returns any error.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenDestroyActivationDescriptor")]
    pub fn close(self) -> Result<()> {
        Owner::close_shared(self.object)
    }

    /// The descriptor's object for calls with this handle.
    pub(crate) fn on(&self, handle: &Handle) -> Result<miopenActivationDescriptor_t> {
        self.object.on(handle)
    }
}
