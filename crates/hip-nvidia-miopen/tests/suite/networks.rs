//! Recurrent networks against their formulas in f64, and their gradients against differences.

use crate::bench::{Bench, F32, ok, set};
use hip_sys::miopen::*;
use std::ptr::{null, null_mut};

const INPUT: usize = 3;
const HIDDEN: usize = 4;
const BATCHES: [usize; 3] = [2, 2, 1];

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The offsets of each gate's parameters, as the library says: matrices and biases of the input side, then of the
/// hidden side.
struct Offsets {
    matrices: Vec<usize>,
    biases: Vec<usize>,
}

/// One unidirectional layer. Sequences are packed: a step has a row for each sequence that is not over.
fn forward(mode: miopenRNNMode_t, offsets: &Offsets, w: &[f64], x: &[f64]) -> Vec<f64> {
    let gates = offsets.matrices.len() / 2;
    let (mut h, mut c) = (vec![vec![0.0; HIDDEN]; BATCHES[0]], vec![vec![0.0; HIDDEN]; BATCHES[0]]);
    let (mut y, mut x) = (Vec::new(), x.chunks(INPUT));
    for batch in BATCHES {
        for (h, c) in h.iter_mut().zip(&mut c).take(batch) {
            let x = x.next().unwrap();
            let side = |id: usize, v: &[f64], unit: usize| {
                let row = &w[offsets.matrices[id] + unit * v.len()..][..v.len()];
                row.iter().zip(v).map(|(w, v)| w * v).sum::<f64>() + w[offsets.biases[id] + unit]
            };
            let next: Vec<(f64, f64)> = (0..HIDDEN)
                .map(|unit| {
                    let given = |gate: usize| side(gate, x, unit);
                    let kept = |gate: usize| side(gates + gate, h, unit);
                    let both = |gate: usize| given(gate) + kept(gate);
                    match mode {
                        miopenRNNMode_t::miopenLSTM => {
                            let c = sigmoid(both(1)) * c[unit] + sigmoid(both(0)) * both(3).tanh();
                            (sigmoid(both(2)) * c.tanh(), c)
                        }
                        miopenRNNMode_t::miopenGRU => {
                            let (update, reset) = (sigmoid(both(0)), sigmoid(both(1)));
                            let new = (given(2) + reset * kept(2)).tanh();
                            ((1.0 - update) * new + update * h[unit], 0.0)
                        }
                        miopenRNNMode_t::miopenRNNRELU => (both(0).max(0.0), 0.0),
                        _ => (both(0).tanh(), 0.0),
                    }
                })
                .collect();
            (*h, *c) = next.into_iter().unzip();
            y.extend_from_slice(h);
        }
    }
    y
}

/// The gradient of the sum of `dy * y` by each of the values.
fn differences(values: &[f64], dy: &[f64], y: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let total = |values: &[f64]| y(values).iter().zip(dy).map(|(y, dy)| y * dy).sum::<f64>();
    let step = 1e-5;
    let moved = |index: usize, by: f64| {
        let mut values = values.to_vec();
        values[index] += by;
        total(&values)
    };
    (0..values.len()).map(|index| (moved(index, step) - moved(index, -step)) / (2.0 * step)).collect()
}

fn noise(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|index| ((index * 37 + seed * 101) % 64) as f64 / 64.0 - 0.5).collect()
}

fn single(values: &[f64]) -> Vec<f32> {
    values.iter().map(|value| *value as f32).collect()
}

fn check(bench: &Bench, mode: miopenRNNMode_t) {
    let mut rnn = null_mut();
    set!(bench.miopenCreateRNNDescriptor(&mut rnn));
    set!(bench.miopenSetRNNDescriptor(
        rnn,
        HIDDEN as i32,
        1,
        miopenRNNInputMode_t::miopenRNNlinear,
        miopenRNNDirectionMode_t::miopenRNNunidirection,
        mode,
        miopenRNNBiasMode_t::miopenRNNwithBias,
        miopenRNNAlgo_t::miopenRNNdefault,
        F32,
    ));
    let steps = |length: usize| BATCHES.map(|batch| bench.tensor(F32, &[batch as i32, length as i32]));
    let (mut xd, yd) = (steps(INPUT), steps(HIDDEN));
    let hd = bench.tensor(F32, &[1, BATCHES[0] as i32, HIDDEN as i32]);
    let (wd, part, count) = (bench.tensor(F32, &[1]), bench.tensor(F32, &[1]), BATCHES.len() as i32);
    let [mut bytes, mut space, mut kept, mut input] = [0; 4];
    ok!(bench.miopenGetRNNParamsSize(rnn, xd[0], &mut bytes, F32));
    ok!(bench.miopenGetRNNParamsDescriptor(rnn, xd[0], wd, F32));
    ok!(bench.miopenGetRNNWorkspaceSize(rnn, count, xd.as_ptr(), &mut space));
    ok!(bench.miopenGetRNNTrainingReserveSize(rnn, count, xd.as_ptr(), &mut kept));
    ok!(bench.miopenGetRNNInputTensorSize(rnn, count, xd.as_mut_ptr(), &mut input));
    let vectors: usize = BATCHES.iter().sum();
    assert_eq!(input, vectors * INPUT * 4);

    let gates = match mode {
        miopenRNNMode_t::miopenLSTM => 4,
        miopenRNNMode_t::miopenGRU => 3,
        _ => 1,
    };
    let mut offsets = Offsets { matrices: vec![0; 2 * gates], biases: vec![0; 2 * gates] };
    for id in 0..2 * gates {
        set!(bench.miopenGetRNNLayerParamOffset(rnn, 0, xd[0], id as i32, part, &mut offsets.matrices[id]));
        set!(bench.miopenGetRNNLayerBiasOffset(rnn, 0, xd[0], id as i32, part, &mut offsets.biases[id]));
    }
    let (w, x) = (noise(bytes / 4, 1), noise(vectors * INPUT, 2));
    let dy = noise(vectors * HIDDEN, 3);
    let y = forward(mode, &offsets, &w, &x);

    let (dev_w, dev_x, dev_dy) = (bench.put(&single(&w)), bench.put(&single(&x)), bench.put(&single(&dy)));
    let (dev_y, dev_dx) = (bench.put(&vec![9_f32; y.len()]), bench.put(&vec![9_f32; x.len()]));
    let (memory, reserve) = (bench.room(space), bench.room(kept.max(1)));
    ok!(bench.miopenRNNForwardInference(
        rnn,
        count,
        xd.as_ptr(),
        dev_x.at(),
        hd,
        null(),
        hd,
        null(),
        wd,
        dev_w.at(),
        yd.as_ptr(),
        dev_y.at(),
        hd,
        null_mut(),
        hd,
        null_mut(),
        memory.at(),
        space,
    ));
    dev_y.is_near(&y, 1e-5);
    ok!(bench.miopenRNNForwardTraining(
        rnn,
        count,
        xd.as_ptr(),
        dev_x.at(),
        hd,
        null(),
        hd,
        null(),
        wd,
        dev_w.at(),
        yd.as_ptr(),
        dev_y.at(),
        hd,
        null_mut(),
        hd,
        null_mut(),
        memory.at(),
        space,
        reserve.at(),
        kept,
    ));
    dev_y.is_near(&y, 1e-5);
    ok!(bench.miopenRNNBackwardData(
        rnn,
        count,
        yd.as_ptr(),
        dev_y.at(),
        yd.as_ptr(),
        dev_dy.at(),
        hd,
        null(),
        hd,
        null(),
        wd,
        dev_w.at(),
        hd,
        null(),
        hd,
        null(),
        xd.as_ptr(),
        dev_dx.at(),
        hd,
        null_mut(),
        hd,
        null_mut(),
        memory.at(),
        space,
        reserve.at(),
        kept,
    ));
    dev_dx.is_near(&differences(&x, &dy, |x| forward(mode, &offsets, &w, x)), 1e-4);
    // The old output is replaced.
    let dev_dw = bench.put(&vec![9_f32; w.len()]);
    ok!(bench.miopenRNNBackwardWeights(
        rnn,
        count,
        xd.as_ptr(),
        dev_x.at(),
        hd,
        null(),
        yd.as_ptr(),
        dev_y.at(),
        wd,
        dev_dw.at(),
        memory.at(),
        space,
        reserve.at(),
        kept,
    ));
    dev_dw.is_near(&differences(&w, &dy, |w| forward(mode, &offsets, w, &x)), 1e-4);
}

#[test]
fn lstm() {
    let Some(bench) = Bench::open() else { return };
    check(&bench, miopenRNNMode_t::miopenLSTM);
}

#[test]
fn gru() {
    let Some(bench) = Bench::open() else { return };
    check(&bench, miopenRNNMode_t::miopenGRU);
}

#[test]
fn plain() {
    let Some(bench) = Bench::open() else { return };
    check(&bench, miopenRNNMode_t::miopenRNNTANH);
    check(&bench, miopenRNNMode_t::miopenRNNRELU);
}
