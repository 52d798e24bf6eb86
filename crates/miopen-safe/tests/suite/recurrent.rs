//! Recurrent networks against their cells.

use crate::numbers::{check, noise};
use crate::under_test::{Machine, offered};
use miopen_safe::{
    Error, Rnn, RnnDesc, RnnMode, RnnParamKind, RnnSequence, RnnStates, RnnStatesMut, RnnTraining,
};
use reference::network::Sum;
use reference::network::recurrent::{Cell, Params, State, run};

const INPUT: usize = 3;
const HIDDEN: usize = 4;
/// Sequences of 4, 3 and 2 times.
const BATCHES: [usize; 4] = [3, 3, 2, 1];

const MODES: [(RnnMode, Cell); 4] = [
    (RnnMode::Relu, Cell::Relu),
    (RnnMode::Tanh, Cell::Tanh),
    (RnnMode::Lstm, Cell::Lstm),
    (RnnMode::Gru, Cell::Gru),
];

struct Problem {
    rnn: Rnn,
    cell: Cell,
    w: Vec<f64>,
    x: Vec<f64>,
    h: Vec<f64>,
    c: Vec<f64>,
}

/// Outputs, last states, last memory.
type Results = [Vec<f64>; 3];

impl Problem {
    fn new(rnn: Rnn, cell: Cell, sequence: &RnnSequence) -> Self {
        let small = |seed, len| noise::<f32>(seed, len).iter().map(|x| f64::from((x * 0.5) as f32)).collect();
        Self {
            rnn,
            cell,
            w: small(1, sequence.param_count()),
            x: small(2, sequence.input_count()),
            h: small(3, sequence.state_count()),
            c: small(4, sequence.state_count()),
        }
    }

    fn solve(&self, params_of: &dyn Fn(usize) -> Params) -> Results {
        let (directions, batch) = (self.rnn.directions(), BATCHES[0]);
        let width = HIDDEN * directions;
        let rows: usize = BATCHES.iter().sum();
        let start: Vec<usize> = (0..BATCHES.len()).map(|time| BATCHES[..time].iter().sum()).collect();
        let mut layer_in: Vec<Vec<f64>> = self.x.chunks(INPUT).map(<[f64]>::to_vec).collect();
        let (mut last_h, mut last_c) = (vec![0.0; self.h.len()], vec![0.0; self.h.len()]);
        for layer in 0..self.rnn.layers {
            let mut layer_out = vec![vec![0.0; width]; rows];
            for direction in 0..directions {
                let number = layer * directions + direction;
                let params = params_of(number);
                for sequence in 0..batch {
                    let times: Vec<usize> =
                        (0..BATCHES.len()).filter(|time| BATCHES[*time] > sequence).collect();
                    let inputs: Vec<_> =
                        times.iter().map(|time| layer_in[start[*time] + sequence].clone()).collect();
                    let at = (number * batch + sequence) * HIDDEN;
                    let first =
                        State { h: self.h[at..at + HIDDEN].to_vec(), c: self.c[at..at + HIDDEN].to_vec() };
                    let (outputs, last) = run(self.cell, &params, &inputs, &first, direction == 1);
                    for (time, output) in times.iter().zip(outputs) {
                        layer_out[start[*time] + sequence][direction * HIDDEN..][..HIDDEN]
                            .copy_from_slice(&output);
                    }
                    last_h[at..at + HIDDEN].copy_from_slice(&last.h);
                    last_c[at..at + HIDDEN].copy_from_slice(&last.c);
                }
            }
            layer_in = layer_out;
        }
        [layer_in.concat(), last_h, last_c]
    }
}

/// The parameters of a layer, cut out of all of them where the library says.
fn params(machine: &Machine, network: &RnnDesc, sequence: &RnnSequence, w: &[f64], layer: usize) -> Params {
    let gates = network.rnn().mode.gates();
    let matrix = |id| w[sequence.matrix(&machine.handle, network, layer, id).unwrap().range()].to_vec();
    let bias = |id| {
        if !network.rnn().bias {
            return vec![0.0; HIDDEN];
        }
        w[sequence.bias(&machine.handle, network, layer, id).unwrap().range()].to_vec()
    };
    Params {
        w: (0..gates).map(matrix).collect(),
        r: (gates..2 * gates).map(matrix).collect(),
        bw: (0..gates).map(bias).collect(),
        br: (gates..2 * gates).map(bias).collect(),
    }
}

/// What becomes of errors in several layers and times: each is bounded, as the weights are small.
fn sums(values: &[f64]) -> Vec<Sum> {
    values.iter().map(|value| Sum { value: *value, scale: 16.0, count: INPUT + HIDDEN }).collect()
}

fn infer(machine: &Machine, rnn: Rnn, cell: Cell) {
    let Machine { handle, .. } = machine;
    let Some(network) = offered(RnnDesc::new::<f32>(handle, rnn, None)) else { return };
    let sequence = RnnSequence::new(handle, &network, &BATCHES, INPUT).unwrap();
    let problem = Problem::new(rnn, cell, &sequence);
    let wanted = problem.solve(&|layer| params(machine, &network, &sequence, &problem.w, layer));
    let (w, x) = (machine.up::<f32>(&problem.w), machine.up::<f32>(&problem.x));
    let (h, c) = (machine.up::<f32>(&problem.h), machine.up::<f32>(&problem.c));
    let (mut y, mut hy) = (machine.scratch::<f32>(sequence.output_count()), machine.scratch::<f32>(h.len()));
    let mut cy = machine.scratch::<f32>(c.len());
    let lstm = rnn.mode == RnnMode::Lstm;
    let first = RnnStates { h: Some(h.view()), c: lstm.then(|| c.view()) };
    let mut last = RnnStatesMut { h: Some(hy.view_mut()), c: lstm.then(|| cy.view_mut()) };
    let done =
        handle.rnn_inference(&network, &sequence, &w.view(), &x.view(), &first, &mut y.view_mut(), &mut last);
    if offered(done).is_none() {
        return;
    }
    check::<f32>(&format!("outputs of {rnn:?}"), &machine.down(&y), &sums(&wanted[0]));
    check::<f32>(&format!("states of {rnn:?}"), &machine.down(&hy), &sums(&wanted[1]));
    if lstm {
        check::<f32>(&format!("memory of {rnn:?}"), &machine.down(&cy), &sums(&wanted[2]));
    }
}

#[test]
fn every_cell() {
    let machine = Machine::new();
    for (mode, cell) in MODES {
        let one = Rnn::new(mode, HIDDEN);
        infer(&machine, one, cell);
        infer(&machine, Rnn { bias: false, layers: 2, ..one }, cell);
        infer(&machine, Rnn { bidirectional: true, ..one }, cell);
        infer(&machine, Rnn { bidirectional: true, layers: 2, ..one }, cell);
    }
}

#[test]
fn parameters_are_written_and_read_back() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let Some(network) = offered(RnnDesc::new::<f32>(handle, Rnn::new(RnnMode::Lstm, HIDDEN), None)) else {
        return;
    };
    let sequence = RnnSequence::new(handle, &network, &BATCHES, INPUT).unwrap();
    let all = noise::<f32>(5, sequence.param_count());
    let mut w = machine.up::<f32>(&all);
    for (kind, part) in [
        (RnnParamKind::Matrix(5), sequence.matrix(handle, &network, 0, 5).unwrap()),
        (RnnParamKind::Bias(2), sequence.bias(handle, &network, 0, 2).unwrap()),
    ] {
        let desc = machine.desc::<f32>(&part.dims);
        let mut out = machine.scratch::<f32>(desc.elements());
        let mut param = desc.view_mut(&mut out).unwrap();
        if offered(handle.rnn_param(&network, &sequence, 0, kind, &w.view(), &mut param)).is_none() {
            return;
        }
        assert_eq!(machine.down(&out), &all[part.range()]);
        let new = noise::<f32>(6, desc.elements());
        let dev_new = machine.up::<f32>(&new);
        let param = desc.view(&dev_new).unwrap();
        offered(handle.set_rnn_param(&network, &sequence, 0, kind, &param, &mut w.view_mut()));
        let mut wanted = machine.down(&w);
        wanted[part.range()].copy_from_slice(&new);
        assert_eq!(machine.down(&w), wanted);
        let other = machine.desc::<f32>(&[1, 1]);
        let wrong = other.view(&dev_new).unwrap();
        let done = handle.set_rnn_param(&network, &sequence, 0, kind, &wrong, &mut w.view_mut());
        assert!(matches!(done, Err(Error::Mismatch { .. })));
    }
    assert!(matches!(sequence.matrix(handle, &network, 1, 0), Err(Error::Invalid { .. })));
    assert!(matches!(sequence.matrix(handle, &network, 0, 8), Err(Error::Invalid { .. })));
}

/// Gradients against differences of the definition.
fn train(machine: &Machine, rnn: Rnn, cell: Cell) {
    let Machine { handle, .. } = machine;
    let Some(mut network) = offered(RnnDesc::new::<f32>(handle, rnn, None)) else { return };
    let sequence = RnnSequence::new(handle, &network, &BATCHES, INPUT).unwrap();
    let mut problem = Problem::new(rnn, cell, &sequence);
    let (w, x) = (machine.up::<f32>(&problem.w), machine.up::<f32>(&problem.x));
    let (h, c) = (machine.up::<f32>(&problem.h), machine.up::<f32>(&problem.c));
    let mut y = machine.scratch::<f32>(sequence.output_count());
    let lstm = rnn.mode == RnnMode::Lstm;
    let first = RnnStates { h: Some(h.view()), c: lstm.then(|| c.view()) };
    let mut last = RnnStatesMut::default();
    let done = handle.rnn_training(
        &mut network,
        &sequence,
        &w.view(),
        &x.view(),
        &first,
        &mut y.view_mut(),
        &mut last,
    );
    let Some(mut kept) = offered(done) else { return };
    let (dy, mut dw) = (noise::<f32>(9, sequence.output_count()), machine.scratch::<f32>(w.len()));
    let early = handle.rnn_backward_weights(
        &network,
        &mut kept,
        &x.view(),
        Some(&h.view()),
        &y.view(),
        &mut dw.view_mut(),
    );
    assert!(matches!(early, Err(Error::Invalid { .. })), "{early:?}");
    let (dev_dy, mut dx) = (machine.up::<f32>(&dy), machine.scratch::<f32>(x.len()));
    let mut other = RnnDesc::new::<f32>(handle, rnn, None).unwrap();
    let mut backward_data = |network: &mut RnnDesc, kept: &mut RnnTraining| {
        let (d_last, mut d_first) = (RnnStates::default(), RnnStatesMut::default());
        let (w, y, dy) = (w.view(), y.view(), dev_dy.view());
        handle.rnn_backward_data(
            network,
            kept,
            &w,
            &first,
            &y,
            &dy,
            &d_last,
            &mut dx.view_mut(),
            &mut d_first,
        )
    };
    let refused = backward_data(&mut other, &mut kept);
    assert!(matches!(refused, Err(Error::Mismatch { .. })), "a network that says the same: {refused:?}");
    if offered(backward_data(&mut network, &mut kept)).is_none() {
        return;
    }
    let refused = backward_data(&mut network, &mut kept);
    assert!(matches!(refused, Err(Error::Invalid { .. })), "the second time: {refused:?}");
    let refused = handle.rnn_backward_weights(
        &other,
        &mut kept,
        &x.view(),
        Some(&h.view()),
        &y.view(),
        &mut dw.view_mut(),
    );
    assert!(matches!(refused, Err(Error::Mismatch { .. })), "another network: {refused:?}");
    let done = handle.rnn_backward_weights(
        &network,
        &mut kept,
        &x.view(),
        Some(&h.view()),
        &y.view(),
        &mut dw.view_mut(),
    );
    offered(done);
    let loss = |problem: &Problem| {
        let [y, ..] = problem.solve(&|layer| params(machine, &network, &sequence, &problem.w, layer));
        y.iter().zip(&dy).map(|(y, dy)| y * dy).sum::<f64>()
    };
    let step = 1e-5;
    let mut slope = |change: &dyn Fn(&mut Problem, f64)| {
        change(&mut problem, step);
        let above = loss(&problem);
        change(&mut problem, -2.0 * step);
        let below = loss(&problem);
        change(&mut problem, step);
        (above - below) / (2.0 * step)
    };
    let wanted: Vec<f64> = (0..x.len()).map(|at| slope(&|p, by| p.x[at] += by)).collect();
    check::<f32>(&format!("the input's gradient of {rnn:?}"), &machine.down(&dx), &sums(&wanted));
    let wanted: Vec<f64> = (0..w.len()).map(|at| slope(&|p, by| p.w[at] += by)).collect();
    check::<f32>(&format!("the parameters' gradient of {rnn:?}"), &machine.down(&dw), &sums(&wanted));
}

#[test]
fn training() {
    let machine = Machine::new();
    for (mode, cell) in MODES {
        let one = Rnn::new(mode, HIDDEN);
        train(&machine, one, cell);
        train(&machine, Rnn { bidirectional: true, layers: 2, ..one }, cell);
    }
}

#[test]
fn mismatched_arguments_are_refused() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let made = RnnDesc::new::<f32>(handle, Rnn::new(RnnMode::Gru, 0), None);
    assert!(matches!(made, Err(Error::Invalid { .. })));
    let Some(network) = offered(RnnDesc::new::<f32>(handle, Rnn::new(RnnMode::Gru, HIDDEN), None)) else {
        return;
    };
    for batches in [&[][..], &[2, 3], &[2, 0]] {
        assert!(matches!(RnnSequence::new(handle, &network, batches, INPUT), Err(Error::Invalid { .. })));
    }
    assert!(matches!(RnnSequence::new(handle, &network, &[2], 1 << 31), Err(Error::TooLarge { .. })));
    let sequence = RnnSequence::new(handle, &network, &[2, 1], INPUT).unwrap();
    let (w, x) =
        (machine.scratch::<f32>(sequence.param_count()), machine.scratch::<f32>(sequence.input_count()));
    let mut y = machine.scratch::<f32>(sequence.output_count());
    let mut call =
        |w: &hip_safe::DeviceView<'_, f32>, x: &hip_safe::DeviceView<'_, f32>, network: &RnnDesc| {
            let (first, mut last) = (RnnStates::default(), RnnStatesMut::default());
            handle.rnn_inference(network, &sequence, w, x, &first, &mut y.view_mut(), &mut last)
        };
    assert!(matches!(call(&w.slice(1..).unwrap(), &x.view(), &network), Err(Error::Mismatch { .. })));
    assert!(matches!(call(&w.view(), &x.slice(1..).unwrap(), &network), Err(Error::Mismatch { .. })));
    let other = RnnDesc::new::<f32>(handle, Rnn::new(RnnMode::Lstm, HIDDEN), None).unwrap();
    assert!(matches!(call(&w.view(), &x.view(), &other), Err(Error::Mismatch { .. })));
}
