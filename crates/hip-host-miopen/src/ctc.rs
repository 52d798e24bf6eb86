//! The loss of connectionist temporal classification. Labels and lengths are in host memory and are read when the call is
//! made. Without its own softmax the input is logarithms of probabilities.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::answer::{
    BAD, NO_MEMORY, NO_SOLVER, Outcome, UNKNOWN, answer, check, give, list, offer, product, sum,
};
use super::handle::stream;
use super::job::Job;
use super::registry::Registry;
use super::tensor::{Kind, Tensor, View, tensor};
use hip_sys::miopen::{
    miopenCTCLossAlgo_t, miopenCTCLossDescriptor_t, miopenDataType_t, miopenHandle_t, miopenStatus_t,
    miopenTensorDescriptor_t,
};
use rayon::prelude::*;
use std::ffi::{c_int, c_void};
use std::ops::Range;

/// The settings of a descriptor.
#[derive(Debug, Clone, Copy)]
struct Ctc {
    dtype: miopenDataType_t,
    blank: c_int,
    softmax: bool,
}

static LOSSES: Registry<Ctc> = Registry::new(0x7d);

pub(super) unsafe extern "C" fn miopenCreateCTCLossDescriptor(
    out: *mut miopenCTCLossDescriptor_t,
) -> miopenStatus_t {
    let value = Ctc { dtype: miopenDataType_t::miopenFloat, blank: 0, softmax: true };
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { LOSSES.create(out, value) })
}

pub(super) unsafe extern "C" fn miopenDestroyCTCLossDescriptor(
    descriptor: miopenCTCLossDescriptor_t,
) -> miopenStatus_t {
    answer(|| LOSSES.destroy(descriptor))
}

pub(super) unsafe extern "C" fn miopenSetCTCLossDescriptor(
    descriptor: miopenCTCLossDescriptor_t,
    dtype: miopenDataType_t,
    blank: c_int,
    softmax: bool,
) -> miopenStatus_t {
    answer(|| LOSSES.set(descriptor, || Ok(Ctc { dtype, blank, softmax })))
}

pub(super) unsafe extern "C" fn miopenGetCTCLossDescriptor(
    descriptor: miopenCTCLossDescriptor_t,
    dtype: *mut miopenDataType_t,
    blank: *mut c_int,
    softmax: *mut bool,
) -> miopenStatus_t {
    answer(|| {
        let it = LOSSES.get(descriptor)?;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            give(dtype, it.dtype)?;
            offer(blank, it.blank);
            offer(softmax, it.softmax);
        }
        Ok(())
    })
}

/// The labels of a sequence, and the number of its time steps.
struct Sequence {
    labels: Vec<usize>,
    steps: usize,
}

impl Sequence {
    /// The number of labels with a blank around each.
    fn positions(&self) -> usize {
        2 * self.labels.len() + 1
    }

    /// The number of intermediate values: two for each step and label. It grows with the square of the input.
    ///
    /// # Errors
    /// AllocFailed if the host lacks that much memory.
    fn check_size(&self) -> Outcome {
        let count = product([2, self.steps, self.positions()])?;
        Vec::<f64>::new().try_reserve_exact(count).map_err(|_| NO_MEMORY)
    }
}

/// The caller's lists, after the checks.
///
/// # Safety
/// The lists are null or as long as the batch; the list of labels is as long as all sequences' labels.
unsafe fn sequences(
    (probs, gradients): (&Tensor, &Tensor),
    [labels, lens, steps]: [*const c_int; 3],
    status: miopenStatus_t,
) -> Outcome<Vec<Sequence>> {
    check(probs.rank() == 3 && probs.lens == gradients.lens, status)?;
    let [times, batch, classes] = [probs.lens[0], probs.lens[1], probs.lens[2]];
    let size = |value: c_int| usize::try_from(value).map_err(|_| status);
    let count = c_int::try_from(batch).map_err(|_| status)?;
    // SAFETY: S11: the caller's lists.
    let (lens, steps) = unsafe { (list(lens, count), list(steps, count)) };
    let lens = lens.map_err(|_| BAD)?.into_iter().map(size).collect::<Outcome<Vec<_>>>()?;
    let steps = steps.map_err(|_| BAD)?.into_iter().map(size).collect::<Outcome<Vec<_>>>()?;
    let all = c_int::try_from(sum(lens.iter().copied())?).map_err(|_| status)?;
    // SAFETY: S11: the caller's list.
    let labels = if all == 0 { Vec::new() } else { unsafe { list(labels, all) }.map_err(|_| BAD)? };
    let mut labels = labels.into_iter().map(size);
    let mut sequences = Vec::with_capacity(batch);
    for (len, steps) in lens.into_iter().zip(steps) {
        let labels = labels.by_ref().take(len).collect::<Outcome<Vec<_>>>()?;
        let repeats = labels.windows(2).filter(|pair| pair[0] == pair[1]).count();
        check(labels.iter().all(|label| *label < classes), status)?;
        check(steps <= times && len + repeats <= steps, status)?;
        let sequence = Sequence { labels, steps };
        sequence.check_size()?;
        sequences.push(sequence);
    }
    Ok(sequences)
}

pub(super) unsafe extern "C" fn miopenGetCTCLossWorkspaceSize(
    handle: miopenHandle_t,
    probs_desc: miopenTensorDescriptor_t,
    gradients_desc: miopenTensorDescriptor_t,
    labels: *const c_int,
    lens: *const c_int,
    steps: *const c_int,
    _: miopenCTCLossAlgo_t,
    descriptor: miopenCTCLossDescriptor_t,
    size: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        LOSSES.get(descriptor)?;
        let (probs, gradients) = (tensor(probs_desc)?, tensor(gradients_desc)?);
        // SAFETY: S11: the caller's lists, and its output pointer for the size.
        unsafe {
            sequences((&probs, &gradients), [labels, lens, steps], BAD)?;
            give(size, 0)
        }
    })
}

/// log Σ exp.
fn add(a: f64, b: f64) -> f64 {
    let (large, small) = (a.max(b), a.min(b));
    if small == f64::NEG_INFINITY { large } else { large + (small - large).exp().ln_1p() }
}

/// The loss of a sequence, and the gradients [steps, classes] of its input, from logarithms of probabilities.
fn loss(sequence: &Sequence, blank: usize, classes: usize, logs: &[f64], softmax: bool) -> (f64, Vec<f64>) {
    // The labels with blanks around each.
    let mut path = vec![blank; sequence.positions()];
    path.iter_mut().skip(1).step_by(2).zip(&sequence.labels).for_each(|(position, label)| *position = *label);
    let (len, steps) = (path.len(), sequence.steps);
    let log = |step: usize, position: usize| logs[step * classes + path[position]];
    let skips =
        |position: usize| position >= 2 && path[position] != blank && path[position] != path[position - 2];
    let mut ahead = vec![f64::NEG_INFINITY; steps * len];
    let mut behind = ahead.clone();
    for step in 0..steps {
        for position in 0..len {
            let before = |back: usize| ahead[(step - 1) * len + position - back];
            ahead[step * len + position] = log(step, position)
                + match step {
                    0 if position < 2 => 0.0,
                    0 => f64::NEG_INFINITY,
                    _ => {
                        let mut sum = before(0);
                        if position >= 1 {
                            sum = add(sum, before(1));
                        }
                        if skips(position) { add(sum, before(2)) } else { sum }
                    }
                };
        }
    }
    for step in (0..steps).rev() {
        for position in 0..len {
            let after = |on: usize| behind[(step + 1) * len + position + on];
            behind[step * len + position] = log(step, position)
                + match step + 1 == steps {
                    true if position + 2 >= len => 0.0,
                    true => f64::NEG_INFINITY,
                    false => {
                        let mut sum = after(0);
                        if position + 1 < len {
                            sum = add(sum, after(1));
                        }
                        if position + 2 < len && skips(position + 2) { add(sum, after(2)) } else { sum }
                    }
                };
        }
    }
    let end = |back: usize| (steps * len).checked_sub(back).map_or(f64::NEG_INFINITY, |at| ahead[at]);
    let total = match (steps, len) {
        (0, _) => 0.0,
        (_, 1) => end(1),
        _ => add(end(1), end(2)),
    };
    let mut sums = vec![f64::NEG_INFINITY; steps * classes];
    for step in 0..steps {
        for position in 0..len {
            let sum = &mut sums[step * classes + path[position]];
            *sum = add(*sum, ahead[step * len + position] + behind[step * len + position]);
        }
    }
    let gradients = sums.iter().zip(logs).map(|(sum, log)| match softmax {
        true => log.exp() - (sum - log - total).exp(),
        false => -(sum - 2.0 * log - total).exp(),
    });
    (-total, gradients.collect())
}

/// The tensors of a call.
struct Work {
    sequences: Vec<Sequence>,
    blank: usize,
    softmax: bool,
    /// Lengths and strides of steps, batch and classes.
    lens: [usize; 3],
    probs: (View, [usize; 3]),
    gradients: (View, [usize; 3]),
    losses: View,
}

impl Work {
    fn run(&self) {
        let [times, _, classes] = self.lens;
        self.sequences.par_iter().enumerate().for_each(|(index, sequence)| {
            let mut logs = vec![0.0_f64; sequence.steps * classes];
            let (probs, strides) = &self.probs;
            for (step, logs) in logs.chunks_mut(classes).enumerate() {
                probs.load(step * strides[0] + index * strides[1], strides[2], logs);
                if self.softmax {
                    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let sum = logs.iter().map(|log| (log - largest).exp()).sum::<f64>().ln() + largest;
                    logs.iter_mut().for_each(|log| *log -= sum);
                }
            }
            let (value, found) = loss(sequence, self.blank, classes, &logs, self.softmax);
            self.losses.set(index, value);
            let (gradients, strides) = &self.gradients;
            let none = vec![0.0; classes];
            for step in 0..times {
                let which: Range<usize> = step * classes..(step + 1) * classes;
                let values = found.get(which).unwrap_or(&none);
                gradients.store(step * strides[0] + index * strides[1], strides[2], values);
            }
        });
    }
}

pub(super) unsafe extern "C" fn miopenCTCLoss(
    handle: miopenHandle_t,
    probs_desc: miopenTensorDescriptor_t,
    probs: *const c_void,
    labels: *const c_int,
    lens: *const c_int,
    steps: *const c_int,
    losses: *mut c_void,
    gradients_desc: miopenTensorDescriptor_t,
    gradients: *mut c_void,
    _: miopenCTCLossAlgo_t,
    descriptor: miopenCTCLossDescriptor_t,
    _: *mut c_void,
    _: usize,
) -> miopenStatus_t {
    answer(|| {
        let it = LOSSES.get(descriptor)?;
        let (input, output) = (tensor(probs_desc)?, tensor(gradients_desc)?);
        check(![&input, &output].iter().any(|it| it.is_of(&[miopenDataType_t::miopenBFloat16])), NO_SOLVER)?;
        check(input.is_of(&[miopenDataType_t::miopenFloat, miopenDataType_t::miopenHalf]), BAD)?;
        check(input.dtype == output.dtype, BAD)?;
        // SAFETY: S11: the caller's lists.
        let sequences = unsafe { sequences((&input, &output), [labels, lens, steps], UNKNOWN) }?;
        let classes = input.lens[2];
        let kind = Kind::of(input.dtype).ok_or(NO_SOLVER)?;
        let mut job = Job::new(handle)?;
        let three = |list: &[usize]| [list[0], list[1], list[2]];
        let work = Work {
            blank: usize::try_from(it.blank).unwrap_or(0).min(classes - 1),
            softmax: it.softmax,
            lens: three(&input.lens),
            probs: (job.read(probs, &input)?.view, three(&input.strides)),
            gradients: (job.write(gradients, &output)?.view, three(&output.strides)),
            losses: job.write_view(losses, kind, sequences.len())?,
            sequences,
        };
        job.submit("miopenCTCLoss", move || work.run())
    })
}
