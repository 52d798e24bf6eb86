//! Batch normalisation.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::Outcome;
use super::convert::batch_norm_mode;
use super::entry::{all_there, entries};
use super::factor::Factor;
use super::handle::{Session, with};
use super::library::{In, Out, check, cudnn};
use super::tensor::{Tensor, tensor_of};
use cudarc::cudnn::sys;
use hip_sys::miopen::*;

/// The parameters of inference, per channel or per activation.
#[derive(Clone, Copy)]
pub(super) struct Parameters<'a> {
    pub(super) tensor: &'a Tensor,
    pub(super) scale: In,
    pub(super) bias: In,
    pub(super) mean: In,
    pub(super) variance: In,
    pub(super) epsilon: f64,
}

/// `y = alpha * (scale * (x - mean) / sqrt(variance + epsilon) + bias) + beta * y`. The two may be the same
/// memory with the same strides.
///
/// # Safety
/// The memory fits the tensors.
pub(super) unsafe fn infer(
    session: &Session,
    mode: sys::cudnnBatchNormMode_t,
    (alpha, beta): (Factor, Factor),
    (x_tensor, x): (&Tensor, In),
    (y_tensor, y): (&Tensor, Out),
    parameters: Parameters<'_>,
) -> Outcome {
    let Parameters { tensor, scale, bias, mean, variance, epsilon } = parameters;
    all_there(&[scale, bias, mean, variance])?;
    let (x_raw, y_raw, raw) = (x_tensor.raw()?, y_tensor.raw()?, tensor.raw()?);
    // SAFETY: S11: live descriptors and factors; the memory is the caller's word.
    check(unsafe {
        (cudnn()?.cudnnBatchNormalizationForwardInference)(
            session.raw,
            mode,
            alpha.get(),
            beta.get(),
            x_raw,
            x,
            y_raw,
            y,
            raw,
            scale,
            bias,
            mean,
            variance,
            epsilon,
        )
    })
}

type H = miopenHandle_t;
type T = miopenTensorDescriptor_t;
type Mode = miopenBatchNormMode_t;

entries! {
    fn miopenBatchNormalizationForwardInference(
        handle: H, mode: Mode, alpha: Out, beta: Out, xd: T, x: In, yd: T, y: Out, pd: T, scale: Out, bias: Out,
        mean: Out, variance: Out, epsilon: f64,
    ) {
        let (xd, yd, pd) = (tensor_of(xd)?, tensor_of(yd)?, tensor_of(pd)?);
        all_there(&[x, y.cast_const()])?;
        let mode = batch_norm_mode(mode)?;
        // SAFETY: S11: the caller's factors.
        let blend = unsafe { (Factor::read(alpha, yd.kind)?, Factor::read(beta, yd.kind)?) };
        let parameters = Parameters { tensor: &pd, scale, bias, mean, variance, epsilon };
        // SAFETY: S11: the caller's memory.
        with(handle, |session| unsafe { infer(session, mode, blend, (&xd, x), (&yd, y), parameters) })
    }

    /// The running values may both be null, and so may the saved values.
    fn miopenBatchNormalizationForwardTraining(
        handle: H, mode: Mode, alpha: Out, beta: Out, xd: T, x: In, yd: T, y: Out, pd: T, scale: Out, bias: Out,
        factor: f64, running_mean: Out, running_variance: Out, epsilon: f64, saved_mean: Out,
        saved_inverse_deviation: Out,
    ) {
        let (xd, yd, pd) = (tensor_of(xd)?, tensor_of(yd)?, tensor_of(pd)?);
        all_there(&[x, y.cast_const(), scale.cast_const(), bias.cast_const()])?;
        let mode = batch_norm_mode(mode)?;
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (Factor::read(alpha, yd.kind)?, Factor::read(beta, yd.kind)?) };
        let (x_raw, y_raw, raw) = (xd.raw()?, yd.raw()?, pd.raw()?);
        with(handle, |session| {
            // SAFETY: S11: live descriptors and factors, and the caller's memory.
            check(unsafe {
                (cudnn()?.cudnnBatchNormalizationForwardTraining)(
                    session.raw, mode, alpha.get(), beta.get(), x_raw, x, y_raw, y, raw, scale, bias, factor,
                    running_mean, running_variance, epsilon, saved_mean, saved_inverse_deviation,
                )
            })
        })
    }

    /// The saved values may both be null; then they are computed again.
    fn miopenBatchNormalizationBackward(
        handle: H, mode: Mode, data_alpha: In, data_beta: In, parameter_alpha: In, parameter_beta: In, xd: T, x: In,
        dyd: T, dy: In, dxd: T, dx: Out, pd: T, scale: In, scale_gradient: Out, bias_gradient: Out, epsilon: f64,
        saved_mean: In, saved_inverse_deviation: In,
    ) {
        let (xd, dyd, dxd, pd) = (tensor_of(xd)?, tensor_of(dyd)?, tensor_of(dxd)?, tensor_of(pd)?);
        all_there(&[x, dy, dx.cast_const(), scale, scale_gradient.cast_const(), bias_gradient.cast_const()])?;
        let mode = batch_norm_mode(mode)?;
        // SAFETY: S11: the caller's factors.
        let (data_alpha, data_beta, parameter_alpha, parameter_beta) = unsafe {
            (
                Factor::read(data_alpha, dxd.kind)?,
                Factor::read(data_beta, dxd.kind)?,
                Factor::read(parameter_alpha, dxd.kind)?,
                Factor::read(parameter_beta, dxd.kind)?,
            )
        };
        let (x_raw, dy_raw, dx_raw, raw) = (xd.raw()?, dyd.raw()?, dxd.raw()?, pd.raw()?);
        with(handle, |session| {
            // SAFETY: S11: as above.
            check(unsafe {
                (cudnn()?.cudnnBatchNormalizationBackward)(
                    session.raw, mode, data_alpha.get(), data_beta.get(), parameter_alpha.get(), parameter_beta.get(),
                    x_raw, x, dy_raw, dy, dx_raw, dx, raw, scale, scale_gradient, bias_gradient, epsilon, saved_mean,
                    saved_inverse_deviation,
                )
            })
        })
    }
}
