//! Softmax and normalisation.

use super::{CAST_TO_FLOAT, Tensor};
use crate::axis::Axis;
use crate::error::{ErrorKind, On, Result};
use crate::storage::Storage;
use crate::storage::nn::{Channels, Parameters, RowNorm, RowNormKind};

/// Softmax. Computed in `f32` (`f64` for `f64`) relative to the greatest element of each row, so that nothing overflows, and
/// rounded once. A row that has a NaN, a +∞, or nothing but −∞ becomes NaN, and no other row does; −∞ beside numbers
/// counts as e⁻∞ = 0.
impl Tensor {
    /// eˣ / Σeˣ along `axis`, whose elements then add up to 1. Floats only; of no elements it is empty.
    ///
    /// Moves each element in once and out once where a row fits the registers of a block (8192 elements, 4096 of `f64`), twice in and
    /// once out elsewhere. Along the last axis and along others strided tensors are read where they lie, unless neither rows nor
    /// columns lie side by side.
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

    /// The logarithm of [`Tensor::softmax`], x − max − ln Σeˣ⁻ᵐᵃˣ: exact where the softmax itself would vanish. Floats only.
    ///
    /// Moves what [`Tensor::softmax`] does.
    ///
    /// # Errors
    /// As [`Tensor::softmax`].
    pub fn log_softmax(&self, axis: impl Axis) -> Result<Tensor> {
        self.softmax_along(axis, true, "log_softmax")
    }

    fn softmax_along(&self, axis: impl Axis, log: bool, operation: &'static str) -> Result<Tensor> {
        self.require(operation, self.dtype().is_float(), CAST_TO_FLOAT)?;
        let axis = axis.resolve(self.shape(), operation).on(self)?;
        let storage = self.storage.softmax(&self.layout, axis, log).on(self)?;
        Tensor::tight(storage, self.shape().clone(), operation)
    }
}

/// Normalisation. Computed in `f32` (`f64` for `f64`) and rounded once. Squares are summed in that type: where their sum is infinite, as of a
/// deviation of 1.9e19 or more in `f32` and `bf16`, or of many smaller ones, the row becomes 0, with the bias added. Scale such tensors first. The
/// variance is that of the elements (divided by their number), from deviations from the mean: it does not cancel. A NaN or an
/// infinity spoils its own row only.
///
/// A weight or bias is `Some(&tensor)`, `&tensor` or `None`, of the dtype and device of `self`. `eps` is rounded to the type of the computation.
impl Tensor {
    /// (x − mean) / √(variance + eps) · weight + bias over the last axis; weight and bias have its length. Floats only. Deviations whose
    /// squares overflow `f32` (1.9e19) become 0.
    ///
    /// Moves each element in once and out once where a row fits the registers of a block (8192 elements, 4096 of `f64`), three times in
    /// elsewhere. Strided tensors whose rows lie side by side are read where they lie, others are copied first.
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
    /// [`ErrorKind::DTypeMismatch`], [`ErrorKind::DeviceMismatch`], [`ErrorKind::UnsupportedDType`] for integers, or an error of the
    /// device.
    pub fn layer_norm<'a>(
        &self,
        weight: impl Into<Option<&'a Tensor>>,
        bias: impl Into<Option<&'a Tensor>>,
        eps: f64,
    ) -> Result<Tensor> {
        self.last_axis_norm(RowNormKind::Layer, weight.into(), bias.into(), eps)
    }

    /// x / √(mean of x² + eps) · weight over the last axis; the weight has its length. Floats only. Elements whose squares overflow `f32`
    /// (1.9e19) become 0.
    ///
    /// Moves each element in once and out once where a row fits the registers of a block (8192 elements, 4096 of `f64`), twice in
    /// elsewhere. Strided tensors whose rows lie side by side are read where they lie, others are copied first.
    ///
    /// # Errors
    /// As [`Tensor::layer_norm`].
    pub fn rms_norm<'a>(&self, weight: impl Into<Option<&'a Tensor>>, eps: f64) -> Result<Tensor> {
        self.last_axis_norm(RowNormKind::Rms, weight.into(), None, eps)
    }

    /// (x − mean) / √(variance + eps) · weight + bias of a tensor `[n, c, …]`, whose channels, axis 1, are cut into `groups` of equal
    /// size: mean and variance are those of one group of one item. Weight and bias have one number for each channel. Floats only. Deviations
    /// whose squares overflow `f32` (1.9e19) become 0.
    ///
    /// Moves what [`Tensor::layer_norm`] does; strided tensors are copied first.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] below rank 2, [`ErrorKind::Argument`] if the groups do not divide the channels or for a weight or bias of
    /// another shape, else as [`Tensor::layer_norm`].
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

    /// (x − mean) / √(variance + eps) · weight + bias of a tensor `[n, c, …]` with given means and variances of its channels, axis 1, as at
    /// inference. All parameters have one number for each channel. Floats only.
    ///
    /// Moves each element in once and out once; strided tensors are copied first.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] below rank 2, [`ErrorKind::Argument`] for parameters of another shape, else as [`Tensor::layer_norm`].
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
        let storage = self.storage.batch_norm(&self.layout, &channels).on(self)?;
        Tensor::tight(storage, self.shape().clone(), name)
    }

    fn last_axis_norm(
        &self,
        kind: RowNormKind,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<Tensor> {
        self.require(kind.name(), self.dtype().is_float(), CAST_TO_FLOAT)?;
        let Some(&length) = self.dims().last() else {
            let kind_of = ErrorKind::Rank { shape: self.shape().clone(), expected: "at least 1" };
            return Err(self.error(kind.name(), kind_of));
        };
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
        let storage = self.storage.row_norm(&self.layout, norm, affine).on(self)?;
        Tensor::tight(storage, self.shape().clone(), name)
    }

    /// The length of axis 1 of a float tensor.
    fn channels(&self, operation: &'static str) -> Result<usize> {
        self.require(operation, self.dtype().is_float(), CAST_TO_FLOAT)?;
        let missing = || ErrorKind::Rank { shape: self.shape().clone(), expected: "at least 2" };
        self.dims().get(1).copied().ok_or_else(|| self.error(operation, missing()))
    }

    /// One number for each channel, tight.
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

/// A tight tensor as operations on storage take it.
fn parts(tensor: &Tensor) -> Parameters<'_, Storage> {
    Parameters { storage: tensor.storage(), layout: tensor.layout() }
}
