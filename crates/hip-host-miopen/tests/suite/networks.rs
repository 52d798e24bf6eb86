//! Recurrent networks against the recurrences written down.

use crate::library::*;
use hip_sys::miopen::*;
use std::ptr::{null, null_mut};

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

fn network(mi: &Mi, mode: u32, hidden: i32, layers: i32, both: bool, biased: bool) -> miopenRNNDescriptor_t {
    let mut descriptor = null_mut();
    good!(mi, miopenCreateRNNDescriptor(&mut descriptor));
    good!(
        mi,
        miopenSetRNNDescriptor(
            descriptor,
            hidden,
            layers,
            miopenRNNInputMode_t::miopenRNNlinear,
            miopenRNNDirectionMode_t(u32::from(both)),
            miopenRNNMode_t(mode),
            miopenRNNBiasMode_t(u32::from(biased)),
            miopenRNNAlgo_t::miopenRNNdefault,
            FLOAT
        )
    );
    descriptor
}

/// One unit with one input: for each gate the weights of the input and of the state and the sum of both biases.
struct Unit {
    w: Vec<f32>,
    r: Vec<f32>,
    /// Of the input, and of the state.
    b: [Vec<f32>; 2],
}

impl Unit {
    fn step(&self, mode: u32, x: f32, h: &mut f32, c: &mut f32) {
        let input = |gate: usize| self.w[gate] * x + self.b[0][gate];
        let state = |gate: usize| self.r[gate] * *h + self.b[1][gate];
        let gate = |gate: usize| input(gate) + state(gate);
        *h = match mode {
            0 => gate(0).max(0.0),
            1 => gate(0).tanh(),
            2 => {
                *c = sigmoid(gate(1)) * *c + sigmoid(gate(0)) * gate(3).tanh();
                sigmoid(gate(2)) * c.tanh()
            }
            _ => {
                let (update, reset) = (sigmoid(gate(0)), sigmoid(gate(1)));
                (1.0 - update) * (input(2) + reset * state(2)).tanh() + update * *h
            }
        };
    }
}

/// Fills the weights at the offsets that the library returns.
fn fill(mi: &Mi, descriptor: miopenRNNDescriptor_t, x: miopenTensorDescriptor_t, units: &[Unit]) -> Vec<f32> {
    let mut bytes = 0;
    good!(mi, miopenGetRNNParamsSize(mi.handle, descriptor, x, &mut bytes, FLOAT));
    let mut weights = vec![f32::NAN; bytes / 4];
    let part = mi.floats(&[1]);
    for (layer, unit) in units.iter().enumerate() {
        let gates = unit.w.len();
        for id in 0..2 * gates {
            let (layer, mut at) = (layer as i32, 0);
            good!(mi, miopenGetRNNLayerParamOffset(descriptor, layer, x, id as i32, part, &mut at));
            weights[at] = if id < gates { unit.w[id] } else { unit.r[id - gates] };
            good!(mi, miopenGetRNNLayerBiasOffset(descriptor, layer, x, id as i32, part, &mut at));
            weights[at] = unit.b[id / gates][id % gates];
        }
    }
    assert!(weights.iter().all(|it| !it.is_nan()), "every weight is set");
    weights
}

fn unit(seed: usize, gates: usize) -> Unit {
    let value = |at: usize| ((seed * 7 + at * 5) % 11) as f32 / 5.0 - 1.0;
    let list = |from: usize| (0..gates).map(|gate| value(from + gate)).collect::<Vec<_>>();
    Unit { w: list(0), r: list(3), b: [list(5), list(8)] }
}

#[test]
fn each_mode_follows_its_recurrence() {
    let mi = mi();
    let xs = [0.5_f32, -1.0, 2.0];
    for (mode, gates) in [(0, 1), (1, 1), (2, 4), (3, 3)] {
        let descriptor = network(&mi, mode, 1, 1, false, true);
        let (step, state) = (mi.floats(&[1, 1]), mi.floats(&[1, 1, 1]));
        let unit = unit(mode as usize + 1, gates);
        let weights = fill(&mi, descriptor, step, std::slice::from_ref(&unit));
        let w_desc = mi.floats(&[weights.len() as i32]);
        let (w, x, y) = (mi.hip.buffer(&weights), mi.hip.buffer(&xs), mi.hip.zeros::<f32>(3));
        let (hx, cx) = (mi.hip.buffer(&[0.25_f32]), mi.hip.buffer(&[-0.5_f32]));
        let [hy, cy] = [1, 1].map(|len| mi.hip.zeros::<f32>(len));
        let steps = [step; 3];
        let (list, none) = (steps.as_ptr(), null_mut());
        let mut workspace = 9;
        good!(mi, miopenGetRNNWorkspaceSize(mi.handle, descriptor, 3, list, &mut workspace));
        assert_eq!(workspace, 0);
        good!(
            mi,
            miopenRNNForwardInference(
                mi.handle, descriptor, 3, list, x.pointer, state, hx.pointer, state, cx.pointer, w_desc,
                w.pointer, list, y.pointer, state, hy.pointer, state, cy.pointer, none, 0
            )
        );
        let (mut h, mut c) = (0.25, -0.5);
        let wanted = xs.map(|x| {
            unit.step(mode, x, &mut h, &mut c);
            h
        });
        close(&mi.read(&y), &wanted, 1e-6);
        close(&mi.read(&hy), &[h], 1e-6);
        if mode == 2 {
            close(&mi.read(&cy), &[c], 1e-6);
        }
    }
}

#[test]
fn both_directions_and_sequences_of_any_length() {
    let mi = mi();
    // Two sequences, of 2 and of 3 steps, with padding; a layer in both directions of one unit each.
    let descriptor = network(&mi, 1, 1, 1, true, true);
    let units = [unit(1, 1), unit(4, 1)];
    let weights = fill(&mi, descriptor, mi.floats(&[1, 1]), &units);
    let sequences = [[0.5_f32, -1.0, 77.0], [1.0, 2.0, -0.5]];
    let lens = [2, 3];
    let w = mi.hip.buffer(&weights);
    let (mut xd, mut yd) = (null_mut(), null_mut());
    let state = mi.floats(&[2, 2, 1]);
    let wanted = |sequence: usize| {
        let (xs, mut ys) = (&sequences[sequence][..lens[sequence] as usize], [[-9.0_f32; 2]; 3]);
        let mut h = [0.0_f32; 2];
        let last = xs.len() - 1;
        for turn in 0..xs.len() {
            units[0].step(1, xs[turn], &mut h[0], &mut 0.0);
            ys[turn][0] = h[0];
            units[1].step(1, xs[last - turn], &mut h[1], &mut 0.0);
            ys[last - turn][1] = h[1];
        }
        (ys, h)
    };
    assert_eq!(mi_later!(mi, miopenCreateSeqTensorDescriptor(&mut xd)), 0);
    assert_eq!(mi_later!(mi, miopenCreateSeqTensorDescriptor(&mut yd)), 0);
    let hx = mi.hip.zeros::<f32>(4);
    for (layout, batch_first) in [(3, true), (2, false)] {
        let mut marker = -9.0_f32;
        for (desc, width) in [(xd, 1), (yd, 2)] {
            let layout = miopenRNNBaseLayout_t(layout);
            let filler = (&raw mut marker).cast();
            let status = mi_later!(
                mi,
                miopenSetRNNDataSeqTensorDescriptor(desc, FLOAT, layout, 3, 2, width, lens.as_ptr(), filler)
            );
            assert_eq!(status, 0);
        }
        let index = |sequence: usize, step: usize| {
            if batch_first { sequence * 3 + step } else { step * 2 + sequence }
        };
        let mut x = [0.0_f32; 6];
        (0..6).for_each(|at| x[index(at / 3, at % 3)] = sequences[at / 3][at % 3]);
        let (x, y) = (mi.hip.buffer(&x), mi.hip.zeros::<f32>(12));
        let hy = mi.hip.zeros::<f32>(4);
        let (none, inference) = (null_mut(), miopenRNNFWDMode_t::miopenRNNInference);
        let run = |mode, bytes| {
            mi_later!(
                mi,
                miopenRNNForward(
                    mi.handle,
                    descriptor,
                    mode,
                    xd,
                    x.pointer,
                    state,
                    hx.pointer,
                    hy.pointer,
                    state,
                    null(),
                    none,
                    yd,
                    y.pointer,
                    w.pointer,
                    bytes,
                    none,
                    0,
                    none,
                    0
                )
            )
        };
        assert_eq!(run(inference, 4 * weights.len()), 0);
        let (found, states) = (mi.read(&y), mi.read(&hy));
        for sequence in 0..2 {
            let (ys, h) = wanted(sequence);
            for (step, ys) in ys.iter().enumerate() {
                close(&found[2 * index(sequence, step)..][..2], ys, 1e-6);
            }
            close(&[states[sequence], states[2 + sequence]], &h, 1e-6);
        }
        assert_eq!(run(inference, 4), UNKNOWN);
        // Training needs a reserve space.
        assert_eq!(run(miopenRNNFWDMode_t::miopenRNNTraining, 4 * weights.len()), UNKNOWN);
    }
}

#[test]
fn a_layer_takes_the_previous_layer_s_output() {
    let mi = mi();
    // Two layers of ReLU without biases: the second one sums both units of the first one.
    let descriptor = network(&mi, 0, 2, 2, false, false);
    let (x_desc, part) = (mi.floats(&[1, 3]), mi.floats(&[1]));
    let mut bytes = 0;
    good!(mi, miopenGetRNNParamsSize(mi.handle, descriptor, x_desc, &mut bytes, FLOAT));
    assert_eq!(bytes, 4 * (2 * 3 + 2 * 2 + 2 * 2 + 2 * 2));
    let w = mi.hip.zeros::<f32>(bytes / 4);
    let w_desc = mi.floats(&[bytes as i32 / 4]);
    let parts: [(i32, i32, [i32; 2], &[f32]); 2] =
        [(0, 0, [2, 3], &[1.0, 0.0, 0.0, 0.0, 1.0, 1.0]), (1, 0, [2, 2], &[1.0, 1.0, 1.0, -1.0])];
    for (layer, id, lens, values) in parts {
        let (desc, given, found) =
            (mi.floats(&lens), mi.hip.buffer(values), mi.hip.zeros::<f32>(values.len()));
        good!(
            mi,
            miopenSetRNNLayerParam(
                mi.handle,
                descriptor,
                layer,
                x_desc,
                w_desc,
                w.pointer,
                id,
                desc,
                given.pointer
            )
        );
        good!(
            mi,
            miopenGetRNNLayerParam(
                mi.handle,
                descriptor,
                layer,
                x_desc,
                w_desc,
                w.pointer,
                id,
                part,
                found.pointer
            )
        );
        assert_eq!(mi.read(&found), values);
        let mut size = 0;
        good!(mi, miopenGetRNNLayerParamSize(mi.handle, descriptor, layer, x_desc, id, &mut size));
        assert_eq!(size, 4 * values.len());
    }
    let (x, y) = (mi.hip.buffer(&[3.0_f32, 1.0, 1.5]), mi.hip.zeros::<f32>(2));
    let (state, y_desc, none) = (mi.floats(&[2, 1, 2]), mi.floats(&[1, 2]), null_mut());
    good!(
        mi,
        miopenRNNForwardInference(
            mi.handle,
            descriptor,
            1,
            &x_desc,
            x.pointer,
            state,
            null(),
            state,
            null(),
            w_desc,
            w.pointer,
            &y_desc,
            y.pointer,
            state,
            none,
            state,
            none,
            none,
            0
        )
    );
    assert_eq!(mi.read(&y), [5.5, 0.5]);
    // There is no third layer.
    let mut at = 0;
    assert_eq!(mi!(mi, miopenGetRNNLayerParamOffset(descriptor, 2, x_desc, 0, part, &mut at)), BAD);
}
