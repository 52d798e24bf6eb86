//! Running a network on time steps, each with a descriptor of its own.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::descriptor::{Rnn, rnn_of};
use super::run::{Ends, Room, States};
use super::sequence::Sequence;
use crate::entry::{entries, list};
use crate::handle::with;
use crate::library::{In, Out};
use crate::tensor::{Tensor, tensor_of};
use crate::{BAD, Outcome};
use cudarc::cudnn::sys::cudnnForwardMode_t as Mode;
use hip_sys::miopen::*;
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Arc;

/// The tensors of the steps.
///
/// # Safety
/// The list is null or has that many descriptors.
pub(super) unsafe fn steps_of(
    steps: *const miopenTensorDescriptor_t,
    count: c_int,
) -> Outcome<Vec<Arc<Tensor>>> {
    let count = usize::try_from(count).map_err(|_| BAD)?;
    // SAFETY: S11: the caller's list.
    unsafe { list(steps, count) }?.into_iter().map(tensor_of).collect()
}

/// The sequences of two lists of steps.
///
/// # Safety
/// As [`steps_of`].
unsafe fn ends(rnn: &Rnn, count: c_int, x: *const T, y: *const T) -> Outcome<(Sequence, Sequence)> {
    let padded = rnn.shape.padded;
    // SAFETY: S11: the caller's lists.
    let (x, y) = unsafe { (steps_of(x, count)?, steps_of(y, count)?) };
    Ok((Sequence::of_steps(&x, padded)?, Sequence::of_steps(&y, padded)?))
}

type H = miopenHandle_t;
type D = miopenRNNDescriptor_t;
type T = miopenTensorDescriptor_t;

entries! {
    fn miopenRNNForwardInference(
        handle: H, rnn: D, count: c_int, xd: *const T, x: In, _hxd: T, hx: In, _cxd: T, cx: In, _wd: T, w: In,
        yd: *const T, y: Out, _hyd: T, hy: Out, _cyd: T, cy: Out, memory: Out, size: usize,
    ) {
        let rnn = rnn_of(rnn)?;
        // SAFETY: S11: the caller's lists.
        let (xs, ys) = unsafe { ends(&rnn, count, xd, yd) }?;
        let (workspace, reserve) = (Room { memory, size }, Room { memory: null_mut(), size: 0 });
        let (before, behind) = (States { h: hx, c: cx }, States { h: hy, c: cy });
        let (mode, ends) = (Mode::CUDNN_FWD_MODE_INFERENCE, Ends { x: &xs, y: &ys });
        // SAFETY: S11: the caller's memory.
        with(handle, |session| unsafe {
            rnn.forward(session, mode, &ends, (x, y), before, behind, w, workspace, reserve)
        })
    }

    fn miopenRNNForwardTraining(
        handle: H, rnn: D, count: c_int, xd: *const T, x: In, _hxd: T, hx: In, _cxd: T, cx: In, _wd: T, w: In,
        yd: *const T, y: Out, _hyd: T, hy: Out, _cyd: T, cy: Out, memory: Out, size: usize, reserve: Out,
        reserve_size: usize,
    ) {
        let rnn = rnn_of(rnn)?;
        // SAFETY: S11: the caller's lists.
        let (xs, ys) = unsafe { ends(&rnn, count, xd, yd) }?;
        let (workspace, reserve) = (Room { memory, size }, Room { memory: reserve, size: reserve_size });
        let (before, behind) = (States { h: hx, c: cx }, States { h: hy, c: cy });
        let (mode, ends) = (Mode::CUDNN_FWD_MODE_TRAINING, Ends { x: &xs, y: &ys });
        // SAFETY: S11: the caller's memory.
        with(handle, |session| unsafe {
            rnn.forward(session, mode, &ends, (x, y), before, behind, w, workspace, reserve)
        })
    }

    fn miopenRNNBackwardData(
        handle: H, rnn: D, count: c_int, yd: *const T, y: In, _dyd: *const T, dy: In, _dhyd: T, dhy: In, _dcyd: T,
        dcy: In, _wd: T, w: In, _hxd: T, hx: In, _cxd: T, cx: In, dxd: *const T, dx: Out, _dhxd: T, dhx: Out,
        _dcxd: T, dcx: Out, memory: Out, size: usize, reserve: Out, reserve_size: usize,
    ) {
        let rnn = rnn_of(rnn)?;
        // SAFETY: S11: the caller's lists.
        let (xs, ys) = unsafe { ends(&rnn, count, dxd, yd) }?;
        let (workspace, reserve) = (Room { memory, size }, Room { memory: reserve, size: reserve_size });
        let (before, behind) = (States { h: hx, c: cx }, States { h: dhy, c: dcy });
        let (ends, gradient) = (Ends { x: &xs, y: &ys }, States { h: dhx, c: dcx });
        // SAFETY: S11: the caller's memory.
        with(handle, |session| unsafe {
            rnn.backward_data(session, &ends, (y, dy), dx, before, behind, gradient, w, workspace, reserve)
        })
    }

    fn miopenRNNBackwardWeights(
        handle: H, rnn: D, count: c_int, xd: *const T, x: In, _hxd: T, hx: In, yd: *const T, y: In, _dwd: T, dw: Out,
        memory: Out, size: usize, reserve: In, reserve_size: usize,
    ) {
        let rnn = rnn_of(rnn)?;
        // SAFETY: S11: the caller's lists.
        let (xs, ys) = unsafe { ends(&rnn, count, xd, yd) }?;
        let (workspace, reserve) = (Room { memory, size }, Room { memory: reserve.cast_mut(), size: reserve_size });
        let ends = Ends { x: &xs, y: &ys };
        // SAFETY: S11: the caller's memory.
        with(handle, |session| unsafe {
            rnn.backward_weights(session, &ends, (x, hx, y), dw, workspace, reserve)
        })
    }
}
