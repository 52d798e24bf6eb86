//! Gradients of a network: first by its input and initial states, then by its weights.

use super::descriptor::Network;
use super::forward::{drop_out, gathered, gradients, kept_part, slots};
use super::sequence::Rows;
use crate::convolution::{Factor, multiply};
use hip_sys::miopen::miopenRNNMode_t;

/// The inputs of the backward pass.
pub(super) struct Given {
    pub(super) weights: Vec<f32>,
    /// The initial states, and the gradients of the final ones.
    pub(super) hidden: Option<Vec<f32>>,
    pub(super) cell: Option<Vec<f32>>,
    pub(super) d_hidden: Option<Vec<f32>>,
    pub(super) d_cell: Option<Vec<f32>>,
}

/// The gradients by the input, in rows, and by the initial states.
pub(super) struct Gradients {
    pub(super) x: Vec<f32>,
    pub(super) hidden: Vec<f32>,
    pub(super) cell: Vec<f32>,
}

/// The values that the forward pass kept of a layer in one direction.
struct Part<'a> {
    network: &'a Network,
    values: &'a mut [f32],
}

impl Part<'_> {
    fn new<'a>(network: &'a Network, rows: &Rows, kept: &'a mut [f32], layer: usize, way: usize) -> Part<'a> {
        let part = kept_part(network, rows);
        Part { network, values: &mut kept[(layer * network.ways() + way) * part..][..part] }
    }

    /// The index of a slot of a row.
    fn index_of(&self, row: usize, slot: usize) -> usize {
        (row * slots(self.network.mode) + slot) * self.network.hidden
    }

    fn get(&self, row: usize, slot: usize) -> &[f32] {
        &self.values[self.index_of(row, slot)..][..self.network.hidden]
    }

    /// The output of a row.
    fn output(&self, row: usize) -> &[f32] {
        self.get(row, slots(self.network.mode) - 1)
    }

    /// The gradients by the input's part of a row's gates, or by the state's part.
    fn gates(&self, row: usize, of_state: bool) -> Vec<f32> {
        let last = match (self.network.mode == miopenRNNMode_t::miopenGRU, of_state) {
            (true, true) => 3,
            (true, false) => 2,
            (false, _) => gradients(self.network.mode) - 1,
        };
        (0..self.network.gates() - 1).chain([last]).flat_map(|slot| self.get(row, slot)).copied().collect()
    }
}

/// Computes the gradient by the input. The kept values are overwritten by the gates' gradients.
pub(super) fn data(
    network: &Network,
    rows: &Rows,
    input: usize,
    given: &Given,
    dy: Vec<f32>,
    kept: &mut [f32],
) -> Gradients {
    let (ways, hidden, batch) = (network.ways(), network.hidden, rows.order.len());
    let states = network.layers * ways * batch * hidden;
    let mut gradients = Gradients { x: Vec::new(), hidden: vec![0.0; states], cell: vec![0.0; states] };
    let mut above = dy;
    for layer in (0..network.layers).rev() {
        let width = if layer == 0 { input } else { ways * hidden };
        let mut below = vec![0.0; rows.positions.len() * width];
        for way in 0..ways {
            let at = (layer * ways + way) * batch * hidden;
            let states = |states: &Option<Vec<f32>>| gathered(states.as_deref(), at, rows, hidden);
            let mut back = Back {
                rows,
                part: Part::new(network, rows, kept, layer, way),
                weights: &given.weights,
                part_of: (layer, way, input),
                first: [states(&given.hidden), states(&given.cell)],
                carried: [states(&given.d_hidden), states(&given.d_cell)],
            };
            back.run(&above, &mut below, width);
            let [d_hidden, d_cell] = &back.carried;
            for (rank, &sequence) in rows.order.iter().enumerate() {
                let (from, to) = (rank * hidden..(rank + 1) * hidden, at + sequence * hidden);
                gradients.hidden[to..to + hidden].copy_from_slice(&d_hidden[from.clone()]);
                gradients.cell[to..to + hidden].copy_from_slice(&d_cell[from]);
            }
        }
        if let Some(beneath) = layer.checked_sub(1) {
            drop_out(network, beneath, kept, &mut below);
        }
        above = below;
    }
    gradients.x = above;
    gradients
}

/// The backward pass through a layer in one direction.
struct Back<'a> {
    rows: &'a Rows,
    part: Part<'a>,
    weights: &'a [f32],
    /// Layer, direction, and length of the network's input vectors.
    part_of: (usize, usize, usize),
    /// The initial states, and the current gradients of the output state and of the cell state.
    first: [Vec<f32>; 2],
    carried: [Vec<f32>; 2],
}

impl Back<'_> {
    /// Multiplies the gates' gradients by the matrices from `id` on, and adds the products.
    fn product(&self, id: usize, gates: &[f32], width: usize, out: &mut [f32]) {
        let (network, (layer, way, input)) = (self.part.network, self.part_of);
        let (start, all) = (network.matrix(layer, way, id, input), network.gates() * network.hidden);
        let left = Factor { values: gates, rows: all, columns: 1 };
        let right = Factor { values: &self.weights[start..][..all * width], rows: width, columns: 1 };
        multiply((gates.len() / all, width, all), out, width, left, right, true, true);
    }

    fn run(&mut self, above: &[f32], below: &mut [f32], width: usize) {
        let (network, rows, (layer, way, _)) = (self.part.network, self.rows, self.part_of);
        let (hidden, steps) = (network.hidden, rows.left.len());
        for turn in (0..steps).rev() {
            let step = if way == 0 { turn } else { steps - 1 - turn };
            let left = rows.left[step];
            let mut gates = Vec::with_capacity(left * network.gates() * hidden);
            for rank in 0..left {
                let row = rows.first[step] + rank;
                let from = (row * network.ways() + way) * hidden;
                self.step(row, rank, rows.before(way, step, rank), &above[from..from + hidden]);
                gates.extend(self.part.gates(row, true));
            }
            let mut carried = std::mem::take(&mut self.carried[0]);
            if left > 0 {
                self.product(network.gates(), &gates, hidden, &mut carried[..left * hidden]);
            }
            self.carried[0] = carried;
        }
        let inputs: Vec<f32> =
            (0..rows.positions.len()).flat_map(|row| self.part.gates(row, false)).collect();
        if layer == 0 && network.skips {
            let all = network.gates() * hidden;
            for (below, gates) in below.chunks_mut(width).zip(inputs.chunks(all)) {
                for gate in gates.chunks(hidden) {
                    below.iter_mut().zip(gate).for_each(|(below, gate)| *below += gate);
                }
            }
        } else {
            self.product(0, &inputs, width, below);
        }
    }

    /// One step of one sequence, whose previous row was `before`: its gates are replaced by their gradients. The carried gradient does not
    /// yet include what flows to the previous output through the gates.
    fn step(&mut self, row: usize, rank: usize, before: Option<usize>, above: &[f32]) {
        let (mode, hidden) = (self.part.network.mode, self.part.network.hidden);
        for (at, above) in above.iter().enumerate() {
            let own = rank * hidden + at;
            let dh = above + self.carried[0][own];
            let kept = |slot: usize| self.part.values[self.part.index_of(row, slot) + at];
            let last = |slot: usize, first: &[f32]| {
                before.map_or(first[own], |row| self.part.values[self.part.index_of(row, slot) + at])
            };
            let (mut carried, mut d_gates) = (0.0, [0.0; 4]);
            match mode {
                miopenRNNMode_t::miopenLSTM => {
                    let [i, f, o, new, cell] = [0, 1, 2, 3, 4].map(kept);
                    let bent = cell.tanh();
                    let dc = self.carried[1][own] + dh * o * (1.0 - bent * bent);
                    let before = last(4, &self.first[1]);
                    d_gates = [
                        dc * new * i * (1.0 - i),
                        dc * before * f * (1.0 - f),
                        dh * bent * o * (1.0 - o),
                        dc * i * (1.0 - new * new),
                    ];
                    self.carried[1][own] = dc * f;
                }
                miopenRNNMode_t::miopenGRU => {
                    let [update, reset, new, state] = [0, 1, 2, 3].map(kept);
                    let before = last(4, &self.first[0]);
                    let d_new = dh * (1.0 - update) * (1.0 - new * new);
                    d_gates = [
                        dh * (before - new) * update * (1.0 - update),
                        d_new * state * reset * (1.0 - reset),
                        d_new,
                        d_new * reset,
                    ];
                    carried = dh * update;
                }
                miopenRNNMode_t::miopenRNNRELU => d_gates[0] = if kept(1) > 0.0 { dh } else { 0.0 },
                _ => d_gates[0] = dh * (1.0 - kept(1) * kept(1)),
            }
            self.carried[0][own] = carried;
            for (slot, gradient) in d_gates.into_iter().take(gradients(mode)).enumerate() {
                let index = self.part.index_of(row, slot) + at;
                self.part.values[index] = gradient;
            }
        }
    }
}

/// The gradients of all weights, from the gates' gradients of [`data`]. `hidden` are the initial states.
pub(super) fn weights(
    network: &Network,
    rows: &Rows,
    (x, input): (&[f32], usize),
    hidden: Option<&[f32]>,
    kept: &mut [f32],
) -> Vec<f32> {
    let (ways, size, all) = (network.ways(), network.hidden, network.gates() * network.hidden);
    let (count, batch) = (rows.positions.len(), rows.order.len());
    let mut out = vec![0.0; network.weights(input)];
    for layer in 0..network.layers {
        let below: Vec<f32> = if layer == 0 {
            x.to_vec()
        } else {
            let mut below = vec![0.0; count * ways * size];
            for way in 0..ways {
                let part = Part::new(network, rows, kept, layer - 1, way);
                for row in 0..count {
                    below[(row * ways + way) * size..][..size].copy_from_slice(part.output(row));
                }
            }
            drop_out(network, layer - 1, kept, &mut below);
            below
        };
        for way in 0..ways {
            let at = (layer * ways + way) * batch * size;
            let first = gathered(hidden, at, rows, size);
            let part = Part::new(network, rows, kept, layer, way);
            // For each row: its previous state, and whether the state's biases were used.
            let (mut states, mut counted) = (Vec::with_capacity(count * size), Vec::with_capacity(count));
            for (step, left) in rows.left.iter().enumerate() {
                for rank in 0..*left {
                    let before = rows.before(way, step, rank);
                    states.extend_from_slice(match before {
                        Some(row) => part.output(row),
                        None => &first[rank * size..][..size],
                    });
                    counted.push(hidden.is_some() || before.is_some());
                }
            }
            for (id, of_state) in [(0, false), (network.gates(), true)] {
                let gates: Vec<f32> = (0..count).flat_map(|row| part.gates(row, of_state)).collect();
                let (values, width) =
                    if of_state { (&states, size) } else { (&below, network.width(layer, input)) };
                let start = network.matrix(layer, way, id, input);
                let left = Factor { values: &gates, rows: 1, columns: all };
                let right = Factor { values, rows: width, columns: 1 };
                if width > 0 {
                    let out = &mut out[start..][..all * width];
                    multiply((all, width, count), out, width, left, right, false, true);
                }
                if network.biased {
                    let sums = &mut out[network.bias(layer, way, id, input)..][..all];
                    let counted =
                        gates.chunks(all).zip(&counted).filter(|(_, counted)| !of_state || **counted);
                    for (gates, _) in counted {
                        sums.iter_mut().zip(gates).for_each(|(sum, gate)| *sum += gate);
                    }
                }
            }
        }
    }
    out
}
