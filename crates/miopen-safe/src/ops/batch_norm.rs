//! Batch normalisation: training, inference, backward.

use crate::convert::host;
use crate::raw::norm as raw;
use crate::tensor::{is_packed, same_dims};
use crate::work::Work;
use crate::{Blend, DataType, Element, Error, Handle, Result, Tensor, TensorDesc, TensorMut};
use hip_sys::miopen::miopenBatchNormMode_t;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

crate::convert::c_enum! {
    /// The dimensions of the means of a batch normalisation, for `[n, c, h, w]` or `[n, c, d, h, w]`.
    BatchNormMode = miopenBatchNormMode_t {
        /// Over the batch: parameters are `[1, c, h, w]`.
        PerActivation = miopenBatchNormMode_t::miopenBNPerActivation,
        /// Over the batch and the positions: parameters are `[1, c, 1, 1]`.
        Spatial = miopenBatchNormMode_t::miopenBNSpatial,
    }
}

/// The element types of a batch normalisation, and those of its parameters. The library assumes these types,
/// whatever a descriptor says.
const TYPES: [(DataType, DataType); 4] = [
    (DataType::F32, DataType::F32),
    (DataType::F16, DataType::F32),
    (DataType::F16, DataType::F16),
    (DataType::BF16, DataType::F32),
];

impl BatchNormMode {
    /// The shape of the parameters.
    pub fn param_dims(self, input: &[usize]) -> Vec<usize> {
        let keeps = |axis: usize| axis == 1 || (axis > 1 && self == Self::PerActivation);
        input.iter().enumerate().map(|(axis, dim)| if keeps(axis) { *dim } else { 1 }).collect()
    }
}

/// The factors and summands of batch normalisation.
#[derive(Debug, Clone, Copy)]
pub struct ScaleBias<'a, P: Element> {
    /// Factors.
    pub scale: Tensor<'a, P>,
    /// The summands.
    pub bias: Tensor<'a, P>,
}

/// Statistics that a training step writes.
#[derive(Debug, Default)]
pub struct TrainingStatistics<'a, P: Element> {
    /// Running mean and variance, and the weight of the new one: `(1 − weight) · old + weight · new`. The variance is the unbiased
    /// one.
    pub running: Option<(TensorMut<'a, P>, TensorMut<'a, P>, f64)>,
    /// The batch's mean, and 1 / √(variance + epsilon), for the backward step.
    pub saved: Option<(TensorMut<'a, P>, TensorMut<'a, P>)>,
}

/// The outputs of a backward step.
#[derive(Debug)]
pub struct ScaleBiasGradients<'a, P: Element> {
    /// The gradient of the factors.
    pub scale: TensorMut<'a, P>,
    /// The gradient of the summands.
    pub bias: TensorMut<'a, P>,
}

impl Handle {
    /// The descriptor of the parameters for an input, as the library derives it.
    ///
    /// # Errors
    /// The library's error; [`Error::Mismatch`] if its shape is not that of [`BatchNormMode::param_dims`].
    #[doc(alias = "miopenDeriveBNTensorDescriptor")]
    pub fn batch_norm_params(&self, mode: BatchNormMode, x: &TensorDesc) -> Result<TensorDesc> {
        check_input(x)?;
        let x_desc = x.on(self)?;
        let derived = TensorDesc::filled_by(self, |m, _, desc| {
            // SAFETY: S1: both descriptors are live.
            unsafe { raw::derive_bn_tensor_descriptor(m, desc, x_desc, mode.raw()) }
        })?;
        crate::tensor::has_dims(
            "the library's parameters of a normalisation",
            &mode.param_dims(x.dims()),
            &derived,
        )?;
        Ok(derived)
    }

    /// `y ←` the normalised `x`, with the batch's own statistics, times the scale plus the bias. All tensors are contiguous; the
    /// parameters are `f32` beside `f32`, `f16` or `bf16`, or `f16` beside `f16`.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for shapes, types and strides that do not match; the error of memory, stream or library.
    #[doc(alias = "miopenBatchNormalizationForwardTraining")]
    pub fn batch_norm_training<T: Element, P: Element>(
        &self,
        mode: BatchNormMode,
        x: &Tensor<'_, T>,
        params: &ScaleBias<'_, P>,
        epsilon: f64,
        y: &mut TensorMut<'_, T>,
        statistics: &mut TrainingStatistics<'_, P>,
    ) -> Result<()> {
        same_dims("the shape of a normalisation's output", x.desc(), y.desc())?;
        is_packed("a normalisation's output", y.desc())?;
        let wanted = check_params(mode, x.desc(), params.scale.desc())?;
        check_param(wanted, params.bias.desc())?;
        if let Some((mean, variance, _)) = &statistics.running {
            check_param(wanted, mean.desc())?;
            check_param(wanted, variance.desc())?;
        }
        if let Some((mean, deviation)) = &statistics.saved {
            check_param(wanted, mean.desc())?;
            check_param(wanted, deviation.desc())?;
        }
        let (x_desc, y_desc, p_desc) = (x.desc().on(self)?, y.desc().on(self)?, wanted.on(self)?);
        let Blend { alpha, beta } = Blend::SET;
        let mut work = Work::new(self, "a batch normalisation");
        let (x, y) = (work.read(x), work.write(y));
        let (scale, bias) = (work.read(&params.scale), work.read(&params.bias));
        let (mut running, mut factor, mut saved) = ([null_mut(); 2], 0.0, [null_mut(); 2]);
        if let Some((mean, variance, part)) = &mut statistics.running {
            (running, factor) = ([work.write(mean), work.write(variance)], *part);
        }
        if let Some((mean, deviation)) = &mut statistics.saved {
            saved = [work.write(mean), work.write(deviation)];
        }
        let mode = mode.raw();
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named; what is only read is not written in spite of
        // its type.
        work.run(|m, h| unsafe {
            raw::batch_normalization_forward_training(
                m,
                h,
                mode,
                host(&alpha).cast_mut(),
                host(&beta).cast_mut(),
                x_desc,
                x,
                y_desc,
                y,
                p_desc,
                scale.cast_mut(),
                bias.cast_mut(),
                factor,
                running[0],
                running[1],
                epsilon,
                saved[0],
                saved[1],
            )
        })
    }

    /// `y ←` the normalised `x`, with given mean and variance, times the scale plus the bias.
    ///
    /// # Errors
    /// As [`Handle::batch_norm_training`].
    #[doc(alias = "miopenBatchNormalizationForwardInference")]
    #[allow(clippy::too_many_arguments)]
    pub fn batch_norm_inference<T: Element, P: Element>(
        &self,
        mode: BatchNormMode,
        x: &Tensor<'_, T>,
        params: &ScaleBias<'_, P>,
        mean: &Tensor<'_, P>,
        variance: &Tensor<'_, P>,
        epsilon: f64,
        y: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        same_dims("the shape of a normalisation's output", x.desc(), y.desc())?;
        is_packed("a normalisation's output", y.desc())?;
        let wanted = check_params(mode, x.desc(), params.scale.desc())?;
        for param in [params.bias.desc(), mean.desc(), variance.desc()] {
            check_param(wanted, param)?;
        }
        let (x_desc, y_desc, p_desc) = (x.desc().on(self)?, y.desc().on(self)?, wanted.on(self)?);
        let Blend { alpha, beta } = Blend::SET;
        let mut work = Work::new(self, "a batch normalisation");
        let (x, y) = (work.read(x), work.write(y));
        let (scale, bias) = (work.read(&params.scale), work.read(&params.bias));
        let (mean, variance) = (work.read(mean), work.read(variance));
        let mode = mode.raw();
        // SAFETY: S1, S2: as in training.
        work.run(|m, h| unsafe {
            raw::batch_normalization_forward_inference(
                m,
                h,
                mode,
                host(&alpha).cast_mut(),
                host(&beta).cast_mut(),
                x_desc,
                x,
                y_desc,
                y,
                p_desc,
                scale.cast_mut(),
                bias.cast_mut(),
                mean.cast_mut(),
                variance.cast_mut(),
                epsilon,
            )
        })
    }

    /// The gradient `dx` of the input and those of the parameters, from input, output's gradient and what training saved; without
    /// that the library computes the statistics again.
    ///
    /// # Errors
    /// As [`Handle::batch_norm_training`].
    #[doc(alias = "miopenBatchNormalizationBackward")]
    #[allow(clippy::too_many_arguments)]
    pub fn batch_norm_backward<T: Element, P: Element>(
        &self,
        mode: BatchNormMode,
        x: &Tensor<'_, T>,
        dy: &Tensor<'_, T>,
        scale: &Tensor<'_, P>,
        saved: Option<(&Tensor<'_, P>, &Tensor<'_, P>)>,
        epsilon: f64,
        dx: &mut TensorMut<'_, T>,
        gradients: &mut ScaleBiasGradients<'_, P>,
    ) -> Result<()> {
        same_dims("the shape of an output's gradient", x.desc(), dy.desc())?;
        same_dims("the shape of an input's gradient", x.desc(), dx.desc())?;
        is_packed("an output's gradient", dy.desc())?;
        is_packed("an input's gradient", dx.desc())?;
        let wanted = check_params(mode, x.desc(), scale.desc())?;
        check_param(wanted, gradients.scale.desc())?;
        check_param(wanted, gradients.bias.desc())?;
        if let Some((mean, deviation)) = saved {
            check_param(wanted, mean.desc())?;
            check_param(wanted, deviation.desc())?;
        }
        let (x_desc, dy_desc, dx_desc) = (x.desc().on(self)?, dy.desc().on(self)?, dx.desc().on(self)?);
        let p_desc = wanted.on(self)?;
        let Blend { alpha, beta } = Blend::SET;
        let mut work = Work::new(self, "the gradient of a batch normalisation");
        let (x, dy, scale, dx) = (work.read(x), work.read(dy), work.read(scale), work.write(dx));
        let kept: [*const c_void; 2] = match saved {
            Some((mean, deviation)) => [work.read(mean), work.read(deviation)],
            None => [null(); 2],
        };
        let (d_scale, d_bias) = (work.write(&mut gradients.scale), work.write(&mut gradients.bias));
        let mode = mode.raw();
        // SAFETY: S1, S2: as in training.
        work.run(|m, h| unsafe {
            let (one, zero) = (host(&alpha), host(&beta));
            raw::batch_normalization_backward(
                m, h, mode, one, zero, one, zero, x_desc, x, dy_desc, dy, dx_desc, dx, p_desc, scale,
                d_scale, d_bias, epsilon, kept[0], kept[1],
            )
        })
    }
}

fn check_input(x: &TensorDesc) -> Result<()> {
    if !(4..=5).contains(&x.dims().len()) {
        return Err(Error::invalid(
            "the dimensions of a batch normalisation's input",
            x.dims().len(),
            "it has to be 4 or 5",
        ));
    }
    Ok(())
}

/// The parameters' descriptor, if it matches.
fn check_params<'a>(mode: BatchNormMode, x: &TensorDesc, params: &'a TensorDesc) -> Result<&'a TensorDesc> {
    check_input(x)?;
    is_packed("a normalisation's input", x)?;
    let found = (x.data_type(), params.data_type());
    if !TYPES.contains(&found) {
        return Err(Error::mismatch(
            "the types of a batch normalisation's tensors and parameters",
            TYPES,
            found,
        ));
    }
    crate::tensor::has_dims("the shape of a normalisation's parameters", &mode.param_dims(x.dims()), params)?;
    is_packed("a normalisation's parameters", params)?;
    Ok(params)
}

/// The library takes one descriptor for all of them.
fn check_param(wanted: &TensorDesc, param: &TensorDesc) -> Result<()> {
    if wanted == param {
        return Ok(());
    }
    Err(Error::mismatch("a normalisation's parameter, which has to lie as the scale does", wanted, param))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_parameters() {
        assert_eq!(BatchNormMode::Spatial.param_dims(&[2, 3, 4, 5]), [1, 3, 1, 1]);
        assert_eq!(BatchNormMode::PerActivation.param_dims(&[2, 3, 4, 5, 6]), [1, 3, 4, 5, 6]);
    }
}
