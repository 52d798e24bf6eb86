//! Numbers on the device that attention reads: factors, and the inputs of dropout's generator.

use crate::{Error, Handle, Result, TensorDesc};
use hip_safe::DeviceBuffer;
use hip_sys::miopen::miopenTensorArgumentId_t as Id;

/// Factors of attention's tensors, all 1 by default, and its dropout, off by default.
///
/// A stored number is the value times its scale; a descale reverses this. MIOpen has both for 8-bit types, and also multiplies
/// by them for `f32`. P are the probabilities, S the scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttentionFactors {
    /// Factor of Q as it is read.
    pub descale_q: f32,
    /// Factor of K as it is read.
    pub descale_k: f32,
    /// Factor of V as it is read.
    pub descale_v: f32,
    /// Factor of P in the product with V, and with dO.
    pub descale_s: f32,
    /// Factor of O as the gradient reads it.
    pub descale_o: f32,
    /// Factor of dO as it is read.
    pub descale_do: f32,
    /// Factor of S' gradient in the products with K and Q.
    pub descale_ds: f32,
    /// Factor of P as it is stored.
    pub scale_s: f32,
    /// Factor of O as it is written.
    pub scale_o: f32,
    /// Factor of S' gradient as it is stored.
    pub scale_ds: f32,
    /// Factor of dQ as it is written.
    pub scale_dq: f32,
    /// Factor of dK as it is written.
    pub scale_dk: f32,
    /// Factor of dV as it is written.
    pub scale_dv: f32,
    /// The probability of dropout, at least 0 and below 1. The remaining elements of P are multiplied by 1 / (1 − probability).
    pub dropout: f32,
    /// The seed of dropout. The gradient needs the same seed and offset.
    pub seed: u64,
    /// The offset in the seed's sequence.
    pub offset: u64,
}

impl Default for AttentionFactors {
    fn default() -> Self {
        Self {
            descale_q: 1.0,
            descale_k: 1.0,
            descale_v: 1.0,
            descale_s: 1.0,
            descale_o: 1.0,
            descale_do: 1.0,
            descale_ds: 1.0,
            scale_s: 1.0,
            scale_o: 1.0,
            scale_ds: 1.0,
            scale_dq: 1.0,
            scale_dk: 1.0,
            scale_dv: 1.0,
            dropout: 0.0,
            seed: 0,
            offset: 0,
        }
    }
}

impl AttentionFactors {
    fn list(&self) -> [f32; FLOATS.len()] {
        [
            self.descale_q,
            self.descale_k,
            self.descale_v,
            self.descale_s,
            self.scale_s,
            self.dropout,
            self.scale_o,
            self.descale_o,
            self.descale_do,
            self.descale_ds,
            self.scale_ds,
            self.scale_dq,
            self.scale_dk,
            self.scale_dv,
        ]
    }
}

/// The factors by the library's ids, in the order in memory.
const FLOATS: [Id; 14] = [
    Id::miopenTensorMhaDescaleQ,
    Id::miopenTensorMhaDescaleK,
    Id::miopenTensorMhaDescaleV,
    Id::miopenTensorMhaDescaleS,
    Id::miopenTensorMhaScaleS,
    Id::miopenTensorMhaDropoutProbability,
    Id::miopenTensorMhaScaleO,
    Id::miopenTensorMhaDescaleO,
    Id::miopenTensorMhaDescaleDO,
    Id::miopenTensorMhaDescaleDS,
    Id::miopenTensorMhaScaleDS,
    Id::miopenTensorMhaScaleDQ,
    Id::miopenTensorMhaScaleDK,
    Id::miopenTensorMhaScaleDV,
];
/// The number of leading factors that both directions read. Then comes one for the forward direction, then those for the gradient.
const SHARED: usize = 6;

/// The inputs of dropout's generator, by the library's ids.
const DRAWS: [Id; 2] = [Id::miopenTensorMhaDropoutSeed, Id::miopenTensorMhaDropoutOffset];

/// [`AttentionFactors`] on a device, where attention reads them. Any number of calls may use them.
#[derive(Debug)]
pub struct AttentionParams {
    factors: AttentionFactors,
    floats: DeviceBuffer<f32>,
    draws: DeviceBuffer<u64>,
    float: TensorDesc,
    draw: TensorDesc,
}

impl AttentionParams {
    /// Copies the factors to the handle's device.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a probability of dropout outside 0 ≤ p < 1; the error of memory or stream.
    pub fn new(handle: &Handle, factors: AttentionFactors) -> Result<Self> {
        if !(0.0..1.0).contains(&factors.dropout) {
            let wanted = "it has to be at least 0 and less than 1";
            return Err(Error::invalid("the share that dropout drops", factors.dropout, wanted));
        }
        Ok(Self {
            factors,
            floats: handle.stream().upload(&factors.list())?,
            draws: handle.stream().upload(&[factors.seed, factors.offset])?,
            float: TensorDesc::packed::<f32>(handle, &[1; 4])?,
            draw: TensorDesc::packed::<i64>(handle, &[1; 4])?,
        })
    }

    /// The values.
    pub fn factors(&self) -> AttentionFactors {
        self.factors
    }

    pub(crate) fn floats(&self) -> &DeviceBuffer<f32> {
        &self.floats
    }

    pub(crate) fn draws(&self) -> &DeviceBuffer<u64> {
        &self.draws
    }

    /// The numbers that a direction reads: the library's id, its descriptor, whether it belongs to dropout's generator, and how many
    /// come before it in memory.
    pub(crate) fn numbers(&self, backward: bool) -> impl Iterator<Item = (Id, &TensorDesc, bool, usize)> {
        let reads = move |at: &usize| *at < SHARED || backward == (*at > SHARED);
        let floats = (0..FLOATS.len()).filter(reads).map(|at| (FLOATS[at], &self.float, false, at));
        floats.chain((0..DRAWS.len()).map(|at| (DRAWS[at], &self.draw, true, at)))
    }
}
