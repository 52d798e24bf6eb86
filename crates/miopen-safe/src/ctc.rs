//! Descriptors of the loss of connectionist temporal classification.

use crate::owner::{CtcObject, Owner};
use crate::raw::ctc as raw;
use crate::{DataType, Handle, Result, convert};
use hip_sys::miopen::miopenCTCLossDescriptor_t;
use std::sync::Arc;

/// What a loss reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CtcLoss {
    /// The class that stands for no label.
    pub blank: usize,
    /// Whether the inputs are to go through a softmax first; else they are logarithms of probabilities already, and the gradients are by the
    /// probabilities.
    pub softmax: bool,
}

impl Default for CtcLoss {
    fn default() -> Self {
        Self { blank: 0, softmax: true }
    }
}

/// A loss' descriptor, for `f32`. Cloning it copies a reference.
#[derive(Debug, Clone)]
#[doc(alias = "miopenCTCLossDescriptor_t")]
pub struct CtcLossDesc {
    object: Arc<Owner<CtcObject>>,
    loss: CtcLoss,
}

impl CtcLossDesc {
    /// Makes it.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge); what the library answers.
    #[doc(alias = "miopenCreateCTCLossDescriptor")]
    #[doc(alias = "miopenSetCTCLossDescriptor")]
    pub fn new(handle: &Handle, loss: CtcLoss) -> Result<Self> {
        let blank = convert::int("the class of no label", loss.blank)?;
        let object = Owner::new(handle.platform(), |m, desc| {
            // SAFETY: S1: the descriptor is live.
            unsafe { raw::set_ctc_loss_descriptor(m, desc, DataType::F32.raw(), blank, loss.softmax) }
        })?;
        Ok(Self { object: Arc::new(object), loss })
    }

    /// What it says.
    pub fn loss(&self) -> CtcLoss {
        self.loss
    }

    /// If this is the last reference, ends it and says how that went.
    ///
    /// # Errors
    /// What the library answers.
    #[doc(alias = "miopenDestroyCTCLossDescriptor")]
    pub fn close(self) -> Result<()> {
        Owner::close_shared(self.object)
    }

    /// The descriptor, for calls with this handle.
    pub(crate) fn on(&self, handle: &Handle) -> Result<miopenCTCLossDescriptor_t> {
        self.object.on(handle)
    }
}
