//! Linear layers of dense or quantized weights.

use std::sync::Arc;

use tensor_core::{DType, QTensor, Result, Tensor};
use weights::Weight;

/// Rows that [`QTensor::forward`] rounds to 8 bits, at most.
const FEW: usize = 8;

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
        let [y] = Linear::forward_each([self], x)?;
        Ok(y)
    }

    /// The results of several layers for the same input: quantized weights share its rounding.
    pub(crate) fn forward_each<const N: usize>(layers: [&Linear; N], x: &Tensor) -> Result<[Tensor; N]> {
        let quantized: Vec<&QTensor> = layers.iter().filter_map(|layer| layer.weight.quantized()).collect();
        let products = match quantized.is_empty() {
            true => Vec::new(),
            false if takes_bf16(x) => QTensor::forward_each(&quantized, &x.to_dtype(DType::BF16)?)?,
            false => QTensor::forward_each(&quantized, x)?,
        };
        let mut products = products.into_iter();
        let outputs = layers.map(|layer| {
            let product = layer.weight.quantized().and_then(|_| products.next());
            layer.finish(x, product)
        });
        let outputs: Vec<Tensor> = outputs.into_iter().collect::<Result<_>>()?;
        Ok(outputs.try_into().expect("there are as many outputs as layers"))
    }

    /// The output, of the product with a quantized weight if that is known.
    fn finish(&self, x: &Tensor, product: Option<Tensor>) -> Result<Tensor> {
        let mut y = match product {
            Some(product) => product.to_dtype(x.dtype())?,
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

/// Whether rows are so many that they are not rounded to 8 bits, and products of `bf16` are faster than their own.
fn takes_bf16(x: &Tensor) -> bool {
    let rows = x.elements() / x.dims().last().copied().unwrap_or(1).max(1);
    let faster = x.device().as_hip().is_some_and(|hip| hip.multiplies_bf16_faster());
    rows > FEW && x.dtype() == DType::F32 && faster
}
