//! The sum that layers add their results to.

use tensor_core::{QActivations, Result, Tensor};

use super::norm::RmsNorm;
use crate::step::Step;

/// The sum of an embedding and of the results of layers so far. The last result is added by the next norm, which reads and
/// writes the sum anyway.
#[derive(Debug)]
pub(crate) struct Residual {
    sum: Tensor,
    /// A result that is not yet added.
    pending: Option<Tensor>,
}

impl Residual {
    /// Of an embedding `[tokens, width]`.
    pub(crate) fn new(sum: Tensor) -> Residual {
        Residual { sum, pending: None }
    }

    /// Adds a result of the same shape, at once if sums are kept under the name or operations are timed.
    pub(crate) fn add(&mut self, result: Tensor, name: &str, step: &Step) -> Result<()> {
        if let Some(earlier) = self.pending.take() {
            self.sum.add_assign_(&earlier)?;
        }
        if step.trace.is_some() || step.profile.is_some() {
            self.sum.add_assign_(&result)?;
            step.keep(name, "add", &self.sum);
        } else {
            self.pending = Some(result);
        }
        Ok(())
    }

    /// The norm of the sum, kept under the name, for layers that are `quantized` or not.
    pub(crate) fn normed(
        &mut self,
        norm: &RmsNorm,
        name: &str,
        quantized: bool,
        step: &Step,
    ) -> Result<QActivations> {
        let normed = match self.pending.take() {
            Some(result) => norm.forward_added(&mut self.sum, &result, quantized)?,
            None => QActivations::new(norm.forward(&self.sum)?),
        };
        step.keep(name, "rms_norm", normed.tensor());
        Ok(normed)
    }

    /// The sum of the last token alone.
    pub(crate) fn last(self) -> Result<Residual> {
        let last = |x: Tensor| x.narrow(0, x.dims()[0] - 1, 1);
        Ok(Residual { sum: last(self.sum)?, pending: self.pending.map(last).transpose()? })
    }
}
