//! The forward pass of a network.

use super::descriptor::Network;
use super::sequence::Rows;
use crate::answer::{Outcome, product, sum};
use crate::convolution::{Factor, multiply};
use hip_sys::miopen::miopenRNNMode_t;
use std::borrow::Cow;

/// Inputs and outputs, in rows of [`Rows`]; states are ordered by layer, direction and sequence.
pub(super) struct Tensors {
    /// An input vector for each row.
    pub(super) x: Vec<f32>,
    pub(super) weights: Vec<f32>,
    /// The initial states. Their biases are used only if states are given.
    pub(super) hidden: Option<Vec<f32>>,
    pub(super) cell: Option<Vec<f32>>,
}

/// The output for each row, and the final states.
pub(super) struct Results {
    pub(super) y: Vec<f32>,
    pub(super) hidden: Vec<f32>,
    pub(super) cell: Vec<f32>,
}

/// The number of floats that are kept for each unit and row: first one for each gradient of a gate ([`gradients`]), then the cell of an
/// LSTM, and last the output. The forward pass stores the gates there; for a plain unit nothing; for a GRU also the state's part of
/// the new value.
pub(super) fn slots(mode: miopenRNNMode_t) -> usize {
    gradients(mode) + 1 + usize::from(mode == miopenRNNMode_t::miopenLSTM)
}

/// The number of distinct gate gradients: a GRU's new value has one for the input's part and one for the state's part.
pub(super) fn gradients(mode: miopenRNNMode_t) -> usize {
    match mode {
        miopenRNNMode_t::miopenLSTM | miopenRNNMode_t::miopenGRU => 4,
        _ => 1,
    }
}

/// Floats that are kept of a layer in one direction.
pub(super) fn kept_part(network: &Network, rows: &Rows) -> usize {
    rows.positions.len() * slots(network.mode) * network.hidden
}

/// Floats that are kept: those of all layers and directions, then the factors of dropout between layers.
///
/// # Errors
/// BadParm if the number overflows.
pub(super) fn kept(network: &Network, rows: usize, drops: bool) -> Outcome<usize> {
    let units = product([rows, network.ways(), network.hidden])?;
    let dropped = if drops { product([network.layers - 1, units])? } else { 0 };
    sum([product([network.layers, units, slots(network.mode)])?, dropped])
}

/// Multiplies the outputs of a layer, or their gradients, by the factors of the dropout above it.
pub(super) fn drop_out(network: &Network, layer: usize, kept: &[f32], values: &mut [f32]) {
    let start = kept.len().checked_sub((network.layers - 1 - layer) * values.len());
    let rows = values.len() / (network.ways() * network.hidden);
    // There is no dropout after the last layer, nor without factors.
    if layer + 1 < network.layers
        && self::kept(network, rows, false).is_ok_and(|without| kept.len() > without)
        && let Some(start) = start
    {
        values.iter_mut().zip(&kept[start..]).for_each(|(value, factor)| *value *= factor);
    }
}

/// Runs a network over sequences whose vectors have `input` elements. `kept` gets the values for a backward pass, if there will be one.
pub(super) fn forward(
    network: &Network,
    rows: &Rows,
    input: usize,
    tensors: &Tensors,
    mut kept: Option<&mut [f32]>,
) -> Results {
    let (ways, hidden, batch) = (network.ways(), network.hidden, rows.order.len());
    let (count, states) = (rows.positions.len(), network.layers * ways * batch * hidden);
    let mut results = Results { y: Vec::new(), hidden: vec![0.0; states], cell: vec![0.0; states] };
    let mut below = Cow::Borrowed(&tensors.x[..]);
    let mut width = input;
    for layer in 0..network.layers {
        let mut above = vec![0.0; count * ways * hidden];
        for way in 0..ways {
            let at = (layer * ways + way) * batch * hidden;
            let mut direction = Direction {
                network,
                weights: &tensors.weights,
                rows,
                part_of: (layer, way, input),
                hidden: gathered(tensors.hidden.as_deref(), at, rows, hidden),
                cell: gathered(tensors.cell.as_deref(), at, rows, hidden),
                given: tensors.hidden.is_some(),
            };
            let part = kept_part(network, rows);
            let kept = kept.as_deref_mut().map(|kept| &mut kept[(layer * ways + way) * part..][..part]);
            direction.run(&below, width, &mut above, kept);
            for (rank, &sequence) in rows.order.iter().enumerate() {
                let (from, to) = (rank * hidden..(rank + 1) * hidden, at + sequence * hidden);
                results.hidden[to..to + hidden].copy_from_slice(&direction.hidden[from.clone()]);
                results.cell[to..to + hidden].copy_from_slice(&direction.cell[from]);
            }
        }
        if let Some(kept) = &kept {
            drop_out(network, layer, kept, &mut above);
        }
        (below, width) = (Cow::Owned(above), ways * hidden);
    }
    results.y = below.into_owned();
    results
}

/// The states of a layer and direction, from the longest sequence to the shortest.
pub(super) fn gathered(states: Option<&[f32]>, at: usize, rows: &Rows, hidden: usize) -> Vec<f32> {
    let mut gathered = vec![0.0; rows.order.len() * hidden];
    if let Some(states) = states {
        for (to, sequence) in gathered.chunks_mut(hidden).zip(&rows.order) {
            to.copy_from_slice(&states[at + sequence * hidden..][..hidden]);
        }
    }
    gathered
}

/// A layer in one direction.
struct Direction<'a> {
    network: &'a Network,
    weights: &'a [f32],
    rows: &'a Rows,
    /// Layer, direction, and length of the network's input vectors.
    part_of: (usize, usize, usize),
    hidden: Vec<f32>,
    cell: Vec<f32>,
    /// Whether the initial state was given.
    given: bool,
}

impl Direction<'_> {
    /// Adds the product of the rows and the gates' matrices from `id` on.
    fn product(&self, id: usize, rows: &[f32], width: usize, gates: &mut [f32], add: bool) {
        let (network, (layer, way, input)) = (self.network, self.part_of);
        let (start, all) = (network.matrix(layer, way, id, input), network.gates() * network.hidden);
        let left = Factor { values: rows, rows: width, columns: 1 };
        let right = Factor { values: &self.weights[start..][..all * width], rows: 1, columns: width };
        multiply((rows.len() / width, all, width), gates, all, left, right, add, true);
    }

    /// The biases of the gates, from `id` on.
    fn biases(&self, id: usize) -> Option<&[f32]> {
        let (network, (layer, way, input)) = (self.network, self.part_of);
        let start = network.bias(layer, way, id, input);
        network.biased.then(|| &self.weights[start..][..network.gates() * network.hidden])
    }

    fn run(&mut self, below: &[f32], width: usize, above: &mut [f32], mut kept: Option<&mut [f32]>) {
        let (network, rows, (layer, way, _)) = (self.network, self.rows, self.part_of);
        let (hidden, all) = (network.hidden, network.gates() * network.hidden);
        let mut inputs = vec![0.0; rows.positions.len() * all];
        if layer == 0 && network.skips {
            for (gates, below) in inputs.chunks_mut(all).zip(below.chunks(width)) {
                gates.chunks_mut(hidden).for_each(|gate| gate.copy_from_slice(below));
            }
        } else {
            self.product(0, below, width, &mut inputs, false);
        }
        if let Some(biases) = self.biases(0) {
            for gates in inputs.chunks_mut(all) {
                gates.iter_mut().zip(biases).for_each(|(gate, bias)| *gate += bias);
            }
        }
        let steps = rows.left.len();
        let mut states = Vec::new();
        for turn in 0..steps {
            let step = if way == 0 { turn } else { steps - 1 - turn };
            let left = rows.left[step];
            if left == 0 {
                continue;
            }
            states.clear();
            states.resize(left * all, 0.0);
            self.product(network.gates(), &self.hidden[..left * hidden], hidden, &mut states, false);
            let counted = if self.given { left } else { rows.begun(way, step) };
            if let Some(biases) = self.biases(network.gates()) {
                for gates in states.chunks_mut(all).take(counted) {
                    gates.iter_mut().zip(biases).for_each(|(gate, bias)| *gate += bias);
                }
            }
            let first = rows.first[step];
            for rank in 0..left {
                let (input, state) = (&inputs[(first + rank) * all..][..all], &states[rank * all..][..all]);
                let own = rank * hidden..(rank + 1) * hidden;
                let (h, c) = (&mut self.hidden[own.clone()], &mut self.cell[own]);
                let slots = slots(network.mode) * hidden;
                let kept = kept.as_deref_mut().map(|kept| &mut kept[(first + rank) * slots..][..slots]);
                advance(network.mode, input, state, h, c, kept);
                let to = ((first + rank) * network.ways() + way) * hidden;
                above[to..to + hidden].copy_from_slice(h);
            }
        }
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// One step of one sequence: `input` and `state` are both parts of the gates. The order of gates is MIOpen's: input, forget, output and
/// new for an LSTM; update, reset and new for a GRU.
fn advance(
    mode: miopenRNNMode_t,
    input: &[f32],
    state: &[f32],
    h: &mut [f32],
    c: &mut [f32],
    mut kept: Option<&mut [f32]>,
) {
    let hidden = h.len();
    let part = |gate: usize, at: usize| (input[gate * hidden + at], state[gate * hidden + at]);
    let gate = |gate: usize, at: usize| {
        let (input, state) = part(gate, at);
        input + state
    };
    let mut keep = |at: usize, values: &[f32]| {
        if let Some(kept) = &mut kept {
            values.iter().enumerate().for_each(|(slot, value)| kept[slot * hidden + at] = *value);
        }
    };
    for at in 0..hidden {
        match mode {
            miopenRNNMode_t::miopenLSTM => {
                let [i, f, o] = [0, 1, 2].map(|it| sigmoid(gate(it, at)));
                let new = gate(3, at).tanh();
                c[at] = f * c[at] + i * new;
                h[at] = o * c[at].tanh();
                keep(at, &[i, f, o, new, c[at], h[at]]);
            }
            miopenRNNMode_t::miopenGRU => {
                let (update, reset, (input, state)) =
                    (sigmoid(gate(0, at)), sigmoid(gate(1, at)), part(2, at));
                let new = (input + reset * state).tanh();
                h[at] = (1.0 - update) * new + update * h[at];
                keep(at, &[update, reset, new, state, h[at]]);
            }
            miopenRNNMode_t::miopenRNNRELU => {
                h[at] = gate(0, at).max(0.0);
                keep(at, &[0.0, h[at]]);
            }
            _ => {
                h[at] = gate(0, at).tanh();
                keep(at, &[0.0, h[at]]);
            }
        }
    }
}
