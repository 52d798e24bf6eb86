//! The loss of connectionist temporal classification against a sum over all paths.

use crate::library::*;
use hip_sys::miopen::*;
use std::ptr::null_mut;

const TIMES: usize = 4;
const CLASSES: usize = 3;

/// The labels of a path: repeated classes count once, blanks do not count.
fn said(path: &[usize], blank: usize) -> Vec<usize> {
    let mut said = Vec::new();
    for (at, class) in path.iter().enumerate() {
        if *class != blank && (at == 0 || path[at - 1] != *class) {
            said.push(*class);
        }
    }
    said
}

/// The negative logarithm of the probability of all paths that say the labels.
fn by_hand(inputs: &[f64], labels: &[usize], blank: usize, softmax: bool) -> f64 {
    let steps = inputs.len() / CLASSES;
    let chance = |step: usize, class: usize| {
        let own = &inputs[step * CLASSES..][..CLASSES];
        let sum = if softmax { own.iter().map(|it| it.exp()).sum() } else { 1.0 };
        own[class].exp() / sum
    };
    let mut total = 0.0;
    for number in 0..CLASSES.pow(steps as u32) {
        let path: Vec<usize> = (0..steps).map(|step| number / CLASSES.pow(step as u32) % CLASSES).collect();
        if said(&path, blank) == labels {
            total += path.iter().enumerate().map(|(step, class)| chance(step, *class)).product::<f64>();
        }
    }
    -total.ln()
}

#[test]
fn losses_and_gradients() {
    let mi = mi();
    // Two sequences: of four steps, with a repeated label; of three steps, with one label.
    let (labels, lens, steps) = ([1_i32, 1, 2], [2_i32, 1], [4_i32, 3]);
    let tensor = mi.floats(&[TIMES as i32, 2, CLASSES as i32]);
    let algorithm = miopenCTCLossAlgo_t::MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC;
    let mut descriptor = null_mut();
    good!(mi, miopenCreateCTCLossDescriptor(&mut descriptor));
    for (blank, softmax) in [(0, true), (0, false)] {
        good!(mi, miopenSetCTCLossDescriptor(descriptor, FLOAT, blank, softmax));
        // Without a softmax they are logarithms already.
        let values: Vec<f64> = (0..TIMES * 2 * CLASSES)
            .map(|at| ((at * 7 % 11) as f64 / 5.0 - 1.0) - if softmax { 0.0 } else { 1.5 })
            .collect();
        let probs = mi.hip.buffer(&values.iter().map(|it| *it as f32).collect::<Vec<_>>());
        let (losses, gradients) = (mi.hip.zeros::<f32>(2), mi.hip.buffer(&[9.0_f32; TIMES * 2 * CLASSES]));
        let mut size = 9;
        let (l, n, t) = (labels.as_ptr(), lens.as_ptr(), steps.as_ptr());
        good!(
            mi,
            miopenGetCTCLossWorkspaceSize(
                mi.handle, tensor, tensor, l, n, t, algorithm, descriptor, &mut size
            )
        );
        assert_eq!(size, 0);
        good!(
            mi,
            miopenCTCLoss(
                mi.handle,
                tensor,
                probs.pointer,
                l,
                n,
                t,
                losses.pointer,
                tensor,
                gradients.pointer,
                algorithm,
                descriptor,
                null_mut(),
                0
            )
        );
        let mut wanted = [0.0_f32; TIMES * 2 * CLASSES];
        let mut sums = [0.0_f32; 2];
        let own: [&[usize]; 2] = [&[1, 1], &[2]];
        for sequence in 0..2 {
            let index = |step: usize, class: usize| (step * 2 + sequence) * CLASSES + class;
            let count = steps[sequence] as usize;
            let inputs: Vec<f64> =
                (0..count * CLASSES).map(|at| values[index(at / CLASSES, at % CLASSES)]).collect();
            let loss = |inputs: &[f64]| by_hand(inputs, own[sequence], blank as usize, softmax);
            sums[sequence] = loss(&inputs) as f32;
            for at in 0..inputs.len() {
                let moved = |by: f64| {
                    let mut moved = inputs.clone();
                    moved[at] += by;
                    loss(&moved)
                };
                let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                // If the input is logarithms, the gradient is by those.
                let by = if softmax { 1.0 } else { inputs[at].exp() };
                wanted[index(at / CLASSES, at % CLASSES)] = (slope / by) as f32;
            }
        }
        close(&mi.read(&losses), &sums, 1e-5);
        close(&mi.read(&gradients), &wanted, 1e-4);
    }
    // A repeated label needs a step more; and classes are three.
    let refused = |labels: [i32; 3], steps: [i32; 2]| {
        let mut size = 0;
        mi!(
            mi,
            miopenGetCTCLossWorkspaceSize(
                mi.handle,
                tensor,
                tensor,
                labels.as_ptr(),
                lens.as_ptr(),
                steps.as_ptr(),
                algorithm,
                descriptor,
                &mut size
            )
        )
    };
    assert_eq!(
        (refused([1, 1, 2], [2, 3]), refused([1, 1, 3], [4, 3]), refused([1, 1, 2], [5, 3])),
        (BAD, BAD, BAD)
    );
}
