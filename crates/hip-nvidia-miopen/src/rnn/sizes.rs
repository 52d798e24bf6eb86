//! How much memory a network needs.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::descriptor::{Rnn, rnn_of};
use super::sequence::{Sequence, sequence_of};
use super::steps::steps_of;
use crate::entry::{entries, give, offer};
use crate::handle::{Session, with};
use crate::library::{check, cudnn};
use crate::{BAD, Outcome};
use cudarc::cudnn::sys::cudnnForwardMode_t as Mode;
use hip_sys::miopen::*;
use std::ffi::c_int;

/// The sizes of the workspace, with cuDNN's weights, and of the reserve space.
fn sizes(session: &Session, rnn: &Rnn, x: &Sequence, mode: Mode) -> Outcome<(usize, usize)> {
    let prepared = rnn.prepare(session, rnn.checked_input(x)?, x.is_padded())?;
    let (mut workspace, mut reserve) = (0, 0);
    // SAFETY: S1: live descriptors and live variables.
    check(unsafe {
        (cudnn()?.cudnnGetRNNTempSpaceSizes)(
            session.raw,
            prepared.raw.raw(),
            mode,
            x.raw()?,
            &mut workspace,
            &mut reserve,
        )
    })?;
    Ok((prepared.weights_space() + workspace, reserve))
}

impl Rnn {
    /// The length of the input's vectors, if they fit this network.
    pub(super) fn checked_input(&self, x: &Sequence) -> Outcome<usize> {
        let input = usize::try_from(x.vector).map_err(|_| BAD)?;
        let shape = &self.shape;
        if x.kind != shape.kind || shape.skip && input != shape.hidden { Err(BAD) } else { Ok(input) }
    }
}

type H = miopenHandle_t;
type D = miopenRNNDescriptor_t;
type T = miopenTensorDescriptor_t;

entries! {
    /// Enough for training and for inference.
    fn miopenGetRNNWorkspaceSize(handle: H, rnn: D, count: c_int, x: *const T, out: *mut usize) {
        let rnn = rnn_of(rnn)?;
        // SAFETY: S11: the caller's list.
        let x = Sequence::of_steps(&unsafe { steps_of(x, count) }?, rnn.shape.padded)?;
        let size = with(handle, |session| {
            let (training, _) = sizes(session, &rnn, &x, Mode::CUDNN_FWD_MODE_TRAINING)?;
            let (inference, _) = sizes(session, &rnn, &x, Mode::CUDNN_FWD_MODE_INFERENCE)?;
            Ok(training.max(inference))
        })?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, size) }
    }

    fn miopenGetRNNTrainingReserveSize(handle: H, rnn: D, count: c_int, x: *const T, out: *mut usize) {
        let rnn = rnn_of(rnn)?;
        // SAFETY: S11: the caller's list.
        let x = Sequence::of_steps(&unsafe { steps_of(x, count) }?, rnn.shape.padded)?;
        let (_, reserve) = with(handle, |session| sizes(session, &rnn, &x, Mode::CUDNN_FWD_MODE_TRAINING))?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, reserve) }
    }

    /// Each pointer may be null. Inference has no reserve space.
    fn miopenGetRNNTempSpaceSizes(
        handle: H, rnn: D, x: miopenSeqTensorDescriptor_t, mode: miopenRNNFWDMode_t, workspace: *mut usize,
        reserve: *mut usize,
    ) {
        let (rnn, x) = (rnn_of(rnn)?, sequence_of(x)?);
        let training = mode == miopenRNNFWDMode_t::miopenRNNTraining;
        let mode = if training { Mode::CUDNN_FWD_MODE_TRAINING } else { Mode::CUDNN_FWD_MODE_INFERENCE };
        let (work, kept) = with(handle, |session| sizes(session, &rnn, &x, mode))?;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            offer(workspace, work);
            offer(reserve, if training { kept } else { 0 });
        }
        Ok(())
    }

    fn miopenGetRNNInputTensorSize(_handle: H, rnn: D, count: c_int, x: *mut T, out: *mut usize) {
        let rnn = rnn_of(rnn)?;
        // SAFETY: S11: the caller's list.
        let x = Sequence::of_steps(&unsafe { steps_of(x, count) }?, rnn.shape.padded)?;
        let vectors = if rnn.shape.padded { x.longest() * x.batch() } else { x.vectors() };
        let elements = vectors.checked_mul(rnn.checked_input(&x)?).ok_or(BAD)?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, rnn.shape.bytes(elements)?) }
    }

    fn miopenGetRNNHiddenTensorSize(_handle: H, rnn: D, count: c_int, x: *mut T, out: *mut usize) {
        let rnn = rnn_of(rnn)?;
        // SAFETY: S11: the caller's list.
        let x = Sequence::of_steps(&unsafe { steps_of(x, count) }?, rnn.shape.padded)?;
        let elements = x.batch() * rnn.shape.hidden * rnn.shape.pseudo_layers();
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, rnn.shape.bytes(elements)?) }
    }
}
