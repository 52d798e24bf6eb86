//! Descriptors of local response normalisation.

use crate::convert::out;
use crate::owner::{LrnObject, Owner};
use crate::raw::norm as raw;
use crate::{Error, Handle, Result, TensorDesc};
use hip_sys::miopen::{miopenLRNDescriptor_t, miopenLRNMode_t};
use std::ffi::c_uint;
use std::sync::Arc;

crate::convert::c_enum! {
    /// The neighbourhood of an element.
    LrnMode = miopenLRNMode_t {
        /// A square in the same channel.
        WithinChannel = miopenLRNMode_t::miopenLRNWithinChannel,
        /// The same position in neighbouring channels.
        CrossChannel = miopenLRNMode_t::miopenLRNCrossChannel,
    }
}

/// `x / (k + alpha / n · Σ x²)^beta`: the sum over `n` neighbouring channels, or over a square of side `n`, divided by its area.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lrn {
    /// The neighbourhood.
    pub mode: LrnMode,
    /// The size of the neighbourhood, an odd number.
    pub n: u32,
    /// Factor of the sum.
    pub alpha: f64,
    /// Exponent.
    pub beta: f64,
    /// The summand, not 0.
    pub k: f64,
}

/// A local response normalisation's descriptor. Cloning it copies a reference.
#[derive(Debug, Clone)]
#[doc(alias = "miopenLRNDescriptor_t")]
pub struct LrnDesc {
    object: Arc<Owner<LrnObject>>,
    lrn: Lrn,
}

impl LrnDesc {
    /// Creates the descriptor.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an even `n` or a `k` of 0; the library's error.
    #[doc(alias = "miopenCreateLRNDescriptor")]
    #[doc(alias = "miopenSetLRNDescriptor")]
    pub fn new(handle: &Handle, lrn: Lrn) -> Result<Self> {
        if lrn.n.is_multiple_of(2) {
            return Err(Error::invalid("the n of a local response normalisation", lrn.n, "it has to be odd"));
        }
        if lrn.k == 0.0 {
            return Err(Error::invalid(
                "the k of a local response normalisation",
                lrn.k,
                "it has to be another number",
            ));
        }
        let Lrn { mode, n, alpha, beta, k } = lrn;
        let object = Owner::new(handle.platform(), |m, desc| {
            // SAFETY: S1: the descriptor is live.
            unsafe { raw::set_lrn_descriptor(m, desc, mode.raw(), c_uint::from(n), alpha, beta, k) }
        })?;
        Ok(Self { object: Arc::new(object), lrn })
    }

    /// Its settings.
    pub fn lrn(&self) -> Lrn {
        self.lrn
    }

    /// If this is the last reference, destroys it and returns any error.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenDestroyLRNDescriptor")]
    pub fn close(self) -> Result<()> {
        Owner::close_shared(self.object)
    }

    /// The descriptor's object for calls with this handle.
    pub(crate) fn on(&self, handle: &Handle) -> Result<miopenLRNDescriptor_t> {
        self.object.on(handle)
    }

    /// The bytes that a training step keeps for the backward step.
    pub(crate) fn workspace_bytes(&self, y: &TensorDesc, handle: &Handle) -> Result<usize> {
        let y = y.on(handle)?;
        handle.call("the workspace of a normalisation", |m, _| {
            // SAFETY: S1: the descriptor is live, and the out-pointer too.
            out(|bytes| unsafe { raw::lrn_get_workspace_size(m, y, bytes) })
        })
    }
}
