//! Linear layers of dense or quantized weights.

use std::sync::Arc;

use tensor_core::{Result, Tensor};
use weights::Weight;

/// y = x Wᵀ + bias. The weight is the model's own.
#[derive(Debug, Clone)]
pub(crate) struct Linear {
    weight: Arc<Weight>,
    bias: Option<Tensor>,
}

impl Linear {
    /// Of a weight `[outputs, inputs]` and a bias `[outputs]` in the dtype of activations.
    pub(crate) fn new(weight: Arc<Weight>, bias: Option<Tensor>) -> Linear {
        Linear { weight, bias }
    }

    /// `[…, inputs]` to `[…, outputs]`, in the dtype of `x`. A dense weight of another dtype is multiplied in its own, so that
    /// it needs no copy.
    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let mut y = match self.weight.quantized() {
            Some(weight) => weight.forward(x)?,
            None => {
                let weight = self.weight.tensor()?;
                if weight.dtype() == x.dtype() {
                    return x.linear(weight, self.bias.as_ref());
                }
                x.to_dtype(weight.dtype())?.linear(weight, None)?.to_dtype(x.dtype())?
            }
        };
        if let Some(bias) = &self.bias {
            y.add_assign_(bias)?;
        }
        Ok(y)
    }
}
