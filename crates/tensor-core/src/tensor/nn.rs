//! Softmax and normalisation.

use super::{CAST_TO_FLOAT, Tensor};
use crate::axis::Axis;
use crate::cpu;
use crate::error::{ErrorKind, On, Result};
use crate::hip::{self, ops::quant::Activations};
use crate::plan::norm::{Channels, Parameters, RowNorm, RowNormKind, affine_for_backend_of};
use crate::storage::{Storage, apart, by_device};

/// Softmax. It is computed in `f32` (`f64` for `f64`) relative to the maximum of each row, so that nothing overflows,
/// and rounded once. A row becomes NaN if it has a NaN, a +∞, or only −∞; other rows do not. −∞ next to finite numbers
/// counts as e⁻∞ = 0.
impl Tensor {
    /// eˣ / Σeˣ along `axis`, so that the elements sum to 1. Floats only. The softmax of an empty tensor is empty.
    ///
    /// Reads each element once if a row fits the registers of a block (8192 elements, 4096 of `f64`), else twice, and
    /// writes it once. Strided tensors are read in place, unless neither rows nor columns are contiguous.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::new([[0f32, 0.0], [1000.0, f32::NEG_INFINITY]], &Device::Cpu)?;
    /// assert_eq!(x.softmax(-1)?.to_vec2::<f32>()?, [[0.5, 0.5], [1.0, 0.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Axis`], [`ErrorKind::UnsupportedDType`] for integers, or an error of the device.
    pub fn softmax(&self, axis: impl Axis) -> Result<Tensor> {
        self.softmax_along(axis, false, "softmax")
    }

    /// The logarithm of [`Tensor::softmax`], x − max − ln Σeˣ⁻ᵐᵃˣ. It is exact where the softmax itself would
    /// underflow. Floats only.
    ///
    /// Moves as many bytes as [`Tensor::softmax`].
    ///
    /// # Errors
    /// As [`Tensor::softmax`].
    pub fn log_softmax(&self, axis: impl Axis) -> Result<Tensor> {
        self.softmax_along(axis, true, "log_softmax")
    }

    fn softmax_along(&self, axis: impl Axis, log: bool, operation: &'static str) -> Result<Tensor> {
        self.require(operation, self.dtype().is_float(), CAST_TO_FLOAT)?;
        let axis = axis.resolve(self.shape(), operation).on(self)?;
        let storage =
            by_device!(softmax::softmax(x, &self.layout, axis, log), x = self.storage()).on(self)?;
        Tensor::tight(storage, self.shape().clone(), operation)
    }
}

/// Normalisation. It is computed in `f32` (`f64` for `f64`) and rounded once. Squares are summed in that type. If their
/// sum overflows, the row becomes 0, plus the bias. In `f32` and `bf16` this happens for a deviation of 1.9e19 or more,
/// or for many smaller ones; scale such tensors first. The variance divides by the number of elements, and is computed
/// from the deviations from the mean, which avoids cancellation. A NaN or an infinity affects its own row only.
///
/// A weight or bias is `Some(&tensor)`, `&tensor` or `None`, with the dtype and device of `self`. `eps` is rounded to
/// the type of the computation.
impl Tensor {
    /// (x − mean) / √(variance + eps) · weight + bias over the last axis. Weight and bias have its length. Floats only.
    /// Deviations whose squares overflow `f32` (1.9e19) become 0.
    ///
    /// Reads each element once if a row fits the registers of a block (8192 elements, 4096 of `f64`), else three times,
    /// and writes it once. Strided tensors with contiguous rows are read in place; others are copied first.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::new([[1f32, 3.0]], &Device::Cpu)?;
    /// let weight = Tensor::new([2f32, 4.0], &Device::Cpu)?;
    /// assert_eq!(x.layer_norm(&weight, None, 0.0)?.to_vec2::<f32>()?, [[-2.0, 4.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for a scalar, [`ErrorKind::Argument`] for a weight or bias of another shape,
    /// [`ErrorKind::DTypeMismatch`], [`ErrorKind::DeviceMismatch`], [`ErrorKind::UnsupportedDType`] for integers, or an
    /// error of the device.
    pub fn layer_norm<'a>(
        &self,
        weight: impl Into<Option<&'a Tensor>>,
        bias: impl Into<Option<&'a Tensor>>,
        eps: f64,
    ) -> Result<Tensor> {
        self.last_axis_norm(RowNormKind::Layer, weight.into(), bias.into(), eps)
    }

    /// x / √(mean of x² + eps) · weight over the last axis. The weight has its length. Floats only. Elements whose
    /// squares overflow `f32` (1.9e19) become 0.
    ///
    /// Reads each element once if a row fits the registers of a block (8192 elements, 4096 of `f64`), else twice, and
    /// writes it once. Strided tensors with contiguous rows are read in place; others are copied first.
    ///
    /// # Errors
    /// As [`Tensor::layer_norm`].
    pub fn rms_norm<'a>(&self, weight: impl Into<Option<&'a Tensor>>, eps: f64) -> Result<Tensor> {
        self.last_axis_norm(RowNormKind::Rms, weight.into(), None, eps)
    }

    /// Adds `other`, broadcast to this tensor's shape, in place, and returns the [`Tensor::rms_norm`] of the sum. The sum is
    /// rounded to the dtype before it is normalised, so that both results are those of [`Tensor::add_assign_`] and
    /// [`Tensor::rms_norm`]. Floats only.
    ///
    /// On a HIP device, contiguous tensors of the same shape are read once for both.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let mut x = Tensor::new([[1f32, 3.0]], &Device::Cpu)?;
    /// // 3² + 4² are 25: the mean is 12.5, and 3.5 more are 16.
    /// let normed = x.add_rms_norm_(&Tensor::new([[2f32, 1.0]], &Device::Cpu)?, None, 3.5)?;
    /// assert_eq!(x.to_vec2::<f32>()?, [[3.0, 4.0]]);
    /// assert_eq!(normed.to_vec2::<f32>()?, [[0.75, 1.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::layer_norm`] and [`Tensor::binary_assign_`].
    #[doc(alias = "fused_add_rms_norm")]
    pub fn add_rms_norm_<'a>(
        &mut self,
        other: &Tensor,
        weight: impl Into<Option<&'a Tensor>>,
        eps: f64,
    ) -> Result<Tensor> {
        self.add_rms_norm_rounding(other, weight.into(), eps, None)
    }

    /// As [`Tensor::add_rms_norm_`]. `rounded` is given the norm in 8 bits, where a kernel does both.
    pub(crate) fn add_rms_norm_rounding(
        &mut self,
        other: &Tensor,
        weight: Option<&Tensor>,
        eps: f64,
        rounded: Option<&mut Option<Activations>>,
    ) -> Result<Tensor> {
        let name = "add_rms_norm_";
        self.require_alike(other, name)?;
        let length = self.last_axis(name)?;
        let from = self.expanded(other, name)?;
        let weight = weight.map(|given| self.parameters(name, "weight", given, length)).transpose()?;
        let norm = RowNorm { kind: RowNormKind::Rms, length, groups: 1, inner: 1, eps };
        let (summands, affine) = (other.storage(), [weight.as_ref().map(parts), None]);
        let mut normed = None;
        self.write(|storage, layout| {
            let result = match (storage, summands) {
                (Storage::Hip(x), Storage::Hip(y)) => {
                    let affine = affine_for_backend_of(summands, affine, name)?;
                    hip::ops::norm::add_rms_norm(x, layout, (y, &from), norm, affine, rounded)
                        .map(Storage::Hip)
                }
                (Storage::Cpu(x), Storage::Cpu(y)) => {
                    let affine = affine_for_backend_of(summands, affine, name)?;
                    cpu::ops::norm::add_rms_norm(x, layout, (y, &from), norm, affine).map(Storage::Cpu)
                }
                (x, y) => Err(apart(name, &[x, y])),
            };
            result.map(|result| normed = Some(result))
        })?;
        let normed = normed.expect("a write that did not fail has called its function");
        Tensor::tight(normed, self.shape().clone(), name)
    }

    /// (x − mean) / √(variance + eps) · weight + bias of a tensor `[n, c, …]`. The channels, axis 1, are divided into
    /// `groups` of equal size, and each group of each item has its own mean and variance. Weight and bias have one
    /// number per channel. Floats only. Deviations whose squares overflow `f32` (1.9e19) become 0.
    ///
    /// Moves as many bytes as [`Tensor::layer_norm`]. Strided tensors are copied first.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] below rank 2, [`ErrorKind::Argument`] if the groups do not divide the channels or for a
    /// weight or bias of another shape, else as [`Tensor::layer_norm`].
    pub fn group_norm<'a>(
        &self,
        groups: usize,
        weight: impl Into<Option<&'a Tensor>>,
        bias: impl Into<Option<&'a Tensor>>,
        eps: f64,
    ) -> Result<Tensor> {
        let (weight, bias) = (weight.into(), bias.into());
        let channels = self.channels("group_norm")?;
        if groups == 0 || channels % groups != 0 {
            let what = format!("{groups} groups do not divide the {channels} channels of {}", self.shape());
            return Err(self.error("group_norm", ErrorKind::Argument { what }));
        }
        let inner = self.dims()[2..].iter().copied().fold(1, usize::saturating_mul);
        let length = (channels / groups).saturating_mul(inner);
        let norm = RowNorm { kind: RowNormKind::Group, length, groups, inner, eps };
        self.row_norm(norm, channels, weight, bias)
    }

    /// (x − mean) / √(variance + eps) · weight + bias of a tensor `[n, c, …]`, with the given mean and variance of each
    /// channel, axis 1, as at inference. All parameters have one number per channel. Floats only.
    ///
    /// Reads and writes each element once. Strided tensors are copied first.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] below rank 2, [`ErrorKind::Argument`] for parameters of another shape, else as
    /// [`Tensor::layer_norm`].
    pub fn batch_norm<'a>(
        &self,
        running_mean: &Tensor,
        running_var: &Tensor,
        weight: impl Into<Option<&'a Tensor>>,
        bias: impl Into<Option<&'a Tensor>>,
        eps: f64,
    ) -> Result<Tensor> {
        let name = "batch_norm";
        let channels = self.channels(name)?;
        let required = [("running_mean", running_mean), ("running_var", running_var)];
        let given = [("weight", weight.into()), ("bias", bias.into())];
        let mut tight = Vec::with_capacity(4);
        for (role, tensor) in required {
            tight.push(Some(self.parameters(name, role, tensor, channels)?));
        }
        for (role, tensor) in given {
            tight.push(tensor.map(|tensor| self.parameters(name, role, tensor, channels)).transpose()?);
        }
        let [Some(mean), Some(variance), weight, bias] = &tight[..] else {
            unreachable!("two tensors are required");
        };
        let channels = Channels {
            statistics: [parts(mean), parts(variance)],
            affine: [weight.as_ref().map(parts), bias.as_ref().map(parts)],
            eps,
        };
        let all = self.storage();
        let storage = by_device!(norm::batch_norm(x, &self.layout, &channels.for_backend_of(all)?), x = all)
            .on(self)?;
        Tensor::tight(storage, self.shape().clone(), name)
    }

    fn last_axis_norm(
        &self,
        kind: RowNormKind,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<Tensor> {
        let length = self.last_axis(kind.name())?;
        self.row_norm(RowNorm { kind, length, groups: 1, inner: 1, eps }, length, weight, bias)
    }

    fn row_norm(
        &self,
        norm: RowNorm,
        channels: usize,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
    ) -> Result<Tensor> {
        let name = norm.kind.name();
        let tight = |role, tensor: Option<&Tensor>| {
            tensor.map(|tensor| self.parameters(name, role, tensor, channels)).transpose()
        };
        let (weight, bias) = (tight("weight", weight)?, tight("bias", bias)?);
        let affine = [weight.as_ref().map(parts), bias.as_ref().map(parts)];
        let all = self.storage();
        let storage = by_device!(
            norm::row_norm(x, &self.layout, norm, affine_for_backend_of(all, affine, name)?),
            x = all
        )
        .on(self)?;
        Tensor::tight(storage, self.shape().clone(), name)
    }

    /// The length of the last axis of a float tensor.
    fn last_axis(&self, operation: &'static str) -> Result<usize> {
        self.require(operation, self.dtype().is_float(), CAST_TO_FLOAT)?;
        self.dims().last().copied().ok_or_else(|| {
            self.error(operation, ErrorKind::Rank { shape: self.shape().clone(), expected: "at least 1" })
        })
    }

    /// The length of axis 1 of a float tensor.
    fn channels(&self, operation: &'static str) -> Result<usize> {
        self.require(operation, self.dtype().is_float(), CAST_TO_FLOAT)?;
        let missing = || ErrorKind::Rank { shape: self.shape().clone(), expected: "at least 2" };
        self.dims().get(1).copied().ok_or_else(|| self.error(operation, missing()))
    }

    /// A contiguous parameter with one number per channel.
    fn parameters(
        &self,
        operation: &'static str,
        role: &str,
        tensor: &Tensor,
        channels: usize,
    ) -> Result<Tensor> {
        self.require_alike(tensor, operation)?;
        if tensor.dims() != [channels] {
            let (got, shape) = (tensor.shape(), self.shape());
            let what = format!("the {role} has shape {got}, expected [{channels}] for {shape}");
            return Err(self.error(operation, ErrorKind::Argument { what }));
        }
        tensor.contiguous()
    }
}

/// A contiguous tensor, as the operations on storage take it.
fn parts(tensor: &Tensor) -> Parameters<'_, Storage> {
    Parameters { storage: tensor.storage(), layout: tensor.layout() }
}
