//! A network forward.

use super::descriptor::Network;
use super::sequence::Rows;
use crate::miopen::convolution::{Factor, multiply};
use hip_sys::miopen::miopenRNNMode_t;

/// What goes in and comes out, in rows of [`Rows`]; states by layer, direction and sequence.
pub(super) struct Tensors {
    /// A vector of the input for each row.
    pub(super) x: Vec<f32>,
    pub(super) weights: Vec<f32>,
    /// The first states; the biases that meet them count only where they are given.
    pub(super) hidden: Option<Vec<f32>>,
    pub(super) cell: Option<Vec<f32>>,
}

/// The output for each row, and the last states.
pub(super) struct Results {
    pub(super) y: Vec<f32>,
    pub(super) hidden: Vec<f32>,
    pub(super) cell: Vec<f32>,
}

/// Runs a network over sequences whose vectors have `input` elements.
pub(super) fn forward(network: &Network, rows: &Rows, input: usize, tensors: Tensors) -> Results {
    let (ways, hidden, batch) = (network.ways(), network.hidden, rows.order.len());
    let (count, states) = (rows.places.len(), network.layers * ways * batch * hidden);
    let mut results = Results { y: Vec::new(), hidden: vec![0.0; states], cell: vec![0.0; states] };
    let mut below = tensors.x;
    let mut width = input;
    for layer in 0..network.layers {
        let mut above = vec![0.0; count * ways * hidden];
        for way in 0..ways {
            let at = (layer * ways + way) * batch * hidden;
            let mut direction = Direction {
                network,
                weights: &tensors.weights,
                rows,
                place: (layer, way, input),
                hidden: gathered(tensors.hidden.as_deref(), at, rows, hidden),
                cell: gathered(tensors.cell.as_deref(), at, rows, hidden),
                given: tensors.hidden.is_some(),
            };
            direction.run(&below, width, &mut above);
            for (rank, &sequence) in rows.order.iter().enumerate() {
                let (from, to) = (rank * hidden..(rank + 1) * hidden, at + sequence * hidden);
                results.hidden[to..to + hidden].copy_from_slice(&direction.hidden[from.clone()]);
                results.cell[to..to + hidden].copy_from_slice(&direction.cell[from]);
            }
        }
        (below, width) = (above, ways * hidden);
    }
    results.y = below;
    results
}

/// The states of a layer and direction, from the longest sequence to the shortest.
fn gathered(states: Option<&[f32]>, at: usize, rows: &Rows, hidden: usize) -> Vec<f32> {
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
    /// Layer, direction, and elements of the network's input.
    place: (usize, usize, usize),
    hidden: Vec<f32>,
    cell: Vec<f32>,
    /// Whether the first state was given.
    given: bool,
}

impl Direction<'_> {
    /// Adds the product of rows with the gates' matrices from `id` on.
    fn product(&self, id: usize, rows: &[f32], width: usize, gates: &mut [f32], add: bool) {
        let (network, (layer, way, input)) = (self.network, self.place);
        let (start, all) = (network.matrix(layer, way, id, input), network.gates() * network.hidden);
        let left = Factor { values: rows, rows: width, columns: 1 };
        let right = Factor { values: &self.weights[start..][..all * width], rows: 1, columns: width };
        multiply((rows.len() / width, all, width), gates, all, left, right, add, true);
    }

    /// The biases of the gates, from `id` on.
    fn biases(&self, id: usize) -> Option<&[f32]> {
        let (network, (layer, way, input)) = (self.network, self.place);
        let start = network.bias(layer, way, id, input);
        network.biased.then(|| &self.weights[start..][..network.gates() * network.hidden])
    }

    fn run(&mut self, below: &[f32], width: usize, above: &mut [f32]) {
        let (network, rows, (layer, way, _)) = (self.network, self.rows, self.place);
        let (hidden, all) = (network.hidden, network.gates() * network.hidden);
        let mut inputs = vec![0.0; rows.places.len() * all];
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
            // A sequence begins with its first step, or backward with its last.
            let begun = match way {
                0 if step == 0 => 0,
                0 => left,
                _ => rows.left.get(step + 1).copied().unwrap_or(0),
            };
            let counted = if self.given { left } else { begun };
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
                advance(network.mode, input, state, h, c);
                let to = ((first + rank) * network.ways() + way) * hidden;
                above[to..to + hidden].copy_from_slice(h);
            }
        }
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// One step of one sequence: `input` and `state` are what the gates get from either. The gates' order is MIOpen's: of an LSTM
/// input, forget, output and new; of a GRU update, reset and new.
fn advance(mode: miopenRNNMode_t, input: &[f32], state: &[f32], h: &mut [f32], c: &mut [f32]) {
    let hidden = h.len();
    let part = |gate: usize, at: usize| (input[gate * hidden + at], state[gate * hidden + at]);
    let gate = |gate: usize, at: usize| {
        let (input, state) = part(gate, at);
        input + state
    };
    for at in 0..hidden {
        h[at] = match mode {
            miopenRNNMode_t::miopenRNNRELU => gate(0, at).max(0.0),
            miopenRNNMode_t::miopenRNNTANH => gate(0, at).tanh(),
            miopenRNNMode_t::miopenLSTM => {
                c[at] = sigmoid(gate(1, at)) * c[at] + sigmoid(gate(0, at)) * gate(3, at).tanh();
                sigmoid(gate(2, at)) * c[at].tanh()
            }
            _ => {
                let (update, reset, (input, state)) =
                    (sigmoid(gate(0, at)), sigmoid(gate(1, at)), part(2, at));
                (1.0 - update) * (input + reset * state).tanh() + update * h[at]
            }
        };
    }
}
