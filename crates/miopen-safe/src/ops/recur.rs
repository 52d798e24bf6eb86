//! Recurrent networks: inference, training, and the gradients.

use crate::convert::{self, out};
use crate::raw::rnn as raw;
use crate::work::{Scratch, Work};
use crate::{Element, Error, Handle, Result, RnnDesc, RnnSequence};
use hip_safe::{DeviceView, DeviceViewMut};
use std::ptr::{null, null_mut};

/// The initial states of a network; missing ones are zero. `c` is the cell state, which only an LSTM has.
#[derive(Debug, Clone, Copy)]
pub struct RnnStates<'a, T: Element> {
    /// Hidden states, `[layers · directions, batch, hidden]`.
    pub h: Option<DeviceView<'a, T>>,
    /// Cell states, in the same shape.
    pub c: Option<DeviceView<'a, T>>,
}

/// The final states that a network writes; missing ones are not written.
#[derive(Debug)]
pub struct RnnStatesMut<'a, T: Element> {
    /// Hidden states, `[layers · directions, batch, hidden]`.
    pub h: Option<DeviceViewMut<'a, T>>,
    /// Cell states, in the same shape.
    pub c: Option<DeviceViewMut<'a, T>>,
}

impl<T: Element> Default for RnnStates<'_, T> {
    fn default() -> Self {
        Self { h: None, c: None }
    }
}

impl<T: Element> Default for RnnStatesMut<'_, T> {
    fn default() -> Self {
        Self { h: None, c: None }
    }
}

/// The values that a training step keeps for the gradients: first that of the data, once, then those of the weights.
pub struct RnnTraining {
    workspace: Scratch,
    reserve: Scratch,
    workspace_bytes: usize,
    reserve_bytes: usize,
    sequence: RnnSequence,
    /// The network that was trained.
    network: u64,
    backward: Backward,
}

/// Whether the gradient of the data was computed, which that of the weights needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backward {
    No,
    /// It was submitted. It overwrites the kept values, so they cannot serve another gradient.
    Begun,
    Done,
}

impl RnnTraining {
    /// Refuses another network than the trained one, and a wrong stage.
    fn check(&self, network: &RnnDesc, wanted: Backward, remedy: &'static str) -> Result<()> {
        if self.network != network.id() {
            let (wanted, found) = ("the one that was trained", "another");
            return Err(Error::mismatch("the network of a training step", wanted, found));
        }
        if self.backward != wanted {
            let what = "the gradient of the data, of a training step";
            return Err(Error::invalid(what, self.backward, remedy));
        }
        Ok(())
    }
}

impl Handle {
    /// Runs the network on `x` with the parameters `w`. The outputs of the last layer go to `y`, the final states to `last`. Shapes are
    /// those of [`RnnSequence`].
    ///
    /// # Errors
    /// [`Error::Mismatch`] for other lengths; the error of memory, stream or library.
    #[doc(alias = "miopenRNNForwardInference")]
    #[doc(alias = "miopenGetRNNWorkspaceSize")]
    #[allow(clippy::too_many_arguments)]
    pub fn rnn_inference<T: Element>(
        &self,
        network: &RnnDesc,
        sequence: &RnnSequence,
        w: &DeviceView<'_, T>,
        x: &DeviceView<'_, T>,
        first: &RnnStates<'_, T>,
        y: &mut DeviceViewMut<'_, T>,
        last: &mut RnnStatesMut<'_, T>,
    ) -> Result<()> {
        check::<T>(
            network,
            sequence,
            &[(w.len(), Part::Params), (x.len(), Part::Input), (y.len(), Part::Output)],
        )?;
        check_states(sequence, first)?;
        check_states_mut(sequence, last)?;
        let bytes = self.rnn_workspace(network, sequence)?;
        let desc = network.on(self)?;
        let ([x_descs, y_descs], [s_desc, w_desc]) = (sequence.each_time(self)?, sequence.whole(self)?);
        let times = convert::int("the number of times", x_descs.len())?;
        let mut scratch = Scratch::new(self, bytes)?;
        let mut work = spread(self, "a recurrent network");
        let (w, x, y) = (work.read_slice(w), work.read_slice(x), work.write_slice(y));
        let hx = first.h.as_ref().map_or(null(), |h| work.read_slice(h));
        let cx = first.c.as_ref().map_or(null(), |c| work.read_slice(c));
        let hy = last.h.as_mut().map_or(null_mut(), |h| work.write_slice(h));
        let cy = last.c.as_mut().map_or(null_mut(), |c| work.write_slice(c));
        let space = work.scratch(&mut scratch);
        // SAFETY: S1, S2: the descriptors say how long the memory is that is named; there is one for each time; the workspace has the
        // bytes asked for.
        work.run(|m, h| unsafe {
            raw::rnn_forward_inference(
                m,
                h,
                desc,
                times,
                x_descs.as_ptr(),
                x,
                s_desc,
                hx,
                s_desc,
                cx,
                w_desc,
                w,
                y_descs.as_ptr(),
                y,
                s_desc,
                hy,
                s_desc,
                cy,
                space,
                bytes,
            )
        })
    }

    /// As [`Handle::rnn_inference`], keeping what the gradients need. Between layers it drops out, if the network says so.
    ///
    /// # Errors
    /// As [`Handle::rnn_inference`].
    #[doc(alias = "miopenRNNForwardTraining")]
    #[doc(alias = "miopenGetRNNTrainingReserveSize")]
    #[allow(clippy::too_many_arguments)]
    pub fn rnn_training<T: Element>(
        &self,
        network: &mut RnnDesc,
        sequence: &RnnSequence,
        w: &DeviceView<'_, T>,
        x: &DeviceView<'_, T>,
        first: &RnnStates<'_, T>,
        y: &mut DeviceViewMut<'_, T>,
        last: &mut RnnStatesMut<'_, T>,
    ) -> Result<RnnTraining> {
        check::<T>(
            network,
            sequence,
            &[(w.len(), Part::Params), (x.len(), Part::Input), (y.len(), Part::Output)],
        )?;
        check_states(sequence, first)?;
        check_states_mut(sequence, last)?;
        let desc = network.on(self)?;
        let ([x_descs, y_descs], [s_desc, w_desc]) = (sequence.each_time(self)?, sequence.whole(self)?);
        let times = convert::int("the number of times", x_descs.len())?;
        let workspace_bytes = self.rnn_workspace(network, sequence)?;
        let reserve_bytes = self.call("what a network keeps", |m, h| {
            // SAFETY: S1: handle and descriptors are live, one for each time, and the out-pointer too.
            out(|bytes| unsafe {
                raw::get_rnn_training_reserve_size(m, h, desc, times, x_descs.as_ptr(), bytes)
            })
        })?;
        let mut kept = RnnTraining {
            workspace: Scratch::new(self, workspace_bytes)?,
            reserve: Scratch::new(self, reserve_bytes)?,
            workspace_bytes,
            reserve_bytes,
            sequence: sequence.clone(),
            network: network.id(),
            backward: Backward::No,
        };
        let mut work = spread(self, "a recurrent network");
        let (w, x, y) = (work.read_slice(w), work.read_slice(x), work.write_slice(y));
        let hx = first.h.as_ref().map_or(null(), |h| work.read_slice(h));
        let cx = first.c.as_ref().map_or(null(), |c| work.read_slice(c));
        let hy = last.h.as_mut().map_or(null_mut(), |h| work.write_slice(h));
        let cy = last.c.as_mut().map_or(null_mut(), |c| work.write_slice(c));
        let (space, reserve) = (work.scratch(&mut kept.workspace), work.scratch(&mut kept.reserve));
        if let Some(dropout) = network.dropout() {
            work.scratch(dropout.states());
        }
        // SAFETY: S1, S2: as in inference; the generators of a dropout are named.
        work.run(|m, h| unsafe {
            raw::rnn_forward_training(
                m,
                h,
                desc,
                times,
                x_descs.as_ptr(),
                x,
                s_desc,
                hx,
                s_desc,
                cx,
                w_desc,
                w,
                y_descs.as_ptr(),
                y,
                s_desc,
                hy,
                s_desc,
                cy,
                space,
                workspace_bytes,
                reserve,
                reserve_bytes,
            )
        })?;
        Ok(kept)
    }

    /// The gradients of input and initial states, from those of outputs and final states. It overwrites the kept values, so there is one
    /// for each training step.
    ///
    /// # Errors
    /// As [`Handle::rnn_inference`]; [`Error::Mismatch`] also for what another network's training kept, [`Error::Invalid`] the second
    /// time.
    #[doc(alias = "miopenRNNBackwardData")]
    #[allow(clippy::too_many_arguments)]
    pub fn rnn_backward_data<T: Element>(
        &self,
        network: &mut RnnDesc,
        kept: &mut RnnTraining,
        w: &DeviceView<'_, T>,
        first: &RnnStates<'_, T>,
        y: &DeviceView<'_, T>,
        dy: &DeviceView<'_, T>,
        d_last: &RnnStates<'_, T>,
        dx: &mut DeviceViewMut<'_, T>,
        d_first: &mut RnnStatesMut<'_, T>,
    ) -> Result<()> {
        kept.check(network, Backward::No, "there is one for each training step: train again")?;
        let sequence = kept.sequence.clone();
        let lengths = [
            (w.len(), Part::Params),
            (y.len(), Part::Output),
            (dy.len(), Part::Output),
            (dx.len(), Part::Input),
        ];
        check::<T>(network, &sequence, &lengths)?;
        check_states(&sequence, first)?;
        check_states(&sequence, d_last)?;
        check_states_mut(&sequence, d_first)?;
        let desc = network.on(self)?;
        let ([x_descs, y_descs], [s_desc, w_desc]) = (sequence.each_time(self)?, sequence.whole(self)?);
        let times = convert::int("the number of times", x_descs.len())?;
        let (workspace_bytes, reserve_bytes) = (kept.workspace_bytes, kept.reserve_bytes);
        let mut work = spread(self, "the gradient of a recurrent network");
        let (w, y, dy, dx) =
            (work.read_slice(w), work.read_slice(y), work.read_slice(dy), work.write_slice(dx));
        let hx = first.h.as_ref().map_or(null(), |h| work.read_slice(h));
        let cx = first.c.as_ref().map_or(null(), |c| work.read_slice(c));
        let dhy = d_last.h.as_ref().map_or(null(), |h| work.read_slice(h));
        let dcy = d_last.c.as_ref().map_or(null(), |c| work.read_slice(c));
        let dhx = d_first.h.as_mut().map_or(null_mut(), |h| work.write_slice(h));
        let dcx = d_first.c.as_mut().map_or(null_mut(), |c| work.write_slice(c));
        let (space, reserve) = (work.scratch(&mut kept.workspace), work.scratch(&mut kept.reserve));
        if let Some(dropout) = network.dropout() {
            work.scratch(dropout.states());
        }
        kept.backward = Backward::Begun;
        // SAFETY: S1, S2: as in training; workspace and reserve are those of the training step.
        work.run(|m, h| unsafe {
            raw::rnn_backward_data(
                m,
                h,
                desc,
                times,
                y_descs.as_ptr(),
                y,
                y_descs.as_ptr(),
                dy,
                s_desc,
                dhy,
                s_desc,
                dcy,
                w_desc,
                w,
                s_desc,
                hx,
                s_desc,
                cx,
                x_descs.as_ptr(),
                dx,
                s_desc,
                dhx,
                s_desc,
                dcx,
                space,
                workspace_bytes,
                reserve,
                reserve_bytes,
            )
        })?;
        kept.backward = Backward::Done;
        Ok(())
    }

    /// The gradient `dw` of the parameters. Call it after [`Handle::rnn_backward_data`].
    ///
    /// # Errors
    /// As [`Handle::rnn_backward_data`]; [`Error::Invalid`] before that was called.
    #[doc(alias = "miopenRNNBackwardWeights")]
    #[allow(clippy::too_many_arguments)]
    pub fn rnn_backward_weights<T: Element>(
        &self,
        network: &RnnDesc,
        kept: &mut RnnTraining,
        x: &DeviceView<'_, T>,
        h: Option<&DeviceView<'_, T>>,
        y: &DeviceView<'_, T>,
        dw: &mut DeviceViewMut<'_, T>,
    ) -> Result<()> {
        kept.check(network, Backward::Done, "ask for it first, and then for that of the weights")?;
        let sequence = kept.sequence.clone();
        check::<T>(
            network,
            &sequence,
            &[(dw.len(), Part::Params), (x.len(), Part::Input), (y.len(), Part::Output)],
        )?;
        if let Some(h) = h {
            check::<T>(network, &sequence, &[(h.len(), Part::State)])?;
        }
        let desc = network.on(self)?;
        let ([x_descs, y_descs], [s_desc, w_desc]) = (sequence.each_time(self)?, sequence.whole(self)?);
        let times = convert::int("the number of times", x_descs.len())?;
        let (workspace_bytes, reserve_bytes) = (kept.workspace_bytes, kept.reserve_bytes);
        let mut work = spread(self, "the gradient of a recurrent network's weights");
        let (x, y, dw) = (work.read_slice(x), work.read_slice(y), work.write_slice(dw));
        let hx = h.map_or(null(), |h| work.read_slice(h));
        let (space, reserve) = (work.scratch(&mut kept.workspace), work.scratch(&mut kept.reserve));
        // SAFETY: S1, S2: as in training; workspace and reserve are those of the training step and of its gradient.
        work.run(|m, handle| unsafe {
            raw::rnn_backward_weights(
                m,
                handle,
                desc,
                times,
                x_descs.as_ptr(),
                x,
                s_desc,
                hx,
                y_descs.as_ptr(),
                y,
                w_desc,
                dw,
                space,
                workspace_bytes,
                reserve.cast_const(),
                reserve_bytes,
            )
        })
    }

    fn rnn_workspace(&self, network: &RnnDesc, sequence: &RnnSequence) -> Result<usize> {
        let desc = network.on(self)?;
        let [x_descs, _] = sequence.each_time(self)?;
        let times = convert::int("the number of times", x_descs.len())?;
        self.call("the workspace of a network", |m, h| {
            // SAFETY: S1: handle and descriptors are live, one for each time, and the out-pointer too.
            out(|bytes| unsafe { raw::get_rnn_workspace_size(m, h, desc, times, x_descs.as_ptr(), bytes) })
        })
    }
}

/// MIOpen runs the layers of a network on streams of its own, if there are several.
fn spread<'a>(handle: &'a Handle, doing: &'static str) -> Work<'a> {
    Work::new(handle, doing).spreads()
}

/// What a memory holds.
#[derive(Clone, Copy)]
enum Part {
    Params,
    Input,
    Output,
    State,
}

/// Refuses another network's sequence, elements of another type, and lengths other than the sequence's.
fn check<T: Element>(network: &RnnDesc, sequence: &RnnSequence, lengths: &[(usize, Part)]) -> Result<()> {
    sequence.check(network)?;
    if sequence.data_type() != T::DATA_TYPE {
        return Err(Error::mismatch("the type of a network's elements", sequence.data_type(), T::DATA_TYPE));
    }
    for (found, part) in lengths {
        let (what, wanted) = match part {
            Part::Params => ("the length of a network's parameters", sequence.param_count()),
            Part::Input => ("the length of a network's input", sequence.input_count()),
            Part::Output => ("the length of a network's output", sequence.output_count()),
            Part::State => ("the length of a network's states", sequence.state_count()),
        };
        if wanted != *found {
            return Err(Error::mismatch(what, wanted, found));
        }
    }
    Ok(())
}

fn check_states<T: Element>(sequence: &RnnSequence, states: &RnnStates<'_, T>) -> Result<()> {
    let given = [&states.h, &states.c].into_iter().flatten().map(DeviceView::len);
    check_lengths(sequence, given)
}

fn check_states_mut<T: Element>(sequence: &RnnSequence, states: &RnnStatesMut<'_, T>) -> Result<()> {
    let given = [&states.h, &states.c].into_iter().flatten().map(DeviceViewMut::len);
    check_lengths(sequence, given)
}

fn check_lengths(sequence: &RnnSequence, mut given: impl Iterator<Item = usize>) -> Result<()> {
    let wanted = sequence.state_count();
    match given.find(|found| *found != wanted) {
        Some(found) => Err(Error::mismatch("the length of a network's states", wanted, found)),
        None => Ok(()),
    }
}
