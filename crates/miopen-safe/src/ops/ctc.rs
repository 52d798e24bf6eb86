//! The loss of connectionist temporal classification.

use super::softmax;
use crate::convert::{self, MOST, out};
use crate::raw::ctc as raw;
use crate::tensor::{has_dims, is_packed, same_dims};
use crate::work::{Scratch, Work};
use crate::{CtcLossDesc, Error, Handle, Result, Tensor, TensorMut};
use hip_sys::miopen::miopenCTCLossAlgo_t;

/// The labels of a batch.
#[derive(Debug, Clone, Copy)]
pub struct CtcLabels<'a> {
    /// All labels, one sequence after the other.
    pub labels: &'a [usize],
    /// The number of labels of each sequence, at least 1.
    pub label_lengths: &'a [usize],
    /// The number of time steps of each sequence, at least 1.
    pub input_lengths: &'a [usize],
}

impl Handle {
    /// The losses `[batch]` and the gradients of the inputs `[times, batch, classes]`, all contiguous. It waits for the stream first, and cannot be part
    /// of a graph: the labels are on the host.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for shapes, strides and labels that do not match; [`Error::Invalid`] for a sequence without labels or time steps,
    /// for which MIOpen's kernels write outside their memory, and for more than 24 bits of sequences and steps, or of classes;
    /// [`Error::TooLarge`] if the workspace has more elements than MIOpen's
    /// 32 bits count; [`hip_safe::Error::Capturing`]; the error of memory, stream or library.
    #[doc(alias = "miopenCTCLoss")]
    #[doc(alias = "miopenGetCTCLossWorkspaceSize")]
    pub fn ctc_loss(
        &self,
        loss: &CtcLossDesc,
        labels: CtcLabels<'_>,
        inputs: &Tensor<'_, f32>,
        losses: &mut TensorMut<'_, f32>,
        gradients: &mut TensorMut<'_, f32>,
    ) -> Result<()> {
        let [times, batch, classes] = *inputs.desc().dims() else {
            return Err(Error::mismatch("the dimensions of a loss' inputs", 3, inputs.desc().dims().len()));
        };
        same_dims("the shape of a loss' gradients", inputs.desc(), gradients.desc())?;
        has_dims("the shape of a loss", &[batch], losses.desc())?;
        is_packed("a loss' inputs", inputs.desc())?;
        is_packed("a loss", losses.desc())?;
        is_packed("a loss' gradients", gradients.desc())?;
        check_labels(labels, loss.loss().blank, [times, batch, classes])?;
        check_workspace(labels, [times, batch, classes])?;
        if loss.loss().softmax {
            softmax::check_24_bits(times.saturating_mul(batch), classes)?;
        }
        let list = convert::ints("a label", labels.labels)?;
        let lengths = convert::ints("the number of labels", labels.label_lengths)?;
        let ends = convert::ints("the number of times", labels.input_lengths)?;
        let (desc, i_desc, g_desc) = (loss.on(self)?, inputs.desc().on(self)?, gradients.desc().on(self)?);
        let algorithm = miopenCTCLossAlgo_t::MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC;
        let bytes = self.call("the workspace of a loss", |m, h| {
            // SAFETY: S1: handle and descriptors are live, the lists fit the batch, and the out-pointer is live.
            out(|bytes| unsafe {
                raw::get_ctc_loss_workspace_size(
                    m,
                    h,
                    i_desc,
                    g_desc,
                    list.as_ptr(),
                    lengths.as_ptr(),
                    ends.as_ptr(),
                    algorithm,
                    desc,
                    bytes,
                )
            })
        })?;
        let mut scratch = Scratch::zeroed(self, bytes)?;
        // The library copies the labels to the workspace itself, outside the stream.
        self.stream().synchronize()?;
        let mut work = Work::new(self, "a loss").waits("compute it before the capture, or afterwards");
        let (inputs, losses, gradients) = (work.read(inputs), work.write(losses), work.write(gradients));
        let space = work.scratch(&mut scratch);
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named, the lists fit the batch, and the workspace has
        // the bytes asked for.
        let done = work.run(|m, h| unsafe {
            raw::ctc_loss(
                m,
                h,
                i_desc,
                inputs,
                list.as_ptr(),
                lengths.as_ptr(),
                ends.as_ptr(),
                losses,
                g_desc,
                gradients,
                algorithm,
                desc,
                space,
                bytes,
            )
        });
        // The library reads the lists until the stream is done, after a failed call too.
        let waited = self.stream().synchronize();
        if waited.is_err() {
            // If the wait fails, the end of the work is unknown, so the lists are leaked.
            std::mem::forget((list, lengths, ends));
        }
        done?;
        Ok(waited?)
    }
}

/// Refuses sizes beyond the library's offsets into its workspace, which are an `int`.
fn check_workspace(labels: CtcLabels<'_>, [times, batch, classes]: [usize; 3]) -> Result<()> {
    let longest = labels.label_lengths.iter().copied().max().unwrap_or(0);
    let elements = || {
        // The number of labels with a blank between, before and after them.
        let spread = longest.checked_mul(2)?.checked_add(1)?;
        let states = batch.checked_mul(spread)?;
        let parts = [
            batch.checked_mul(4)?,
            labels.labels.len(),
            states,
            times.checked_mul(batch)?.checked_mul(classes)?,
            times.checked_mul(states)?,
            states.checked_mul(2)?,
        ];
        parts.into_iter().try_fold(0_usize, usize::checked_add)
    };
    let value = elements().unwrap_or(usize::MAX);
    if value <= MOST {
        return Ok(());
    }
    Err(Error::TooLarge { what: "the elements of a loss' workspace", value, limit: MOST })
}

fn check_labels(labels: CtcLabels<'_>, blank: usize, [times, batch, classes]: [usize; 3]) -> Result<()> {
    let CtcLabels { labels, label_lengths, input_lengths } = labels;
    if label_lengths.len() != batch || input_lengths.len() != batch {
        let found = (label_lengths.len(), input_lengths.len());
        return Err(Error::mismatch("a length for each sequence of the batch", (batch, batch), found));
    }
    // MIOpen's kernels count down from the last label and the last step, in unsigned numbers.
    if label_lengths.contains(&0) {
        return Err(Error::invalid("the labels of each sequence", label_lengths, "it has to be at least 1"));
    }
    if input_lengths.contains(&0) {
        return Err(Error::invalid("the times of each sequence", input_lengths, "it has to be at least 1"));
    }
    let all = label_lengths.iter().try_fold(0_usize, |sum, length| sum.checked_add(*length));
    if all != Some(labels.len()) {
        return Err(Error::mismatch("the number of labels", all, labels.len()));
    }
    if blank >= classes || labels.iter().any(|label| *label >= classes || *label == blank) {
        return Err(Error::mismatch(
            "labels of the classes, without the blank one",
            (classes, blank),
            labels,
        ));
    }
    let mut rest = labels;
    for (length, times_of) in label_lengths.iter().zip(input_lengths) {
        let (own, others) = rest.split_at(*length);
        rest = others;
        let repeats = own.windows(2).filter(|pair| pair[0] == pair[1]).count();
        if *times_of > times || length + repeats > *times_of {
            let wanted = (length + repeats, times);
            return Err(Error::mismatch(
                "a sequence's times, from what its labels need to all",
                wanted,
                times_of,
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_are_counted_in_32_bits() {
        let check = |label_lengths: &[usize], dims| {
            let labels = vec![1; label_lengths.iter().sum()];
            check_workspace(CtcLabels { labels: &labels, label_lengths, input_lengths: &[] }, dims)
        };
        // 4 + 1 + 3 + c + 3 + 6 elements.
        assert!(check(&[1], [1, 1, MOST - 17]).is_ok());
        let refused = check(&[1], [1, 1, MOST - 16]);
        assert!(matches!(refused, Err(Error::TooLarge { value, .. }) if value == MOST + 1), "{refused:?}");
        let refused = check(&[1 << 10, 1 << 10], [1 << 20, 2, 2]);
        assert!(matches!(refused, Err(Error::TooLarge { .. })), "the longest of them counts: {refused:?}");
        let refused = check(&[1], [usize::MAX, 1, 2]);
        assert!(matches!(refused, Err(Error::TooLarge { value: usize::MAX, .. })), "{refused:?}");
    }

    #[test]
    fn labels_have_to_fit() {
        let check = |labels: &[usize], label_lengths: &[usize], input_lengths: &[usize]| {
            check_labels(CtcLabels { labels, label_lengths, input_lengths }, 0, [4, 2, 3])
        };
        assert!(check(&[1, 2, 1], &[2, 1], &[4, 3]).is_ok());
        assert!(check(&[1, 2, 1], &[2], &[4]).is_err(), "a sequence without labels' number");
        assert!(check(&[1, 2], &[2, 1], &[4, 3]).is_err(), "too few labels");
        assert!(check(&[1, 3, 1], &[2, 1], &[4, 3]).is_err(), "no such class");
        assert!(check(&[1, 0, 1], &[2, 1], &[4, 3]).is_err(), "the blank class");
        assert!(check(&[1, 2, 1], &[2, 1], &[5, 3]).is_err(), "more times than the input has");
        assert!(check(&[1, 1, 1], &[2, 1], &[2, 3]).is_err(), "a repeated label needs a blank between");
        assert!(check(&[1, 1, 1], &[2, 1], &[3, 3]).is_ok());
        let invalid = |done: Result<()>| matches!(done, Err(Error::Invalid { .. }));
        assert!(invalid(check(&[1, 2], &[2, 0], &[4, 3])), "no labels");
        assert!(invalid(check(&[], &[0, 0], &[4, 3])), "no labels at all");
        assert!(invalid(check(&[1, 2], &[2, 0], &[4, 0])), "neither labels nor times");
        assert!(invalid(check(&[1, 2, 1], &[2, 1], &[4, 0])), "no times");
    }
}
