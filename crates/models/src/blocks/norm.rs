//! Norms over the last axis.

use tensor_core::{QActivations, Result, Tensor};

/// x / √(mean of x² + eps) · weight.
#[derive(Debug, Clone)]
pub(crate) struct RmsNorm {
    weight: Tensor,
    eps: f64,
}

impl RmsNorm {
    /// Of a weight with the length of the last axis, in the dtype of activations.
    pub(crate) fn new(weight: Tensor, eps: f64) -> RmsNorm {
        RmsNorm { weight, eps }
    }

    /// `[…, length]` to the same shape.
    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.rms_norm(&self.weight, self.eps)
    }

    /// Adds `other` to `x`, and gives the norm of the sum: both `[…, length]`. `quantized` says that quantized weights multiply it.
    pub(crate) fn forward_added(
        &self,
        x: &mut Tensor,
        other: &Tensor,
        quantized: bool,
    ) -> Result<QActivations> {
        if quantized {
            return QActivations::add_rms_norm_(x, other, &self.weight, self.eps);
        }
        x.add_rms_norm_(other, &self.weight, self.eps).map(QActivations::new)
    }
}

/// (x − mean) / √(variance + eps) · weight + bias.
#[derive(Debug, Clone)]
pub(crate) struct LayerNorm {
    weight: Tensor,
    bias: Tensor,
    eps: f64,
}

impl LayerNorm {
    /// Of a weight and a bias with the length of the last axis, in the dtype of activations.
    pub(crate) fn new(weight: Tensor, bias: Tensor, eps: f64) -> LayerNorm {
        LayerNorm { weight, bias, eps }
    }

    /// `[…, length]` to the same shape.
    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.layer_norm(&self.weight, &self.bias, self.eps)
    }
}
