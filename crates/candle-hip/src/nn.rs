//! The forward functions of candle's own custom operations: sorting in candle-core, and those of candle-nn. The patch
//! calls them from `hip_fwd`.

use candle_core::{Layout, Result, Shape};
use tensor_core::Tensor;

use super::error::Candles;
use super::layout::shape_of;
use super::ops::Operand;
use super::HipStorage;

/// What a forward function returns.
pub type Forward = Result<(HipStorage, Shape)>;

/// 1/(1 + e⁻ˣ) of each element.
///
/// # Errors
/// For integers, or an error of the device.
pub fn sigmoid(x: &HipStorage, l: &Layout) -> Forward {
    made((x, l), |x| x.sigmoid())
}

/// Softmax along the last axis.
///
/// # Errors
/// For scalars and for integers, or an error of the device.
pub fn softmax_last_dim(x: &HipStorage, l: &Layout) -> Forward {
    made((x, l), |x| x.softmax(-1))
}

/// x / √(mean of x² + eps) · weight along the last axis.
///
/// # Errors
/// Unless the weight has the axis' length and the dtype of `x`; for integers; or an error of the device.
pub fn rms_norm(x: &HipStorage, l: &Layout, weight: &HipStorage, weight_l: &Layout, eps: f32) -> Forward {
    let weight = weight.tensor(weight_l)?;
    made((x, l), |x| x.rms_norm(&weight, f64::from(eps)))
}

/// (x − mean) / √(variance + eps) · weight + bias along the last axis.
///
/// # Errors
/// As [`rms_norm`].
pub fn layer_norm(
    (x, l): Operand,
    (weight, weight_l): Operand,
    (bias, bias_l): Operand,
    eps: f32,
) -> Forward {
    let (weight, bias) = (weight.tensor(weight_l)?, bias.tensor(bias_l)?);
    made((x, l), |x| x.layer_norm(&weight, &bias, f64::from(eps)))
}

/// Rotates pairs of elements, half the last axis apart, of `[batch, heads, time, width]`.
///
/// # Errors
/// Unless the angles are `[time, width / 2]` or have a batch before, with the dtype of `x`; or an error of the device.
pub fn rope((x, l): Operand, (cos, cos_l): Operand, (sin, sin_l): Operand) -> Forward {
    let (cos, sin) = (cos.tensor(cos_l)?, sin.tensor(sin_l)?);
    made((x, l), |x| x.rope(&cos, &sin))
}

/// As [`rope`], of pairs of neighbours.
///
/// # Errors
/// As [`rope`].
pub fn rope_i((x, l): Operand, (cos, cos_l): Operand, (sin, sin_l): Operand) -> Forward {
    let (cos, sin) = (cos.tensor(cos_l)?, sin.tensor(sin_l)?);
    made((x, l), |x| x.rope_i(&cos, &sin))
}

/// As [`rope`], of `[batch, time, heads, width]`.
///
/// # Errors
/// As [`rope`].
pub fn rope_thd((x, l): Operand, (cos, cos_l): Operand, (sin, sin_l): Operand) -> Forward {
    let (cos, sin) = (cos.tensor(cos_l)?, sin.tensor(sin_l)?);
    made((x, l), |x| x.rope_thd(&cos, &sin))
}

/// The positions that sort the last axis, as `u32`. Equal elements keep their order; NaN is the largest.
///
/// # Errors
/// For scalars, or an error of the device.
pub fn arg_sort_last_dim(x: &HipStorage, l: &Layout, ascending: bool) -> Forward {
    made((x, l), |x| x.arg_sort_last_dim(ascending))
}

/// Attention of queries `[batch, heads, time, width]` to keys and values, which may have fewer heads.
///
/// # Errors
/// If the shapes do not match, or an error of the device.
pub fn sdpa(
    (q, q_l): Operand,
    (k, k_l): Operand,
    (v, v_l): Operand,
    mask: Option<Operand>,
    causal: bool,
    scale: f32,
) -> Forward {
    let (k, v) = (k.tensor(k_l)?, v.tensor(v_l)?);
    let mask = mask.map(|(mask, l)| mask.tensor(l)).transpose()?;
    made((q, q_l), |q| q.scaled_dot_product_attention(&k, &v, mask.as_ref(), causal, Some(f64::from(scale))))
}

fn made((x, l): Operand, work: impl FnOnce(&Tensor) -> tensor_core::Result<Tensor>) -> Forward {
    let result = work(&x.tensor(l)?).candles()?;
    let shape = shape_of(&result);
    Ok((HipStorage::of(result, x.hip_device())?, shape))
}
