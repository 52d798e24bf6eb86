//! Running a network on sequences.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::descriptor::{Rnn, rnn_of};
use super::prepared::{Prepared, Way, states};
use super::sequence::{Sequence, sequence_of};
use crate::entry::{all_there, entries};
use crate::handle::{Session, with};
use crate::library::{In, Out, check, cudnn};
use crate::{BAD, Outcome};
use cudarc::cudnn::sys;
use hip_sys::miopen::*;
use std::ptr::null;
use std::sync::Arc;

/// Memory with its size in bytes.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub(super) memory: Out,
    pub(super) size: usize,
}

/// The sequences of a call with their descriptors.
pub(super) struct Ends<'a> {
    pub(super) x: &'a Sequence,
    pub(super) y: &'a Sequence,
}

/// The initial and the final states, which may be null; only an LSTM has cells.
#[derive(Clone, Copy)]
pub(super) struct States<P> {
    pub(super) h: P,
    pub(super) c: P,
}

/// The parts of the workspace: cuDNN's weights come first.
struct Divided {
    prepared: Arc<Prepared>,
    weights: Out,
    rest: Room,
}

impl Rnn {
    fn divide(&self, session: &Session, ends: &Ends<'_>, workspace: Room) -> Outcome<Divided> {
        let outputs = self.shape.hidden * self.shape.directions();
        if usize::try_from(ends.y.vector) != Ok(outputs) || ends.x.lengths != ends.y.lengths {
            return Err(BAD);
        }
        let prepared = self.prepare(session, self.checked_input(ends.x)?, ends.x.is_padded())?;
        let room = prepared.weights_space();
        all_there(&[workspace.memory.cast_const()])?;
        let size = workspace.size.checked_sub(room).ok_or(BAD)?;
        let rest = Room { memory: workspace.memory.wrapping_byte_add(room), size };
        Ok(Divided { prepared, weights: workspace.memory, rest })
    }

    /// # Safety
    /// The memory fits the descriptors.
    #[expect(clippy::too_many_arguments, reason = "they are the C function's")]
    pub(super) unsafe fn forward(
        &self,
        session: &Session,
        mode: sys::cudnnForwardMode_t,
        ends: &Ends<'_>,
        (x, y): (In, Out),
        before: States<In>,
        behind: States<Out>,
        w: In,
        workspace: Room,
        reserve: Room,
    ) -> Outcome {
        all_there(&[x, y.cast_const(), w])?;
        let divided = self.divide(session, ends, workspace)?;
        let states = states(&self.shape, ends.x.batch())?;
        let Divided { prepared, weights, rest } = divided;
        // SAFETY: S11: live descriptors; the memory is the caller's word. A stream runs the calls in this order.
        unsafe {
            prepared.copy(session, &self.shape, w.cast_mut(), weights, Way::ToCudnn)?;
            check((cudnn()?.cudnnRNNForward)(
                session.raw,
                prepared.raw.raw(),
                mode,
                null(),
                ends.x.raw()?,
                x,
                ends.y.raw()?,
                y,
                states.raw(),
                before.h,
                behind.h,
                states.raw(),
                before.c,
                behind.c,
                prepared.weights,
                weights,
                rest.size,
                rest.memory,
                reserve.size,
                reserve.memory,
            ))
        }
    }

    /// # Safety
    /// As [`Rnn::forward`].
    #[expect(clippy::too_many_arguments, reason = "they are the C function's")]
    pub(super) unsafe fn backward_data(
        &self,
        session: &Session,
        ends: &Ends<'_>,
        (y, dy): (In, In),
        dx: Out,
        before: States<In>,
        behind: States<In>,
        gradient: States<Out>,
        w: In,
        workspace: Room,
        reserve: Room,
    ) -> Outcome {
        all_there(&[y, dy, dx.cast_const(), w, reserve.memory.cast_const()])?;
        let divided = self.divide(session, ends, workspace)?;
        let states = states(&self.shape, ends.x.batch())?;
        let Divided { prepared, weights, rest } = divided;
        // SAFETY: S11: as above.
        unsafe {
            prepared.copy(session, &self.shape, w.cast_mut(), weights, Way::ToCudnn)?;
            check((cudnn()?.cudnnRNNBackwardData_v8)(
                session.raw,
                prepared.raw.raw(),
                null(),
                ends.y.raw()?,
                y,
                dy,
                ends.x.raw()?,
                dx,
                states.raw(),
                before.h,
                behind.h,
                gradient.h,
                states.raw(),
                before.c,
                behind.c,
                gradient.c,
                prepared.weights,
                weights,
                rest.size,
                rest.memory,
                reserve.size,
                reserve.memory,
            ))
        }
    }

    /// The gradient replaces the old output, as in MIOpen.
    ///
    /// # Safety
    /// As [`Rnn::forward`].
    pub(super) unsafe fn backward_weights(
        &self,
        session: &Session,
        ends: &Ends<'_>,
        (x, hx, y): (In, In, In),
        dw: Out,
        workspace: Room,
        reserve: Room,
    ) -> Outcome {
        all_there(&[x, y, dw.cast_const(), reserve.memory.cast_const()])?;
        let divided = self.divide(session, ends, workspace)?;
        let states = states(&self.shape, ends.x.batch())?;
        let Divided { prepared, weights, rest } = divided;
        let add = sys::cudnnWgradMode_t::CUDNN_WGRAD_MODE_ADD;
        // SAFETY: S11: as above.
        unsafe {
            prepared.clear(session, weights)?;
            check((cudnn()?.cudnnRNNBackwardWeights_v8)(
                session.raw,
                prepared.raw.raw(),
                add,
                null(),
                ends.x.raw()?,
                x,
                states.raw(),
                hx,
                ends.y.raw()?,
                y,
                prepared.weights,
                weights,
                rest.size,
                rest.memory,
                reserve.size,
                reserve.memory,
            ))?;
            prepared.copy(session, &self.shape, dw, weights, Way::FromCudnn)
        }
    }

    /// Fails if the caller's weights have another size.
    fn expect_weights(&self, x: &Sequence, size: usize) -> Outcome {
        let expected = self.shape.bytes(self.shape.count(self.checked_input(x)?))?;
        if size < expected { Err(BAD) } else { Ok(()) }
    }
}

type H = miopenHandle_t;
type D = miopenRNNDescriptor_t;
type S = miopenSeqTensorDescriptor_t;
type T = miopenTensorDescriptor_t;

entries! {
    fn miopenRNNForward(
        handle: H, rnn: D, mode: miopenRNNFWDMode_t, xd: S, x: In, _hd: T, hx: In, hy: Out, _cd: T, cx: In, cy: Out,
        yd: S, y: Out, w: In, weights: usize, memory: Out, size: usize, reserve: Out, reserve_size: usize,
    ) {
        let (rnn, xd, yd) = (rnn_of(rnn)?, sequence_of(xd)?, sequence_of(yd)?);
        rnn.expect_weights(&xd, weights)?;
        let mode = match mode {
            miopenRNNFWDMode_t::miopenRNNTraining => sys::cudnnForwardMode_t::CUDNN_FWD_MODE_TRAINING,
            miopenRNNFWDMode_t::miopenRNNInference => sys::cudnnForwardMode_t::CUDNN_FWD_MODE_INFERENCE,
            _ => return Err(BAD),
        };
        let (workspace, reserve) = (Room { memory, size }, Room { memory: reserve, size: reserve_size });
        let (before, behind) = (States { h: hx, c: cx }, States { h: hy, c: cy });
        let ends = Ends { x: &xd, y: &yd };
        // SAFETY: S11: the caller's memory.
        with(handle, |session| unsafe {
            rnn.forward(session, mode, &ends, (x, y), before, behind, w, workspace, reserve)
        })
    }

    fn miopenRNNBackwardSeqData(
        handle: H, rnn: D, yd: S, y: In, dy: In, _hd: T, hx: In, dhy: In, dhx: Out, _cd: T, cx: In, dcy: In, dcx: Out,
        xd: S, dx: Out, w: In, weights: usize, memory: Out, size: usize, reserve: Out, reserve_size: usize,
    ) {
        let (rnn, xd, yd) = (rnn_of(rnn)?, sequence_of(xd)?, sequence_of(yd)?);
        rnn.expect_weights(&xd, weights)?;
        let (workspace, reserve) = (Room { memory, size }, Room { memory: reserve, size: reserve_size });
        let (before, behind) = (States { h: hx, c: cx }, States { h: dhy, c: dcy });
        let (ends, gradient) = (Ends { x: &xd, y: &yd }, States { h: dhx, c: dcx });
        // SAFETY: S11: the caller's memory.
        with(handle, |session| unsafe {
            rnn.backward_data(session, &ends, (y, dy), dx, before, behind, gradient, w, workspace, reserve)
        })
    }

    fn miopenRNNBackwardWeightsSeqTensor(
        handle: H, rnn: D, xd: S, x: In, _hd: T, hx: In, yd: S, y: In, dw: Out, weights: usize, memory: Out,
        size: usize, reserve: In, reserve_size: usize,
    ) {
        let (rnn, xd, yd) = (rnn_of(rnn)?, sequence_of(xd)?, sequence_of(yd)?);
        rnn.expect_weights(&xd, weights)?;
        let (workspace, reserve) = (Room { memory, size }, Room { memory: reserve.cast_mut(), size: reserve_size });
        let ends = Ends { x: &xd, y: &yd };
        // SAFETY: S11: the caller's memory.
        with(handle, |session| unsafe {
            rnn.backward_weights(session, &ends, (x, hx, y), dw, workspace, reserve)
        })
    }
}
