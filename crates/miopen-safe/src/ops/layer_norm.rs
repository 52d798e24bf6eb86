//! Layer, group and root-mean-square normalisation, forward.

use crate::convert;
use crate::raw::norm as raw;
use crate::tensor::{has_dims, is_packed, same_dims};
use crate::work::{Scratch, Work};
use crate::{Element, Error, Handle, Result, Tensor, TensorDesc, TensorMut};
use hip_sys::miopen::miopenNormMode_t;
use std::ptr::null;

/// The factors and summands of a normalisation: both, or neither.
pub type Affine<'a, 'b, T> = Option<(&'a Tensor<'b, T>, &'a Tensor<'b, T>)>;

/// The statistics that a normalisation writes: means and inverse deviations.
#[derive(Debug)]
pub struct NormStatistics<'a, T: Element> {
    /// Means.
    pub mean: TensorMut<'a, T>,
    /// 1 / √(variance + epsilon).
    pub rstd: TensorMut<'a, T>,
}

impl Handle {
    /// `y ←` each part of `x` over the dimensions from `first` on, minus its mean, divided by its deviation, times weights plus biases of that
    /// part's shape. The statistics have the shape of the dimensions before `first`. All tensors are contiguous, here and in the other
    /// normalisations.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for shapes and strides that do not match, [`Error::Invalid`] for a `first` that is 0 or past the last dimension,
    /// [`Error::Unsupported`] if the library has no such function; the error of memory, stream or library.
    #[doc(alias = "miopenLayerNormForward")]
    pub fn layer_norm_forward<T: Element>(
        &self,
        first: usize,
        x: &Tensor<'_, T>,
        affine: Affine<'_, '_, T>,
        epsilon: f32,
        y: &mut TensorMut<'_, T>,
        statistics: &mut NormStatistics<'_, T>,
    ) -> Result<()> {
        self.layer_norm(first, x, None, affine, epsilon, y, statistics)
    }

    /// As [`Handle::layer_norm_forward`], of the sum of two inputs.
    ///
    /// # Errors
    /// As [`Handle::layer_norm_forward`].
    #[doc(alias = "miopenAddLayerNormForward")]
    #[allow(clippy::too_many_arguments)]
    pub fn add_layer_norm_forward<T: Element>(
        &self,
        first: usize,
        x: &Tensor<'_, T>,
        other: &Tensor<'_, T>,
        affine: Affine<'_, '_, T>,
        epsilon: f32,
        y: &mut TensorMut<'_, T>,
        statistics: &mut NormStatistics<'_, T>,
    ) -> Result<()> {
        same_dims("the shape of a normalisation's second input", x.desc(), other.desc())?;
        is_packed("a normalisation's second input", other.desc())?;
        self.layer_norm(first, x, Some(other), affine, epsilon, y, statistics)
    }

    #[allow(clippy::too_many_arguments)]
    fn layer_norm<T: Element>(
        &self,
        first: usize,
        x: &Tensor<'_, T>,
        other: Option<&Tensor<'_, T>>,
        affine: Affine<'_, '_, T>,
        epsilon: f32,
        y: &mut TensorMut<'_, T>,
        statistics: &mut NormStatistics<'_, T>,
    ) -> Result<()> {
        let dims = x.desc().dims();
        if first == 0 || first >= dims.len() {
            let wanted = "it has to be one after the first";
            return Err(Error::invalid("the first dimension of a normalisation", first, wanted));
        }
        let (outer, inner) = dims.split_at(first);
        same_dims("the shape of a normalisation's output", x.desc(), y.desc())?;
        is_packed("a normalisation's input", x.desc())?;
        is_packed("a normalisation's output", y.desc())?;
        let weights = check_affine(self, inner, affine)?;
        check_statistics(outer, statistics)?;
        let (x_desc, y_desc, w_desc) = (x.desc().on(self)?, y.desc().on(self)?, weights.on(self)?);
        let (mean_desc, rstd_desc) = (statistics.mean.desc().on(self)?, statistics.rstd.desc().on(self)?);
        let axis = convert::int("a dimension", first)?;
        let mut work = Work::new(self, "a layer normalisation");
        let (x, y) = (work.read(x), work.write(y));
        let (w, b) = affine.map_or((null(), null()), |(weight, bias)| (work.read(weight), work.read(bias)));
        let (mean, rstd) = (work.write(&mut statistics.mean), work.write(&mut statistics.rstd));
        match other {
            None => {
                let mode = if affine.is_some() {
                    miopenNormMode_t::MIOPEN_WEIGHT_BIAS
                } else {
                    miopenNormMode_t::MIOPEN_ELEMENTWISE_AFFINE
                };
                // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named; without weights the mode reads none.
                work.run(|m, h| unsafe {
                    raw::layer_norm_forward(
                        m, h, mode, x_desc, x, w_desc, w, w_desc, b, epsilon, axis, y_desc, y, mean_desc,
                        mean, rstd_desc, rstd,
                    )
                })
            }
            Some(other) => {
                let mode = if affine.is_some() {
                    miopenNormMode_t::MIOPEN_WEIGHT_BIAS_FUSED_ADD
                } else {
                    miopenNormMode_t::MIOPEN_ELEMENTWISE_AFFINE_FUSED_ADD
                };
                let other_desc = other.desc().on(self)?;
                let second = work.read(other);
                // SAFETY: S1, S2: as above.
                work.run(|m, h| unsafe {
                    raw::add_layer_norm_forward(
                        m, h, mode, x_desc, x, other_desc, second, w_desc, w, w_desc, b, epsilon, axis,
                        y_desc, y, mean_desc, mean, rstd_desc, rstd,
                    )
                })
            }
        }
    }

    /// `y ←` each group of channels of `x` `[n, c, …]`, minus its mean, divided by its deviation, times weights plus biases `[c]`. The
    /// statistics are `[n, groups]`.
    ///
    /// # Errors
    /// As [`Handle::layer_norm_forward`].
    #[doc(alias = "miopenGroupNormForward")]
    #[allow(clippy::too_many_arguments)]
    pub fn group_norm_forward<T: Element>(
        &self,
        groups: usize,
        x: &Tensor<'_, T>,
        affine: Affine<'_, '_, T>,
        epsilon: f32,
        y: &mut TensorMut<'_, T>,
        statistics: &mut NormStatistics<'_, T>,
    ) -> Result<()> {
        let dims = x.desc().dims();
        if dims.len() < 3 || groups == 0 || !dims[1].is_multiple_of(groups) {
            let wanted = "channels in equal groups, and positions";
            return Err(Error::mismatch(
                "the shape of a group normalisation's input",
                wanted,
                (dims, groups),
            ));
        }
        same_dims("the shape of a normalisation's output", x.desc(), y.desc())?;
        is_packed("a normalisation's input", x.desc())?;
        is_packed("a normalisation's output", y.desc())?;
        let weights = check_affine(self, &dims[1..2], affine)?;
        check_statistics(&[dims[0], groups], statistics)?;
        let (x_desc, y_desc, w_desc) = (x.desc().on(self)?, y.desc().on(self)?, weights.on(self)?);
        let (mean_desc, rstd_desc) = (statistics.mean.desc().on(self)?, statistics.rstd.desc().on(self)?);
        let count = convert::int("the number of groups", groups)?.unsigned_abs().into();
        let mode = if affine.is_some() {
            miopenNormMode_t::MIOPEN_WEIGHT_BIAS
        } else {
            miopenNormMode_t::MIOPEN_ELEMENTWISE_AFFINE
        };
        let mut work = Work::new(self, "a group normalisation");
        let (x, y) = (work.read(x), work.write(y));
        let (w, b) = affine.map_or((null(), null()), |(weight, bias)| (work.read(weight), work.read(bias)));
        let (mean, rstd) = (work.write(&mut statistics.mean), work.write(&mut statistics.rstd));
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named; without weights the mode reads none.
        work.run(|m, h| unsafe {
            raw::group_norm_forward(
                m, h, mode, x_desc, x, w_desc, w, w_desc, b, count, epsilon, y_desc, y, mean_desc, mean,
                rstd_desc, rstd,
            )
        })
    }

    /// `y ←` each row along the last dimension of `x`, divided by the root of its mean square, times weights of that length. `rstd` gets
    /// 1 / √(mean square + epsilon), in the shape of the dimensions before.
    ///
    /// # Errors
    /// As [`Handle::layer_norm_forward`].
    #[doc(alias = "miopenT5LayerNormForward")]
    pub fn rms_norm_forward<T: Element>(
        &self,
        x: &Tensor<'_, T>,
        weight: &Tensor<'_, T>,
        epsilon: f32,
        y: &mut TensorMut<'_, T>,
        rstd: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        let (outer, inner) = split_last(x.desc())?;
        same_dims("the shape of a normalisation's output", x.desc(), y.desc())?;
        is_packed("a normalisation's input", x.desc())?;
        is_packed("a normalisation's output", y.desc())?;
        has_dims("the shape of a normalisation's weights", inner, weight.desc())?;
        has_dims("the shape of a normalisation's statistics", outer, rstd.desc())?;
        is_packed("a normalisation's weights", weight.desc())?;
        is_packed("a normalisation's statistics", rstd.desc())?;
        let (x_desc, y_desc) = (x.desc().on(self)?, y.desc().on(self)?);
        let (w_desc, rstd_desc) = (weight.desc().on(self)?, rstd.desc().on(self)?);
        let mut work = Work::new(self, "a root-mean-square normalisation");
        let (x, w, y, rstd) = (work.read(x), work.read(weight), work.write(y), work.write(rstd));
        let mode = miopenNormMode_t::MIOPEN_WEIGHT_BIAS_T5;
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named.
        work.run(|m, h| unsafe {
            raw::t5_layer_norm_forward(m, h, mode, x_desc, x, w_desc, w, epsilon, y_desc, y, rstd_desc, rstd)
        })
    }

    /// The gradients `dx` of the input and `dw` of the weights of [`Handle::rms_norm_forward`].
    ///
    /// # Errors
    /// As [`Handle::layer_norm_forward`].
    #[doc(alias = "miopenT5LayerNormBackward")]
    #[doc(alias = "miopenGetT5LayerNormBackwardWorkspaceSize")]
    #[allow(clippy::too_many_arguments)]
    pub fn rms_norm_backward<T: Element>(
        &self,
        dy: &Tensor<'_, T>,
        x: &Tensor<'_, T>,
        weight: &Tensor<'_, T>,
        rstd: &Tensor<'_, T>,
        dx: &mut TensorMut<'_, T>,
        dw: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        let (outer, inner) = split_last(x.desc())?;
        same_dims("the shape of an output's gradient", x.desc(), dy.desc())?;
        same_dims("the shape of an input's gradient", x.desc(), dx.desc())?;
        has_dims("the shape of a normalisation's weights", inner, weight.desc())?;
        has_dims("the shape of the weights' gradient", inner, dw.desc())?;
        has_dims("the shape of a normalisation's statistics", outer, rstd.desc())?;
        is_packed("an output's gradient", dy.desc())?;
        is_packed("a normalisation's input", x.desc())?;
        is_packed("a normalisation's weights", weight.desc())?;
        is_packed("a normalisation's statistics", rstd.desc())?;
        is_packed("an input's gradient", dx.desc())?;
        is_packed("the weights' gradient", dw.desc())?;
        let (dy_desc, x_desc, w_desc) = (dy.desc().on(self)?, x.desc().on(self)?, weight.desc().on(self)?);
        let (rstd_desc, dx_desc, dw_desc) = (rstd.desc().on(self)?, dx.desc().on(self)?, dw.desc().on(self)?);
        let mode = miopenNormMode_t::MIOPEN_WEIGHT_BIAS_T5;
        let bytes = self.call("the workspace of a normalisation", |m, h| {
            // SAFETY: S1: handle and descriptors are live, and the out-pointer too.
            convert::out(|bytes| unsafe {
                raw::get_t5_layer_norm_backward_workspace_size(
                    m, h, mode, dy_desc, x_desc, w_desc, rstd_desc, dx_desc, dw_desc, bytes,
                )
            })
        })?;
        let mut scratch = Scratch::new(self, bytes)?;
        let mut work = Work::new(self, "the gradient of a root-mean-square normalisation");
        let (dy, x, w, rstd) = (work.read(dy), work.read(x), work.read(weight), work.read(rstd));
        let (dx, dw, space) = (work.write(dx), work.write(dw), work.scratch(&mut scratch));
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named; the workspace has the bytes asked for.
        work.run(|m, h| unsafe {
            raw::t5_layer_norm_backward(
                m, h, mode, space, bytes, dy_desc, dy, x_desc, x, w_desc, w, rstd_desc, rstd, dx_desc, dx,
                dw_desc, dw,
            )
        })
    }
}

fn split_last(x: &TensorDesc) -> Result<(&[usize], &[usize])> {
    let dims = x.dims();
    if dims.len() < 2 {
        return Err(Error::invalid(
            "the dimensions of a normalisation's input",
            dims.len(),
            "it has to be at least 2",
        ));
    }
    Ok(dims.split_at(dims.len() - 1))
}

/// The descriptor of weights and biases, which the library needs even if there are none.
fn check_affine<T: Element>(
    handle: &Handle,
    dims: &[usize],
    affine: Affine<'_, '_, T>,
) -> Result<TensorDesc> {
    let Some((weight, bias)) = affine else { return TensorDesc::packed::<T>(handle, dims) };
    has_dims("the shape of a normalisation's weights", dims, weight.desc())?;
    has_dims("the shape of a normalisation's biases", dims, bias.desc())?;
    is_packed("a normalisation's weights", weight.desc())?;
    is_packed("a normalisation's biases", bias.desc())?;
    Ok(weight.desc().clone())
}

fn check_statistics<T: Element>(dims: &[usize], statistics: &NormStatistics<'_, T>) -> Result<()> {
    has_dims("the shape of a normalisation's means", dims, statistics.mean.desc())?;
    has_dims("the shape of a normalisation's deviations", dims, statistics.rstd.desc())?;
    is_packed("a normalisation's means", statistics.mean.desc())?;
    is_packed("a normalisation's deviations", statistics.rstd.desc())
}
