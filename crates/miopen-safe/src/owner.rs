//! Objects of the library: each has one owner and is destroyed once.

use crate::raw::{self, Failure};
use crate::{Error, Handle, Result};
use hip_safe::{Platform, report_drop_error};
use hip_sys::Miopen;
use hip_sys::miopen::*;
use std::fmt;
use std::ptr::null_mut;
use std::sync::Arc;

/// A kind of object.
pub(crate) trait Object {
    /// The type that C's handle points to.
    type Raw;
    /// Its name in messages.
    const NAME: &'static str;

    /// Destroys an object.
    ///
    /// # Safety
    /// The object is live, and nothing uses it.
    unsafe fn destroy(library: &Miopen, object: *mut Self::Raw) -> Result<(), Failure>;
}

/// A kind of object that is created empty and set up afterwards.
pub(crate) trait Plain: Object {
    /// Creates an object.
    ///
    /// # Safety
    /// The pointer is writable.
    unsafe fn create(library: &Miopen, object: *mut *mut Self::Raw) -> Result<(), Failure>;
}

/// An object of one platform's library. Its creator sets it up; then it is only read, unless somebody who borrows it exclusively
/// writes it.
pub(crate) struct Owner<O: Object> {
    platform: Arc<Platform>,
    raw: *mut O::Raw,
}

// SAFETY: S24: the library's objects belong to no thread.
unsafe impl<O: Object> Send for Owner<O> {}
// SAFETY: S24: through a shared reference the object is only read.
unsafe impl<O: Object> Sync for Owner<O> {}

/// The library of a platform.
pub(crate) fn library(platform: &Platform) -> Result<&Miopen, Failure> {
    crate::library(platform).map_err(|error| Failure::NoLibrary(error.clone()))
}

impl<O: Plain> Owner<O> {
    /// Creates an object and sets it up.
    pub(crate) fn new(
        platform: &Arc<Platform>,
        set_up: impl FnOnce(&Miopen, *mut O::Raw) -> Result<(), Failure>,
    ) -> Result<Self> {
        let made = library(platform).and_then(|library| {
            let mut raw = null_mut();
            // SAFETY: S1: the out-pointer is live.
            unsafe { O::create(library, &mut raw) }?;
            let owner = Self { platform: Arc::clone(platform), raw };
            set_up(library, raw)?;
            Ok(owner)
        });
        made.map_err(|failure| Error::of(failure, O::NAME))
    }
}

impl<O: Object> Owner<O> {
    /// Takes over an object that the library created.
    pub(crate) fn of(platform: &Arc<Platform>, raw: *mut O::Raw) -> Self {
        Self { platform: Arc::clone(platform), raw }
    }

    pub(crate) fn raw(&self) -> *mut O::Raw {
        self.raw
    }

    /// Queries the library about the object.
    pub(crate) fn ask<R>(&self, ask: impl FnOnce(&Miopen, *mut O::Raw) -> Result<R, Failure>) -> Result<R> {
        let answer = library(&self.platform).and_then(|library| ask(library, self.raw));
        answer.map_err(|failure| Error::of(failure, O::NAME))
    }

    /// The object, for calls with this handle.
    pub(crate) fn on(&self, handle: &Handle) -> Result<*mut O::Raw> {
        if Arc::ptr_eq(&self.platform, handle.platform()) {
            Ok(self.raw)
        } else {
            Err(Error::OtherPlatform { what: O::NAME })
        }
    }

    /// Destroys it and returns any error.
    pub(crate) fn close(mut self) -> Result<()> {
        self.end()
    }

    /// As [`Owner::close`] for the last of several that share it; the others do nothing.
    pub(crate) fn close_shared(shared: Arc<Self>) -> Result<()> {
        Arc::into_inner(shared).map_or(Ok(()), Self::close)
    }

    fn end(&mut self) -> Result<()> {
        let raw = std::mem::replace(&mut self.raw, null_mut());
        if raw.is_null() || hip_sys::exiting() {
            return Ok(());
        }
        // SAFETY: S4: this was its only owner, and calls that took it have returned.
        let ended = library(&self.platform).and_then(|library| unsafe { O::destroy(library, raw) });
        ended.map_err(|failure| Error::of(failure, O::NAME))
    }
}

impl<O: Object> Drop for Owner<O> {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            report_drop_error(&error.into_drop_error(&format!("dropping {}", O::NAME)));
        }
    }
}

impl<O: Object> fmt::Debug for Owner<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:p}", O::NAME, self.raw)
    }
}

macro_rules! objects {
    ($($kind:ident, $raw:ident, $name:literal, $create:path, $destroy:path;)*) => {$(
        pub(crate) struct $kind;

        impl Object for $kind {
            type Raw = $raw;
            const NAME: &'static str = $name;

            unsafe fn destroy(library: &Miopen, object: *mut $raw) -> Result<(), Failure> {
                // SAFETY: S1, S4: the caller's object lives and is not used.
                unsafe { $destroy(library, object) }
            }
        }

        impl Plain for $kind {
            unsafe fn create(library: &Miopen, object: *mut *mut $raw) -> Result<(), Failure> {
                // SAFETY: S1: the caller's pointer is writable.
                unsafe { $create(library, object) }
            }
        }
    )*};
}

objects! {
    TensorObject, miopenTensorDescriptor, "a tensor descriptor",
        raw::tensor::create_tensor_descriptor, raw::tensor::destroy_tensor_descriptor;
    ConvolutionObject, miopenConvolutionDescriptor, "a convolution descriptor",
        raw::convolution::create_convolution_descriptor, raw::convolution::destroy_convolution_descriptor;
    PoolingObject, miopenPoolingDescriptor, "a pooling descriptor",
        raw::pooling::create_pooling_descriptor, raw::pooling::destroy_pooling_descriptor;
    ActivationObject, miopenActivationDescriptor, "an activation descriptor",
        raw::activation::create_activation_descriptor, raw::activation::destroy_activation_descriptor;
    LrnObject, miopenLRNDescriptor, "an LRN descriptor",
        raw::norm::create_lrn_descriptor, raw::norm::destroy_lrn_descriptor;
    DropoutObject, miopenDropoutDescriptor, "a dropout descriptor",
        raw::dropout::create_dropout_descriptor, raw::dropout::destroy_dropout_descriptor;
    ReduceObject, miopenReduceTensorDescriptor, "a reduction descriptor",
        raw::reduce::create_reduce_tensor_descriptor, raw::reduce::destroy_reduce_tensor_descriptor;
    RnnObject, miopenRNNDescriptor, "an RNN descriptor",
        raw::rnn::create_rnn_descriptor, raw::rnn::destroy_rnn_descriptor;
    CtcObject, miopenCTCLossDescriptor, "a CTC loss descriptor",
        raw::ctc::create_ctc_loss_descriptor, raw::ctc::destroy_ctc_loss_descriptor;
    OptionsObject, miopenFindOptions, "the options of a search",
        raw::find::create_find_options, raw::find::destroy_find_options;
    ArgsObject, miopenOperatorArgs, "the arguments of a fusion plan",
        raw::fusion::create_operator_args, raw::fusion::destroy_operator_args;
}

/// A fusion plan, which is created for a tensor.
pub(crate) struct FusionObject;

impl Object for FusionObject {
    type Raw = miopenFusionPlanDescriptor;
    const NAME: &'static str = "a fusion plan";

    unsafe fn destroy(library: &Miopen, object: *mut miopenFusionPlanDescriptor) -> Result<(), Failure> {
        // SAFETY: S1, S4: the caller's object lives and is not used.
        unsafe { raw::fusion::destroy_fusion_plan(library, object) }
    }
}

/// A problem, which is created for an operation.
pub(crate) struct ProblemObject;

impl Object for ProblemObject {
    type Raw = miopenProblem;
    const NAME: &'static str = "a problem";

    unsafe fn destroy(library: &Miopen, object: *mut miopenProblem) -> Result<(), Failure> {
        // SAFETY: S1, S4: the caller's object lives and is not used.
        unsafe { raw::find::destroy_problem(library, object) }
    }
}

/// A solution, which is found for a problem.
pub(crate) struct SolutionObject;

impl Object for SolutionObject {
    type Raw = miopenSolution;
    const NAME: &'static str = "a solution";

    unsafe fn destroy(library: &Miopen, object: *mut miopenSolution) -> Result<(), Failure> {
        // SAFETY: S1, S4: the caller's object lives and is not used.
        unsafe { raw::find::destroy_solution(library, object) }
    }
}
