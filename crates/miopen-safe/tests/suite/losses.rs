//! The loss of connectionist temporal classification: a case by hand, and sums over all paths.

use crate::numbers::{check, noise};
use crate::under_test::{Machine, offered};
use miopen_safe::{CtcLabels, CtcLoss, CtcLossDesc, Error};
use reference::network::Sum;

#[test]
fn a_loss_by_hand() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let Some(desc) = offered(CtcLossDesc::new(handle, CtcLoss::default())) else { return };
    // Two times, one sequence, classes blank and a; every class is as probable. "a" is aa, a-, -a: 3 of 4 paths.
    let (i_desc, l_desc) = (machine.desc::<f32>(&[2, 1, 2]), machine.desc::<f32>(&[1]));
    let (inputs, mut losses, mut gradients) =
        (machine.up::<f32>(&[0.0; 4]), machine.scratch::<f32>(1), machine.scratch::<f32>(4));
    let labels = CtcLabels { labels: &[1], label_lengths: &[1], input_lengths: &[2] };
    let done = handle.ctc_loss(
        &desc,
        labels,
        &i_desc.view(&inputs).unwrap(),
        &mut l_desc.view_mut(&mut losses).unwrap(),
        &mut i_desc.view_mut(&mut gradients).unwrap(),
    );
    if offered(done).is_some() {
        let loss = machine.down(&losses)[0];
        assert!((loss - (4.0_f64 / 3.0).ln()).abs() < 1e-5, "{loss}");
    }
}

const TIMES: usize = 5;
const CLASSES: usize = 3;

/// What a path says: a class that follows itself counts once, the blank one not at all.
fn said(path: &[usize]) -> Vec<usize> {
    let counts = |at: &usize| path[*at] != 0 && (*at == 0 || path[at - 1] != path[*at]);
    (0..path.len()).filter(counts).map(|at| path[at]).collect()
}

/// The negative logarithm of the probability of all paths that say the labels; the inputs are those of one sequence.
fn loss(inputs: &[f64], labels: &[usize]) -> f64 {
    let rows: Vec<Vec<f64>> = inputs
        .chunks(CLASSES)
        .map(|row| {
            let sum: f64 = row.iter().map(|x| x.exp()).sum();
            row.iter().map(|x| x.exp() / sum).collect()
        })
        .collect();
    let paths = (0..CLASSES.pow(rows.len() as u32)).map(|number| {
        (0..rows.len()).map(|time| number / CLASSES.pow(time as u32) % CLASSES).collect::<Vec<_>>()
    });
    let probability =
        |path: &Vec<usize>| path.iter().zip(&rows).map(|(class, row)| row[*class]).product::<f64>();
    let total: f64 = paths.filter(|path| said(path) == labels).map(|path| probability(&path)).sum();
    -total.ln()
}

/// The slope of a loss by each of its inputs.
fn slopes(inputs: &[f64], labels: &[usize]) -> Vec<f64> {
    const STEP: f64 = 1e-5;
    let moved = |at: usize, by: f64| {
        let mut inputs = inputs.to_vec();
        inputs[at] += by;
        loss(&inputs, labels)
    };
    (0..inputs.len()).map(|at| (moved(at, STEP) - moved(at, -STEP)) / (2.0 * STEP)).collect()
}

/// In each time, forth and back, two logarithms of no more than 8 are added.
fn sum(value: f64) -> Sum {
    Sum { value, scale: 4.0 * 8.0, count: TIMES }
}

/// A repeated label, one that fills its times to the last, and a short sequence.
#[test]
fn losses_and_gradients_of_all_paths() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let Some(desc) = offered(CtcLossDesc::new(handle, CtcLoss::default())) else { return };
    let (labels, ends): ([&[usize]; 3], _) = ([&[1, 1, 2], &[1, 2, 1], &[2]], [5, 3, 4]);
    let batch = labels.len();
    let (i_desc, l_desc) = (machine.desc::<f32>(&[TIMES, batch, CLASSES]), machine.desc::<f32>(&[batch]));
    let x = noise::<f32>(3, TIMES * batch * CLASSES);
    let (inputs, mut losses, mut gradients) =
        (machine.up::<f32>(&x), machine.scratch::<f32>(batch), machine.scratch::<f32>(x.len()));
    let all = CtcLabels {
        labels: &labels.concat(),
        label_lengths: &labels.map(<[usize]>::len),
        input_lengths: &ends,
    };
    let done = handle.ctc_loss(
        &desc,
        all,
        &i_desc.view(&inputs).unwrap(),
        &mut l_desc.view_mut(&mut losses).unwrap(),
        &mut i_desc.view_mut(&mut gradients).unwrap(),
    );
    if offered(done).is_none() {
        return;
    }
    // Those of one sequence, up to its end.
    let own = |values: &[f64], sequence: usize| -> Vec<f64> {
        let rows = values.chunks(CLASSES).skip(sequence).step_by(batch).take(ends[sequence]);
        rows.flatten().copied().collect()
    };
    let (losses, gradients) = (machine.down(&losses), machine.down(&gradients));
    for (sequence, labels) in labels.iter().enumerate() {
        let inputs = own(&x, sequence);
        check::<f32>(
            &format!("the loss of {labels:?}"),
            &losses[sequence..=sequence],
            &[sum(loss(&inputs, labels))],
        );
        let wanted: Vec<Sum> = slopes(&inputs, labels).into_iter().map(sum).collect();
        check::<f32>(&format!("the gradients of {labels:?}"), &own(&gradients, sequence), &wanted);
    }
}

/// The library's kernels would count from a label, or a time, before the first.
#[test]
fn a_sequence_has_labels_and_times() {
    let machine = Machine::new();
    let Some(desc) = offered(CtcLossDesc::new(&machine.handle, CtcLoss::default())) else { return };
    let (i_desc, l_desc) = (machine.desc::<f32>(&[2, 2, 3]), machine.desc::<f32>(&[2]));
    let inputs = machine.scratch::<f32>(12);
    for (labels, label_lengths, input_lengths) in
        [(&[1][..], [1, 0], [2, 2]), (&[1], [0, 1], [2, 2]), (&[], [0, 0], [2, 2]), (&[1], [1, 0], [2, 0])]
    {
        let (mut losses, mut gradients) = (machine.scratch::<f32>(2), machine.scratch::<f32>(12));
        let labels = CtcLabels { labels, label_lengths: &label_lengths, input_lengths: &input_lengths };
        let done = machine.handle.ctc_loss(
            &desc,
            labels,
            &i_desc.view(&inputs).unwrap(),
            &mut l_desc.view_mut(&mut losses).unwrap(),
            &mut i_desc.view_mut(&mut gradients).unwrap(),
        );
        assert!(matches!(done, Err(Error::Invalid { .. })), "{labels:?}: {done:?}");
    }
}
