//! Activations for products with quantized matrices.

use super::QTensor;
use crate::error::Result;
use crate::hip::ops::quant::Activations;
use crate::ops::BinaryOp;
use crate::tensor::Tensor;

/// Activations `[…, k]` for products with quantized matrices `[n, k]`. On a HIP device up to [`QTensor::ROUNDED_ROWS`] rows are rounded
/// to 8 bits once for all of these products, and some operations round their results themselves, which saves the device a kernel.
/// The products are those of [`QTensor::forward`], to the bit.
///
/// ```
/// use tensor_core::{BinaryOp, DType, Device, QActivations, QTensor, QuantFormat, Tensor};
///
/// # fn main() -> tensor_core::Result<()> {
/// let ones = |rows: usize| Tensor::ones([rows, 32], DType::F32, &Device::Cpu);
/// let weights = QTensor::quantize(&ones(2)?, QuantFormat::Q8_0)?;
/// let (gate, up) = (ones(1)?.affine(2.0, 0.0)?, ones(1)?);
/// let mut gated = QActivations::gated(gate, &up, BinaryOp::SiluMul)?;
/// let products = gated.products(&[&weights, &weights])?;
/// assert_eq!(products[1].to_vec2::<f32>()?, weights.forward(gated.tensor())?.to_vec2::<f32>()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct QActivations {
    numbers: Tensor,
    rounded: Option<Activations>,
}

impl QActivations {
    /// Any activations. The first product rounds them.
    pub fn new(numbers: Tensor) -> QActivations {
        QActivations { numbers, rounded: None }
    }

    /// The norm of a sum, as [`Tensor::add_rms_norm_`].
    ///
    /// # Errors
    /// As [`Tensor::add_rms_norm_`].
    pub fn add_rms_norm_<'a>(
        x: &mut Tensor,
        other: &Tensor,
        weight: impl Into<Option<&'a Tensor>>,
        eps: f64,
    ) -> Result<QActivations> {
        let mut rounded = None;
        let wanted = is_few(x).then_some(&mut rounded);
        let numbers = x.add_rms_norm_rounding(other, weight.into(), eps, wanted)?;
        Ok(QActivations { numbers, rounded })
    }

    /// `op` of a gate and another tensor, as [`Tensor::binary_assign_`]: [`BinaryOp::SiluMul`] and [`BinaryOp::GeluMul`] round
    /// their results.
    ///
    /// # Errors
    /// As [`Tensor::binary_assign_`].
    pub fn gated(mut gate: Tensor, up: &Tensor, op: BinaryOp) -> Result<QActivations> {
        let rounded = if is_few(&gate) {
            gate.gate_rounding(up, op)?
        } else {
            gate.binary_assign_(up, op)?;
            None
        };
        Ok(QActivations { numbers: gate, rounded })
    }

    /// [`Tensor::scaled_dot_product_attention`] of a query, as `[batch · queries, heads · dv]`: the heads of a query one after the
    /// other.
    ///
    /// # Errors
    /// As [`Tensor::scaled_dot_product_attention`].
    pub fn attention(
        query: &Tensor,
        [keys, values]: [&Tensor; 2],
        mask: Option<&Tensor>,
        causal: bool,
        scale: Option<f64>,
    ) -> Result<QActivations> {
        let mut rounded = None;
        // With one query the heads are one after the other in memory.
        let few = matches!(query.dims(), &[batch, _, 1, _] if batch <= QTensor::ROUNDED_ROWS);
        let wanted = few.then_some(&mut rounded);
        let numbers = query.attention_rounding([keys, values], mask, causal, scale, wanted)?;
        let &[batch, heads, queries, width] = numbers.dims() else {
            unreachable!("attention gives four axes")
        };
        let numbers = numbers.transpose(1, 2)?.reshape([batch * queries, heads * width])?;
        Ok(QActivations { numbers, rounded })
    }

    /// The activations as they are.
    pub fn tensor(&self) -> &Tensor {
        &self.numbers
    }

    /// The products with several matrices, as [`QTensor::forward`] of each. On a HIP device up to three matrices of one format may
    /// share a launch if there is one row of activations.
    ///
    /// # Errors
    /// As [`QTensor::forward`].
    pub fn products(&mut self, matrices: &[&QTensor]) -> Result<Vec<Tensor>> {
        // Launches of a graph change the numbers and not what was rounded of them.
        if self.numbers.storage().written_by_graphs().is_some() {
            self.rounded = None;
        }
        QTensor::products(matrices, &self.numbers, &mut self.rounded)
    }
}

/// Whether products round these.
fn is_few(numbers: &Tensor) -> bool {
    let width = numbers.dims().last().copied().unwrap_or(0);
    numbers.elements() <= width.saturating_mul(QTensor::ROUNDED_ROWS)
}
