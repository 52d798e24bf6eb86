//! Networks as operations of a stream: their memory and their work.

use super::backward::{Given, data, weights};
use super::descriptor::Network;
use super::forward::{Tensors, forward, kept};
use super::sequence::{Rows, Sequences};
use crate::answer::{BAD, NO_SOLVER, Outcome, UNKNOWN, check, product};
use crate::job::{Job, is_there};
use crate::tensor::{Kind, View};
use hip_sys::miopen::{miopenHandle_t, miopenRNNMode_t};
use std::ffi::c_void;
use std::ptr::null;

/// The output and cell states; null if they are not given.
pub(super) type States = [*const c_void; 2];
/// As [`States`], for optional outputs.
pub(super) type StatesOut = [*mut c_void; 2];
/// The caller's memory for the values of a backward pass, and its size in bytes.
pub(super) type Kept = (*mut c_void, usize);

/// A network over sequences, checked.
struct Case {
    network: Network,
    kind: Kind,
    /// The rows of the input and of the output.
    from: Rows,
    to: Rows,
    /// The length of an input vector and of an output vector.
    input: usize,
    output: usize,
    /// The number of input rows and of output rows in memory.
    rows: [usize; 2],
    /// Elements of all states.
    states: usize,
}

impl Case {
    /// `addresses` has the addresses of the input and of the output vectors; null for those that are not used.
    fn new(network: Network, [x, y]: [&Sequences; 2], addresses: [*const c_void; 2]) -> Outcome<Self> {
        check(x.dtype == network.dtype && y.dtype == network.dtype && network.hidden > 0, BAD)?;
        check(y.width == network.ways() * network.hidden && x.lens == y.lens && x.steps == y.steps, BAD)?;
        check(!network.skips || x.width == network.hidden, BAD)?;
        let kind = Kind::of(network.dtype).ok_or(NO_SOLVER)?;
        let rows = [x.rows()?, y.rows()?];
        let made = |address: *const c_void, it: &Sequences, rows: usize| {
            if address.is_null() {
                return Ok(Rows::default());
            }
            // The lists are as long as there are rows, so the rows must not exceed the memory.
            is_there(address, [rows, it.width, kind.bytes()])?;
            Rows::new(it)
        };
        Ok(Self {
            network,
            kind,
            from: made(addresses[0], x, rows[0])?,
            to: made(addresses[1], y, rows[1])?,
            input: x.width,
            output: y.width,
            rows,
            states: network.states(x.lens.len())?,
        })
    }

    fn read(&self, job: &mut Job, pointer: *const c_void, count: usize) -> Outcome<Values> {
        Ok(Values { view: job.read_view(pointer, self.kind, count)?, count })
    }

    fn write(&self, job: &mut Job, pointer: *mut c_void, count: usize) -> Outcome<Values> {
        Ok(Values { view: job.write_view(pointer, self.kind, count)?, count })
    }

    /// The given states; only an LSTM has a cell.
    fn given(&self, job: &mut Job, states: States) -> Outcome<[Option<Values>; 2]> {
        let mut read = |pointer: *const c_void, has: bool| {
            (has && !pointer.is_null()).then(|| self.read(job, pointer, self.states)).transpose()
        };
        Ok([read(states[0], true)?, read(states[1], self.has_cell())?])
    }

    /// The requested states.
    fn wanted(&self, job: &mut Job, states: StatesOut) -> Outcome<[Option<Values>; 2]> {
        let mut write = |pointer: *mut c_void, has: bool| {
            (has && !pointer.is_null()).then(|| self.write(job, pointer, self.states)).transpose()
        };
        Ok([write(states[0], true)?, write(states[1], self.has_cell())?])
    }

    fn has_cell(&self) -> bool {
        self.network.mode == miopenRNNMode_t::miopenLSTM
    }

    /// The kept values of a backward pass.
    fn kept(&self, job: &mut Job, (pointer, bytes): Kept, writes: bool) -> Outcome<Values> {
        let count = kept(&self.network, self.from.positions.len(), self.network.drops()?.is_some())?;
        check(bytes >= product([count, size_of::<f32>()])?, UNKNOWN)?;
        let view = match writes {
            true => job.write_view(pointer, Kind::Float, count)?,
            false => job.read_view(pointer, Kind::Float, count)?,
        };
        Ok(Values { view, count })
    }
}

/// Contiguous elements.
struct Values {
    view: View,
    count: usize,
}

impl Values {
    fn load(&self) -> Vec<f32> {
        let mut values = vec![0.0; self.count];
        self.view.load(0, 1, &mut values);
        values
    }

    fn store(&self, values: &[f32]) {
        self.view.store(0, 1, values);
    }

    /// The vectors of the rows that are not padding.
    fn rows(&self, rows: &Rows, width: usize) -> Vec<f32> {
        let mut values = vec![0.0; rows.positions.len() * width];
        for (row, position) in values.chunks_mut(width).zip(&rows.positions) {
            self.view.load(position * width, 1, row);
        }
        values
    }

    /// Stores vectors in the rows, and the padding value in the padding.
    fn store_rows(&self, rows: &Rows, width: usize, values: &[f32], filler: f32) {
        for (row, index) in values.chunks(width).zip(&rows.positions) {
            self.view.store(index * width, 1, row);
        }
        let padding = vec![filler; width];
        rows.padding.iter().for_each(|index| self.view.store(index * width, 1, &padding));
    }
}

/// The padding value of the output.
fn filler(y: &Sequences, kind: Kind) -> f32 {
    let value = y.filler.unwrap_or_default();
    match kind {
        Kind::Half => half::f16::from_le_bytes([value[0], value[1]]).to_f32(),
        _ => f32::from_le_bytes([value[0], value[1], value[2], value[3]]),
    }
}

/// The tensors of a forward pass.
pub(super) struct Forward {
    pub(super) x: *const c_void,
    pub(super) w: *const c_void,
    pub(super) first: States,
    pub(super) y: *mut c_void,
    pub(super) last: StatesOut,
    /// In training.
    pub(super) kept: Option<Kept>,
}

pub(super) fn run_forward(
    handle: miopenHandle_t,
    network: Network,
    [x, y]: [Sequences; 2],
    memory: Forward,
) -> Outcome {
    check(!memory.x.is_null() && !memory.w.is_null() && !memory.y.is_null(), BAD)?;
    let case = Case::new(network, [&x, &y], [memory.x, memory.y.cast_const()])?;
    let mut job = Job::new(handle)?;
    let from = case.read(&mut job, memory.x, product([case.rows[0], case.input])?)?;
    let w = case.read(&mut job, memory.w, network.weights(case.input))?;
    let first = case.given(&mut job, memory.first)?;
    let to = case.write(&mut job, memory.y, product([case.rows[1], case.output])?)?;
    let last = case.wanted(&mut job, memory.last)?;
    let kept = memory.kept.map(|kept| case.kept(&mut job, kept, true)).transpose()?;
    let drops = if kept.is_some() { network.drops()? } else { None };
    let drawer = drops.map(|dropout| dropout.drawer(&mut job)).transpose()?;
    let filler = filler(&y, case.kind);
    job.submit("miopenRNNForward", move || {
        let [hidden, cell] = first.each_ref().map(|states| states.as_ref().map(Values::load));
        let tensors = Tensors { x: from.rows(&case.from, case.input), weights: w.load(), hidden, cell };
        let mut keep = kept.as_ref().map(|kept| vec![0.0; kept.count]);
        if let (Some(drawer), Some(keep)) = (&drawer, &mut keep) {
            let factors = (case.network.layers - 1) * case.from.positions.len() * case.output;
            let start = keep.len() - factors;
            keep[start..].copy_from_slice(&drawer.factors(factors));
        }
        let results = forward(&case.network, &case.from, case.input, &tensors, keep.as_deref_mut());
        to.store_rows(&case.to, case.output, &results.y, filler);
        for (to, states) in last.iter().zip([&results.hidden, &results.cell]) {
            to.iter().for_each(|to| to.store(states));
        }
        if let (Some(kept), Some(keep)) = (&kept, &keep) {
            kept.store(keep);
        }
    })
}

/// The tensors of a backward pass to the input.
pub(super) struct Data {
    pub(super) dy: *const c_void,
    pub(super) w: *const c_void,
    pub(super) first: States,
    pub(super) d_last: States,
    pub(super) dx: *mut c_void,
    pub(super) d_first: StatesOut,
    pub(super) kept: Kept,
}

pub(super) fn run_data(
    handle: miopenHandle_t,
    network: Network,
    [x, y]: [Sequences; 2],
    memory: Data,
) -> Outcome {
    check(!memory.dy.is_null() && !memory.w.is_null() && !memory.dx.is_null(), BAD)?;
    let case = Case::new(network, [&x, &y], [memory.dx.cast_const(), memory.dy])?;
    let mut job = Job::new(handle)?;
    let dy = case.read(&mut job, memory.dy, product([case.rows[1], case.output])?)?;
    let w = case.read(&mut job, memory.w, network.weights(case.input))?;
    let (first, d_last) = (case.given(&mut job, memory.first)?, case.given(&mut job, memory.d_last)?);
    let dx = case.write(&mut job, memory.dx, product([case.rows[0], case.input])?)?;
    let d_first = case.wanted(&mut job, memory.d_first)?;
    let kept = case.kept(&mut job, memory.kept, true)?;
    job.submit("miopenRNNBackwardData", move || {
        let load = |states: &[Option<Values>; 2]| states.each_ref().map(|it| it.as_ref().map(Values::load));
        let ([hidden, cell], [d_hidden, d_cell]) = (load(&first), load(&d_last));
        let given = Given { weights: w.load(), hidden, cell, d_hidden, d_cell };
        let (dy, mut keep) = (dy.rows(&case.to, case.output), kept.load());
        let gradients = data(&case.network, &case.from, case.input, &given, dy, &mut keep);
        dx.store_rows(&case.from, case.input, &gradients.x, 0.0);
        for (to, states) in d_first.iter().zip([&gradients.hidden, &gradients.cell]) {
            to.iter().for_each(|to| to.store(states));
        }
        kept.store(&keep);
    })
}

/// The tensors of a backward pass to the weights.
pub(super) struct Weights {
    pub(super) x: *const c_void,
    pub(super) hx: *const c_void,
    pub(super) dw: *mut c_void,
    pub(super) kept: Kept,
}

pub(super) fn run_weights(
    handle: miopenHandle_t,
    network: Network,
    [x, y]: [Sequences; 2],
    memory: Weights,
) -> Outcome {
    check(!memory.x.is_null() && !memory.dw.is_null(), BAD)?;
    let case = Case::new(network, [&x, &y], [memory.x, null()])?;
    let mut job = Job::new(handle)?;
    let from = case.read(&mut job, memory.x, product([case.rows[0], case.input])?)?;
    let [hidden, _] = case.given(&mut job, [memory.hx, null()])?;
    let dw = case.write(&mut job, memory.dw, network.weights(case.input))?;
    let kept = case.kept(&mut job, memory.kept, false)?;
    job.submit("miopenRNNBackwardWeights", move || {
        let (x, hidden) = (from.rows(&case.from, case.input), hidden.as_ref().map(Values::load));
        let mut keep = kept.load();
        dw.store(&weights(&case.network, &case.from, (&x, case.input), hidden.as_deref(), &mut keep));
    })
}
