//! Linear layers of dense or quantized weights.

use std::sync::Arc;

use tensor_core::{DType, QActivations, QTensor, Result, Tensor};
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
    /// it needs no copy. Many rows for a quantized weight are multiplied in `bf16` where that is faster: this rounds less than
    /// the 8 bits that few rows are rounded to.
    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.forward_rounded(&mut QActivations::new(x.clone()))
    }

    /// The same of activations that may be rounded.
    pub(crate) fn forward_rounded(&self, x: &mut QActivations) -> Result<Tensor> {
        let [y] = Linear::forward_each([self], x)?;
        Ok(y)
    }

    /// The results of several layers for the same input: quantized weights share its rounding, others of its dtype a launch.
    pub(crate) fn forward_each<const N: usize>(
        layers: [&Linear; N],
        x: &mut QActivations,
    ) -> Result<[Tensor; N]> {
        let dtype = x.tensor().dtype();
        let quantized: Vec<&QTensor> = layers.iter().filter_map(|layer| layer.weight.quantized()).collect();
        let dense = layers.iter().filter_map(|layer| layer.weight.tensor().ok());
        let dense: Vec<&Tensor> = dense.filter(|weight| weight.dtype() == dtype).collect();
        let products = if quantized.len() == N {
            if takes_bf16(x.tensor()) {
                QTensor::forward_each(&quantized, &x.tensor().to_dtype(DType::BF16)?)?
            } else {
                x.products(&quantized)?
            }
        } else if dense.len() == N {
            x.tensor().linear_each(&dense)?
        } else {
            layers.iter().map(|layer| layer.product(x.tensor())).collect::<Result<_>>()?
        };
        let outputs = layers.iter().zip(products).map(|(layer, product)| {
            // The bias is added in place, so that no other reference may be alive.
            let mut y = if product.dtype() == dtype { product } else { product.to_dtype(dtype)? };
            if let Some(bias) = &layer.bias {
                y.add_assign_(bias)?;
            }
            Ok(y)
        });
        let outputs: Vec<Tensor> = outputs.collect::<Result<_>>()?;
        Ok(outputs.try_into().expect("there are as many outputs as layers"))
    }

    pub(crate) fn is_quantized(&self) -> bool {
        self.weight.quantized().is_some()
    }

    /// The product with the weight, whatever it is.
    fn product(&self, x: &Tensor) -> Result<Tensor> {
        match self.weight.quantized() {
            Some(weight) if takes_bf16(x) => weight.forward(&x.to_dtype(DType::BF16)?),
            Some(weight) => weight.forward(x),
            None => {
                let weight = self.weight.tensor()?;
                x.to_dtype(weight.dtype())?.linear(weight, None)
            }
        }
    }
}

/// Whether rows are so many that they are not rounded to 8 bits, and products of `bf16` are faster than their own.
fn takes_bf16(x: &Tensor) -> bool {
    let rows = x.elements() / x.dims().last().copied().unwrap_or(1).max(1);
    let faster = || x.device().as_hip().is_some_and(|hip| hip.multiplies_bf16_faster());
    rows > QTensor::ROUNDED_ROWS && x.dtype() == DType::F32 && faster()
}
