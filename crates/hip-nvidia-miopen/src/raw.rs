//! cuDNN's descriptors, owned: set once after creation, and destroyed by their owner.

use super::library::{Code, Cudnn, check, cudnn};
use super::{Outcome, Status};
use cudarc::cudnn::sys;
use std::ptr::null_mut;
use std::sync::OnceLock;

macro_rules! owned {
    ($($name:ident($raw:ty): $create:ident, $destroy:ident;)*) => {$(
        pub(super) struct $name($raw);

        // SAFETY: S8: set before anybody else sees it, and only read from then on; cuDNN ties it to no thread.
        unsafe impl Send for $name {}
        // SAFETY: S8: as above.
        unsafe impl Sync for $name {}

        impl $name {
            /// A descriptor that `set` has set.
            pub(super) fn new(set: impl FnOnce(&'static Cudnn, $raw) -> Outcome) -> Outcome<Self> {
                let library = cudnn()?;
                let mut raw = null_mut();
                // SAFETY: S1: a live variable for the result.
                check(unsafe { (library.$create)(&mut raw) })?;
                let made = Self(raw);
                set(library, raw)?;
                Ok(made)
            }

            pub(super) fn raw(&self) -> $raw {
                self.0
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                if let Ok(library) = cudnn() {
                    // SAFETY: S4: the only owner ends. Calls that were made with it have read it already.
                    let _: Code = unsafe { (library.$destroy)(self.0) };
                }
            }
        }
    )*};
}

owned! {
    RawTensor(sys::cudnnTensorDescriptor_t): cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor;
    RawFilter(sys::cudnnFilterDescriptor_t): cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor;
    RawConvolution(sys::cudnnConvolutionDescriptor_t): cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor;
    RawActivation(sys::cudnnActivationDescriptor_t): cudnnCreateActivationDescriptor, cudnnDestroyActivationDescriptor;
    RawPooling(sys::cudnnPoolingDescriptor_t): cudnnCreatePoolingDescriptor, cudnnDestroyPoolingDescriptor;
    RawOp(sys::cudnnOpTensorDescriptor_t): cudnnCreateOpTensorDescriptor, cudnnDestroyOpTensorDescriptor;
    RawLrn(sys::cudnnLRNDescriptor_t): cudnnCreateLRNDescriptor, cudnnDestroyLRNDescriptor;
    RawReduction(sys::cudnnReduceTensorDescriptor_t): cudnnCreateReduceTensorDescriptor, cudnnDestroyReduceTensorDescriptor;
    RawDropout(sys::cudnnDropoutDescriptor_t): cudnnCreateDropoutDescriptor, cudnnDestroyDropoutDescriptor;
    RawCtc(sys::cudnnCTCLossDescriptor_t): cudnnCreateCTCLossDescriptor, cudnnDestroyCTCLossDescriptor;
    RawRnn(sys::cudnnRNNDescriptor_t): cudnnCreateRNNDescriptor, cudnnDestroyRNNDescriptor;
    RawSequence(sys::cudnnRNNDataDescriptor_t): cudnnCreateRNNDataDescriptor, cudnnDestroyRNNDataDescriptor;
}

/// A descriptor of cuDNN that is created at its first use. If that fails, it fails again later.
pub(super) struct Lazy<T>(OnceLock<Result<T, Status>>);

impl<T> Lazy<T> {
    pub(super) const fn new() -> Self {
        Self(OnceLock::new())
    }

    pub(super) fn get(&self, make: impl FnOnce() -> Outcome<T>) -> Outcome<&T> {
        self.0.get_or_init(make).as_ref().map_err(|status| *status)
    }
}

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self::new()
    }
}
