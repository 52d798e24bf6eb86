//! Gradients of recurrent networks, against finite differences of the recurrences in f64.

use crate::library::*;
use hip_sys::miopen::*;
use std::ptr::null_mut;

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// A network of two layers of one unit in each direction, over two sequences of three and two steps with two inputs.
struct Case {
    mode: u32,
    gates: usize,
    ways: usize,
    /// Where the weights of (layer, direction, id) start: matrices, then biases.
    starts: Vec<[usize; 2]>,
}

const LENS: [usize; 2] = [3, 2];
const LAYERS: usize = 2;

/// All inputs of the loss: weights, input rows, initial states of output and cell.
#[derive(Clone)]
struct Arguments([Vec<f64>; 4]);

/// Rows lie step by step.
fn row(sequence: usize, step: usize) -> usize {
    [[0, 2, 4], [1, 3, 5]][sequence][step]
}

impl Case {
    fn part(&self, layer: usize, way: usize, id: usize) -> [usize; 2] {
        self.starts[(layer * self.ways + way) * 2 * self.gates + id]
    }

    /// The sum of the outputs with weights 1, 2, 3, … and of the last states with 0.5 and 0.25.
    fn loss(&self, Arguments([weights, x, hx, cx]): &Arguments) -> f64 {
        let mut loss = 0.0;
        for (sequence, len) in LENS.into_iter().enumerate() {
            let mut below: Vec<Vec<f64>> =
                (0..len).map(|step| x[2 * row(sequence, step)..][..2].to_vec()).collect();
            for layer in 0..LAYERS {
                // Each direction adds its outputs to those of the steps.
                let mut above = vec![Vec::new(); len];
                for way in 0..self.ways {
                    let state = (layer * self.ways + way) * 2 + sequence;
                    let (mut h, mut c) = (hx[state], cx[state]);
                    for turn in 0..len {
                        let step = if way == 0 { turn } else { len - 1 - turn };
                        let input = |gate: usize| {
                            let [matrix, bias] = self.part(layer, way, gate);
                            let products = below[step].iter().zip(&weights[matrix..]).map(|(x, w)| x * w);
                            products.sum::<f64>() + weights[bias]
                        };
                        let own = |gate: usize, h: f64| {
                            let [matrix, bias] = self.part(layer, way, self.gates + gate);
                            weights[matrix] * h + weights[bias]
                        };
                        let gate = |gate: usize| input(gate) + own(gate, h);
                        h = match self.mode {
                            0 => gate(0).max(0.0),
                            1 => gate(0).tanh(),
                            2 => {
                                c = sigmoid(gate(1)) * c + sigmoid(gate(0)) * gate(3).tanh();
                                sigmoid(gate(2)) * c.tanh()
                            }
                            _ => {
                                let update = sigmoid(gate(0));
                                (1.0 - update) * (input(2) + sigmoid(gate(1)) * own(2, h)).tanh() + update * h
                            }
                        };
                        above[step].push(h);
                    }
                    loss += 0.5 * h + if self.mode == 2 { 0.25 * c } else { 0.0 };
                }
                below = above;
            }
            for (step, y) in below.iter().enumerate() {
                let first = row(sequence, step) * self.ways;
                loss += y.iter().enumerate().map(|(way, y)| (first + way + 1) as f64 * y).sum::<f64>();
            }
        }
        loss
    }

    fn gradient(&self, at: &Arguments, which: usize) -> Vec<f32> {
        let step = 1e-6;
        let moved = |index: usize, by: f64| {
            let mut moved = at.clone();
            moved.0[which][index] += by;
            self.loss(&moved)
        };
        (0..at.0[which].len())
            .map(|index| ((moved(index, step) - moved(index, -step)) / (2.0 * step)) as f32)
            .collect()
    }
}

/// Numbers without a pattern.
fn numbers(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|at| ((at * 37 + seed * 11) % 23) as f64 / 12.0 - 0.9).collect()
}

fn floats(values: &[f64]) -> Vec<f32> {
    values.iter().map(|it| *it as f32).collect()
}

fn check(mode: u32, gates: usize, both: bool) {
    let mi = mi();
    let (ways, mut descriptor) = (1 + usize::from(both), null_mut());
    good!(mi, miopenCreateRNNDescriptor(&mut descriptor));
    good!(
        mi,
        miopenSetRNNDescriptor(
            descriptor,
            1,
            2,
            miopenRNNInputMode_t::miopenRNNlinear,
            miopenRNNDirectionMode_t(u32::from(both)),
            miopenRNNMode_t(mode),
            miopenRNNBiasMode_t::miopenRNNwithBias,
            miopenRNNAlgo_t::miopenRNNdefault,
            FLOAT
        )
    );
    let steps = |width| [2, 2, 1].map(|batch| mi.floats(&[batch, width]));
    let (x_desc, y_desc) = (steps(2), steps(ways as i32));
    // The last step has one sequence only: 5 rows.
    let (part, mut bytes, mut starts) = (mi.floats(&[1]), 0, Vec::new());
    good!(mi, miopenGetRNNParamsSize(mi.handle, descriptor, x_desc[0], &mut bytes, FLOAT));
    for layer in 0..(LAYERS * ways) as i32 {
        for id in 0..2 * gates as i32 {
            let [mut matrix, mut bias] = [0; 2];
            good!(mi, miopenGetRNNLayerParamOffset(descriptor, layer, x_desc[0], id, part, &mut matrix));
            good!(mi, miopenGetRNNLayerBiasOffset(descriptor, layer, x_desc[0], id, part, &mut bias));
            starts.push([matrix, bias]);
        }
    }
    let case = Case { mode, gates, ways, starts };
    let states = 2 * LAYERS * ways;
    let at = Arguments([numbers(bytes / 4, 1), numbers(10, 2), numbers(states, 3), numbers(states, 4)]);
    let [w, x, hx, cx] = at.0.each_ref().map(|values| mi.hip.buffer(&floats(values)));
    let (w_desc, s_desc) = (mi.floats(&[bytes as i32 / 4]), mi.floats(&[2 * ways as i32, 2, 1]));
    let dy: Vec<f64> = (1..=5 * ways).map(|it| it as f64).collect();
    let [y, dx, dhx, dcx, dw] =
        [5 * ways, 10, states, states, bytes / 4].map(|len| mi.hip.buffer(&vec![9.0_f32; len]));
    let (dy, dhy, dcy) = (
        mi.hip.buffer(&floats(&dy)),
        mi.hip.buffer(&vec![0.5_f32; states]),
        mi.hip.buffer(&vec![0.25_f32; states]),
    );
    let (x_list, y_list, none, mut kept) = (x_desc.as_ptr(), y_desc.as_ptr(), null_mut(), 0);
    good!(mi, miopenGetRNNTrainingReserveSize(mi.handle, descriptor, 3, x_list, &mut kept));
    let reserve = mi.hip.zeros::<u8>(kept);
    good!(
        mi,
        miopenRNNForwardTraining(
            mi.handle,
            descriptor,
            3,
            x_list,
            x.pointer,
            s_desc,
            hx.pointer,
            s_desc,
            cx.pointer,
            w_desc,
            w.pointer,
            y_list,
            y.pointer,
            s_desc,
            none,
            s_desc,
            none,
            none,
            0,
            reserve.pointer,
            kept
        )
    );
    good!(
        mi,
        miopenRNNBackwardData(
            mi.handle,
            descriptor,
            3,
            y_list,
            y.pointer,
            y_list,
            dy.pointer,
            s_desc,
            dhy.pointer,
            s_desc,
            dcy.pointer,
            w_desc,
            w.pointer,
            s_desc,
            hx.pointer,
            s_desc,
            cx.pointer,
            x_list,
            dx.pointer,
            s_desc,
            dhx.pointer,
            s_desc,
            dcx.pointer,
            none,
            0,
            reserve.pointer,
            kept
        )
    );
    good!(
        mi,
        miopenRNNBackwardWeights(
            mi.handle,
            descriptor,
            3,
            x_list,
            x.pointer,
            s_desc,
            hx.pointer,
            y_list,
            y.pointer,
            w_desc,
            dw.pointer,
            none,
            0,
            reserve.pointer,
            kept
        )
    );
    let found = [&dw, &dx, &dhx].map(|buffer| mi.read(buffer));
    for (which, found) in found.iter().enumerate() {
        close(found, &case.gradient(&at, which), 2e-4);
    }
    if mode == 2 {
        close(&mi.read(&dcx), &case.gradient(&at, 3), 2e-4);
    }
    let short = mi!(
        mi,
        miopenRNNBackwardWeights(
            mi.handle,
            descriptor,
            3,
            x_list,
            x.pointer,
            s_desc,
            hx.pointer,
            y_list,
            y.pointer,
            w_desc,
            dw.pointer,
            none,
            0,
            reserve.pointer,
            kept - 4
        )
    );
    assert_eq!(short, UNKNOWN);
}

#[test]
fn plain_networks_go_back() {
    check(0, 1, false);
    check(1, 1, false);
    check(1, 1, true);
}

#[test]
fn lstm_backward() {
    check(2, 4, false);
    check(2, 4, true);
}

#[test]
fn gru_backward() {
    check(3, 3, false);
    check(3, 3, true);
}

#[test]
fn dropout_between_layers_applies_to_gradients_too() {
    let mi = mi();
    // Rectified layers of 32 units without biases: the first one gives 3 to each, the second one adds nothing.
    const UNITS: usize = 32;
    let (mut descriptor, mut dropout, mut size) = (null_mut(), null_mut(), 0);
    good!(mi, miopenDropoutGetStatesSize(mi.handle, &mut size));
    let states = mi.hip.zeros::<u8>(size);
    good!(mi, miopenCreateDropoutDescriptor(&mut dropout));
    let generator = miopenRNGType_t::MIOPEN_RNG_PSEUDO_XORWOW;
    good!(
        mi,
        miopenSetDropoutDescriptor(dropout, mi.handle, 0.5, states.pointer, size, 5, false, false, generator)
    );
    good!(mi, miopenCreateRNNDescriptor(&mut descriptor));
    good!(
        mi,
        miopenSetRNNDescriptor_V2(
            descriptor,
            UNITS as i32,
            2,
            dropout,
            miopenRNNInputMode_t::miopenRNNlinear,
            miopenRNNDirectionMode_t::miopenRNNunidirection,
            miopenRNNMode_t::miopenRNNRELU,
            miopenRNNBiasMode_t::miopenRNNNoBias,
            miopenRNNAlgo_t::miopenRNNdefault,
            FLOAT
        )
    );
    let (x_desc, y_desc, part) = (mi.floats(&[1, 1]), mi.floats(&[1, UNITS as i32]), mi.floats(&[1]));
    let (mut bytes, mut second, mut kept) = (0, 0, 0);
    good!(mi, miopenGetRNNParamsSize(mi.handle, descriptor, x_desc, &mut bytes, FLOAT));
    good!(mi, miopenGetRNNLayerParamOffset(descriptor, 1, x_desc, 0, part, &mut second));
    let mut weights = vec![0.0_f32; bytes / 4];
    weights[..UNITS].fill(1.0);
    (0..UNITS).for_each(|unit| weights[second + unit * (UNITS + 1)] = 1.0);
    let (w, w_desc) = (mi.hip.buffer(&weights), mi.floats(&[weights.len() as i32]));
    let (x, dy) = (mi.hip.buffer(&[3.0_f32]), mi.hip.buffer(&[1.0_f32; UNITS]));
    let [y, dx, dw] = [UNITS, 1, bytes / 4].map(|len| mi.hip.zeros::<f32>(len));
    good!(mi, miopenGetRNNTrainingReserveSize(mi.handle, descriptor, 1, &x_desc, &mut kept));
    let (reserve, s_desc, none) = (mi.hip.zeros::<u8>(kept), mi.floats(&[2, 1, UNITS as i32]), null_mut());
    let null = std::ptr::null();
    good!(
        mi,
        miopenRNNForwardTraining(
            mi.handle,
            descriptor,
            1,
            &x_desc,
            x.pointer,
            s_desc,
            null,
            s_desc,
            null,
            w_desc,
            w.pointer,
            &y_desc,
            y.pointer,
            s_desc,
            none,
            s_desc,
            none,
            none,
            0,
            reserve.pointer,
            kept
        )
    );
    // Kept values are doubled.
    let outputs = mi.read(&y);
    let left = outputs.iter().filter(|it| **it == 6.0).count();
    assert!(
        (4..UNITS - 4).contains(&left) && outputs.iter().all(|it| [0.0, 6.0].contains(it)),
        "{outputs:?}"
    );
    good!(
        mi,
        miopenRNNBackwardData(
            mi.handle,
            descriptor,
            1,
            &y_desc,
            y.pointer,
            &y_desc,
            dy.pointer,
            s_desc,
            null,
            s_desc,
            null,
            w_desc,
            w.pointer,
            s_desc,
            null,
            s_desc,
            null,
            &x_desc,
            dx.pointer,
            s_desc,
            none,
            s_desc,
            none,
            none,
            0,
            reserve.pointer,
            kept
        )
    );
    assert_eq!(mi.read(&dx), [2.0 * left as f32]);
    good!(
        mi,
        miopenRNNBackwardWeights(
            mi.handle,
            descriptor,
            1,
            &x_desc,
            x.pointer,
            s_desc,
            null,
            &y_desc,
            y.pointer,
            w_desc,
            dw.pointer,
            none,
            0,
            reserve.pointer,
            kept
        )
    );
    let found = mi.read(&dw);
    for (unit, output) in outputs.iter().enumerate() {
        // Of the first layer: the input, twice where it is left. Of the second: what was left of the unit below.
        assert_eq!((found[unit], found[second + unit * (UNITS + 1)]), (*output, *output));
    }
    // Inference drops nothing.
    good!(
        mi,
        miopenRNNForwardInference(
            mi.handle, descriptor, 1, &x_desc, x.pointer, s_desc, null, s_desc, null, w_desc, w.pointer,
            &y_desc, y.pointer, s_desc, none, s_desc, none, none, 0
        )
    );
    assert_eq!(mi.read(&y), [3.0; UNITS]);
}
