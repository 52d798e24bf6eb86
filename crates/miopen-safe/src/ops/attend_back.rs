//! The gradient of attention.

use super::attend::{Argument, fits, numbers, rows, run, searching, shape};
use crate::attention::Key;
use crate::work::{Scratch, Work};
use crate::{AttentionDesc, AttentionParams, Handle, Result, Tensor, TensorMut};
use hip_sys::miopen::miopenTensorArgumentId_t as Id;

const BACKWARD: &str = "the gradient of an attention";

/// The inputs and outputs of [`Handle::attention_forward`].
#[derive(Debug, Clone, Copy)]
pub struct AttentionPassed<'a> {
    /// Queries.
    pub q: &'a Tensor<'a, f32>,
    /// Keys.
    pub k: &'a Tensor<'a, f32>,
    /// Values.
    pub v: &'a Tensor<'a, f32>,
    /// The output.
    pub o: &'a Tensor<'a, f32>,
    /// The greatest score of each query.
    pub m: &'a Tensor<'a, f32>,
    /// The inverse sum of each query.
    pub z_inv: &'a Tensor<'a, f32>,
}

/// The outputs of the gradient. All are contiguous.
#[derive(Debug)]
pub struct AttentionGradients<'a> {
    /// The queries' gradient.
    pub dq: TensorMut<'a, f32>,
    /// The keys' gradient.
    pub dk: TensorMut<'a, f32>,
    /// The values' gradient.
    pub dv: TensorMut<'a, f32>,
    /// The greatest absolute value of `dq` before its scale, `[1, 1, 1, 1]`.
    pub amax_dq: TensorMut<'a, f32>,
    /// That of `dk`.
    pub amax_dk: TensorMut<'a, f32>,
    /// That of `dv`.
    pub amax_dv: TensorMut<'a, f32>,
    /// That of the gradient of the products q kᵀ.
    pub amax_ds: TensorMut<'a, f32>,
}

impl Handle {
    /// The gradients of queries, keys and values, from the output's gradient `d_o`. With dropout MIOpen ignores the terms of dropped
    /// probabilities.
    ///
    /// It waits for the stream first, and cannot be part of a graph: MIOpen submits parts of it to its own streams, which do not wait for
    /// this one.
    ///
    /// # Errors
    /// As [`Handle::attention_forward`], and [`hip_safe::Error::Capturing`].
    #[doc(alias = "miopenRunSolution")]
    pub fn attention_backward(
        &self,
        desc: &AttentionDesc,
        params: &AttentionParams,
        passed: &AttentionPassed<'_>,
        d_o: &Tensor<'_, f32>,
        gradients: &mut AttentionGradients<'_>,
    ) -> Result<()> {
        desc.on(self)?;
        let dims = check(passed, d_o, gradients)?;
        let key = Key { backward: true, scale: desc.scale().to_bits(), dims };
        let found = match self.attentions().solutions.get(&key) {
            Some(found) => found,
            None => {
                let mut work = searching(self);
                let arguments = arguments(&mut work, params, passed, d_o, gradients);
                self.find_attention(key, desc, &arguments, work)?
            }
        };
        let mut scratch = Scratch::new(self, found.workspace_bytes)?;
        // The library's streams do not wait for ours, so all memory of the call must be complete.
        let mut work = beginning(self);
        arguments(&mut work, params, passed, d_o, gradients);
        work.scratch(&mut scratch);
        work.run(|_, _| Ok(()))?;
        self.stream().synchronize()?;
        let mut work = beginning(self);
        let arguments = arguments(&mut work, params, passed, d_o, gradients);
        let space = work.scratch(&mut scratch);
        run(work, &found, &arguments, space)
    }
}

fn beginning(handle: &Handle) -> Work<'_> {
    Work::new(handle, BACKWARD).waits("compute it before the capture, or afterwards").spreads()
}

fn check(
    passed: &AttentionPassed<'_>,
    d_o: &Tensor<'_, f32>,
    gradients: &AttentionGradients<'_>,
) -> Result<[usize; 4]> {
    let dims = shape(passed.q.desc())?;
    fits("an attention's keys", &dims, passed.k.desc())?;
    fits("an attention's values", &dims, passed.v.desc())?;
    fits("an attention's output", &dims, passed.o.desc())?;
    fits("the gradient of an attention's output", &dims, d_o.desc())?;
    fits("the gradient of an attention's queries", &dims, gradients.dq.desc())?;
    fits("the gradient of an attention's keys", &dims, gradients.dk.desc())?;
    fits("the gradient of an attention's values", &dims, gradients.dv.desc())?;
    let rows = rows(dims);
    fits("an attention's greatest scores", &rows, passed.m.desc())?;
    fits("an attention's inverse sums", &rows, passed.z_inv.desc())?;
    for amax in [&gradients.amax_dq, &gradients.amax_dk, &gradients.amax_dv, &gradients.amax_ds] {
        fits("the greatest value of a gradient", &[1; 4], amax.desc())?;
    }
    Ok(dims)
}

fn arguments<'w>(
    work: &mut Work<'w>,
    params: &'w AttentionParams,
    passed: &'w AttentionPassed<'_>,
    d_o: &'w Tensor<'_, f32>,
    gradients: &'w mut AttentionGradients<'_>,
) -> Vec<Argument<'w>> {
    let mut all = numbers(work, params, true);
    for (id, tensor) in [
        (Id::miopenTensorMhaQ, passed.q),
        (Id::miopenTensorMhaK, passed.k),
        (Id::miopenTensorMhaV, passed.v),
        (Id::miopenTensorMhaO, passed.o),
        (Id::miopenTensorMhaDO, d_o),
        (Id::miopenTensorMhaM, passed.m),
        (Id::miopenTensorMhaZInv, passed.z_inv),
    ] {
        all.push((id, tensor.desc(), work.read(tensor).cast_mut()));
    }
    let AttentionGradients { dq, dk, dv, amax_dq, amax_dk, amax_dv, amax_ds } = gradients;
    for (id, tensor) in [
        (Id::miopenTensorMhaDQ, dq),
        (Id::miopenTensorMhaDK, dk),
        (Id::miopenTensorMhaDV, dv),
        (Id::miopenTensorMhaAmaxDQ, amax_dq),
        (Id::miopenTensorMhaAmaxDK, amax_dk),
        (Id::miopenTensorMhaAmaxDV, amax_dv),
        (Id::miopenTensorMhaAmaxDS, amax_ds),
    ] {
        all.push((id, tensor.desc(), work.write(tensor)));
    }
    all
}
