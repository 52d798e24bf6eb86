//! Descriptors of the loss of connectionist temporal classification.

use crate::owner::{CtcObject, Owner};
use crate::raw::ctc as raw;
use crate::{DataType, Handle, Result, convert};
use hip_sys::miopen::miopenCTCLossDescriptor_t;
use std::sync::Arc;

/// The settings of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CtcLoss {
    /// The class of the blank label.
    pub blank: usize,
    /// Whether a softmax is applied to the inputs. Otherwise they are logarithms of probabilities, and the gradients are by the
    /// probabilities.
    pub softmax: bool,
}

impl Default for CtcLoss {
    fn default() -> Self {
        Self { blank: 0, softmax: true }
    }
}

/// The descriptor of a loss, for `f32`. Cloning it copies a reference.
#[derive(Debug, Clone)]
#[doc(alias = "miopenCTCLossDescriptor_t")]
pub struct CtcLossDesc {
    object: Arc<Owner<CtcObject>>,
    loss: CtcLoss,
}

impl CtcLossDesc {
    /// Creates the descriptor.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge); the library's error.
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

    /// Its settings.
    pub fn loss(&self) -> CtcLoss {
        self.loss
    }

    /// If this is the last reference, destroys it and returns any error.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenDestroyCTCLossDescriptor")]
    pub fn close(self) -> Result<()> {
        Owner::close_shared(self.object)
    }

    /// The descriptor's object for calls with this handle.
    pub(crate) fn on(&self, handle: &Handle) -> Result<miopenCTCLossDescriptor_t> {
        self.object.on(handle)
    }
}
