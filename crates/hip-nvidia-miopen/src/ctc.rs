//! The loss of connectionist temporal classification. cuDNN's blank label is 0, and its gradient is by the logits. It has
//! no counterpart to MIOpen's mode
//! without a softmax.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::descriptor::Descriptors;
use super::entry::{all_there, entries, give, offer};
use super::handle::with;
use super::library::{In, Out, check, cudnn};
use super::raw::{Lazy, RawCtc};
use super::tensor::tensor_of;
use super::{BAD, Outcome, UNSUPPORTED};
use cudarc::cudnn::sys;
use hip_sys::miopen::*;
use std::ffi::c_int;
use std::sync::LazyLock;

struct Loss {
    kind: miopenDataType_t,
    blank: c_int,
    softmax: bool,
    raw: Lazy<RawCtc>,
}

static LOSSES: LazyLock<Descriptors<Loss>> = LazyLock::new(|| Descriptors::new(0x5d));
const ALGORITHM: sys::cudnnCTCLossAlgo_t = sys::cudnnCTCLossAlgo_t::CUDNN_CTC_LOSS_ALGO_DETERMINISTIC;

impl Default for Loss {
    fn default() -> Self {
        Self { kind: miopenDataType_t::miopenFloat, blank: 0, softmax: true, raw: Lazy::new() }
    }
}

impl Loss {
    fn raw(&self) -> Outcome<sys::cudnnCTCLossDescriptor_t> {
        if self.blank != 0 || !self.softmax || self.kind != miopenDataType_t::miopenFloat {
            return Err(UNSUPPORTED);
        }
        let make = || {
            RawCtc::new(|library, raw| {
                // SAFETY: S1: a new descriptor.
                check(unsafe {
                    (library.cudnnSetCTCLossDescriptorEx)(
                        raw,
                        sys::cudnnDataType_t::CUDNN_DATA_FLOAT,
                        sys::cudnnLossNormalizationMode_t::CUDNN_LOSS_NORMALIZATION_SOFTMAX,
                        sys::cudnnNanPropagation_t::CUDNN_NOT_PROPAGATE_NAN,
                    )
                })
            })
        };
        self.raw.get(make).map(RawCtc::raw)
    }
}

fn known(algorithm: miopenCTCLossAlgo_t) -> Outcome {
    if algorithm == miopenCTCLossAlgo_t::MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC { Ok(()) } else { Err(BAD) }
}

type H = miopenHandle_t;
type T = miopenTensorDescriptor_t;
type D = miopenCTCLossDescriptor_t;
type List = *const c_int;

entries! {
    fn miopenCreateCTCLossDescriptor(out: *mut D) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { LOSSES.create(out) }
    }

    fn miopenDestroyCTCLossDescriptor(handle: D) {
        LOSSES.destroy(handle)
    }

    fn miopenSetCTCLossDescriptor(handle: D, kind: miopenDataType_t, blank: c_int, softmax: bool) {
        if kind != miopenDataType_t::miopenFloat || blank < 0 {
            return Err(BAD);
        }
        LOSSES.set(handle, Loss { kind, blank, softmax, raw: Lazy::new() })
    }

    /// Each pointer may be null.
    fn miopenGetCTCLossDescriptor(handle: D, kind: *mut miopenDataType_t, blank: *mut c_int, softmax: *mut bool) {
        let loss = LOSSES.get(handle)?;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            offer(kind, loss.kind);
            offer(blank, loss.blank);
            offer(softmax, loss.softmax);
        }
        Ok(())
    }

    fn miopenGetCTCLossWorkspaceSize(
        handle: H, probabilities: T, gradients: T, labels: List, label_lengths: List, input_lengths: List,
        algorithm: miopenCTCLossAlgo_t, loss: D, out: *mut usize,
    ) {
        let (probabilities, gradients) = (tensor_of(probabilities)?, tensor_of(gradients)?);
        let loss = LOSSES.get(loss)?;
        known(algorithm)?;
        all_there(&[labels, label_lengths, input_lengths])?;
        let (raw, p_raw, g_raw) = (loss.raw()?, probabilities.exact()?, gradients.exact()?);
        let mut size = 0;
        with(handle, |session| {
            // SAFETY: S11: live descriptors, the caller's lists on the host, and a live variable.
            check(unsafe {
                (cudnn()?.cudnnGetCTCLossWorkspaceSize)(
                    session.raw, p_raw, g_raw, labels, label_lengths, input_lengths, ALGORITHM, raw, &mut size,
                )
            })
        })?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, size) }
    }

    fn miopenCTCLoss(
        handle: H, pd: T, probabilities: In, labels: List, label_lengths: List, input_lengths: List, losses: Out,
        gd: T, gradients: Out, algorithm: miopenCTCLossAlgo_t, loss: D, memory: Out, size: usize,
    ) {
        let (pd, gd, loss) = (tensor_of(pd)?, tensor_of(gd)?, LOSSES.get(loss)?);
        known(algorithm)?;
        all_there(&[labels, label_lengths, input_lengths])?;
        all_there(&[probabilities, losses.cast_const(), gradients.cast_const()])?;
        let (raw, p_raw, g_raw) = (loss.raw()?, pd.exact()?, gd.exact()?);
        with(handle, |session| {
            // SAFETY: S11: live descriptors, the caller's lists on the host and memory on the device.
            check(unsafe {
                (cudnn()?.cudnnCTCLoss)(
                    session.raw, p_raw, probabilities, labels, label_lengths, input_lengths, losses, g_raw, gradients,
                    ALGORITHM, raw, memory, size,
                )
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_that_cudnn_cannot_compute_are_refused() {
        let mut handle = std::ptr::null_mut();
        let (mut kind, mut blank, mut softmax) = (miopenDataType_t(9), 9, true);
        let float = miopenDataType_t::miopenFloat;
        // SAFETY: S11: live variables.
        unsafe {
            assert_eq!(miopenCreateCTCLossDescriptor(&mut handle).0, 0);
            assert_eq!(miopenSetCTCLossDescriptor(handle, miopenDataType_t::miopenHalf, 0, true), BAD);
            assert_eq!(miopenSetCTCLossDescriptor(handle, float, 2, false).0, 0);
            assert_eq!(miopenGetCTCLossDescriptor(handle, &mut kind, &mut blank, &mut softmax).0, 0);
            assert_eq!(LOSSES.get(handle).unwrap().raw(), Err(UNSUPPORTED));
            assert_eq!(miopenDestroyCTCLossDescriptor(handle).0, 0);
        }
        assert_eq!((kind, blank, softmax), (float, 2, false));
    }
}
