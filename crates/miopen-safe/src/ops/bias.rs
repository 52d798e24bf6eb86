//! The bias of convolutions, alone and fused.

use crate::convert::host;
use crate::raw::convolution as raw;
use crate::tensor::has_dims;
use crate::work::Work;
use crate::{ActivationDesc, Blend, ConvolutionDesc, Element, Handle, Result, Tensor, TensorDesc, TensorMut};
use hip_sys::miopen::miopenConvFwdAlgorithm_t;
use std::ptr::null_mut;

/// The shape of a bias for outputs of this shape: `[1, c, 1, …]`.
fn bias_dims(output: &TensorDesc) -> Vec<usize> {
    let mut dims = vec![1; output.dims().len()];
    if let (Some(of), Some(channels)) = (dims.get_mut(1), output.dims().get(1)) {
        *of = *channels;
    }
    dims
}

impl Handle {
    /// `y ← y + b`: adds the bias `b` `[1, c, 1, …]` to every position of `y` `[n, c, …]`.
    ///
    /// # Errors
    /// [`Error::Mismatch`](crate::Error::Mismatch) for shapes that do not match; the error of memory, stream or library. MIOpen has no
    /// bias of `bf16`.
    #[doc(alias = "miopenConvolutionForwardBias")]
    pub fn convolution_add_bias<T: Element>(
        &self,
        b: &Tensor<'_, T>,
        y: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        has_dims("the shape of a bias", &bias_dims(y.desc()), b.desc())?;
        let (b_desc, y_desc) = (b.desc().on(self)?, y.desc().on(self)?);
        let Blend { alpha, beta } = Blend::SET;
        let mut work = Work::new(self, "a bias");
        let (b, y) = (work.read(b), work.write(y));
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named.
        work.run(|m, h| unsafe {
            raw::convolution_forward_bias(m, h, host(&alpha), b_desc, b, host(&beta), y_desc, y)
        })
    }

    /// The gradient `db` `[1, c, 1, …]` of the bias: the sums of the output's gradient `dy` `[n, c, …]` over all but the channels.
    ///
    /// # Errors
    /// As [`Handle::convolution_add_bias`].
    #[doc(alias = "miopenConvolutionBackwardBias")]
    pub fn convolution_backward_bias<T: Element>(
        &self,
        dy: &Tensor<'_, T>,
        db: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        has_dims("the shape of a bias' gradient", &bias_dims(dy.desc()), db.desc())?;
        let (dy_desc, db_desc) = (dy.desc().on(self)?, db.desc().on(self)?);
        let Blend { alpha, beta } = Blend::SET;
        let mut work = Work::new(self, "the gradient of a bias");
        let (dy, db) = (work.read(dy), work.write(db));
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named.
        work.run(|m, h| unsafe {
            raw::convolution_backward_bias(m, h, host(&alpha), dy_desc, dy, host(&beta), db_desc, db)
        })
    }
}

/// The summands of a fused convolution.
#[derive(Debug, Clone, Copy)]
pub struct Addends<'a, T: Element> {
    /// A tensor of the output's shape.
    pub z: Tensor<'a, T>,
    /// A bias `[1, k, 1, …]`.
    pub bias: Tensor<'a, T>,
}

impl Handle {
    /// `y ← activation(w ∗ x + z + bias)` in one call: shapes as in [`Handle::convolution_forward`].
    ///
    /// # Errors
    /// [`Error::Mismatch`](crate::Error::Mismatch) for shapes that do not match; [`Error::Unsupported`](crate::Error::Unsupported) where the
    /// library has no such kernel, or no such function before ROCm 5.4; the error of memory, stream or library.
    #[doc(alias = "miopenConvolutionBiasActivationForward")]
    #[allow(clippy::too_many_arguments)]
    pub fn convolution_bias_activation<T: Element>(
        &self,
        convolution: &ConvolutionDesc,
        x: &Tensor<'_, T>,
        w: &Tensor<'_, T>,
        addends: &Addends<'_, T>,
        activation: &ActivationDesc,
        y: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        let dims = convolution.convolution().output_dims(x.desc().dims(), w.desc().dims())?;
        has_dims("the shape of a convolution's output", &dims, y.desc())?;
        has_dims("the shape of what is added to a convolution", &dims, addends.z.desc())?;
        has_dims("the shape of a bias", &bias_dims(y.desc()), addends.bias.desc())?;
        let (conv, act) = (convolution.on(self)?, activation.on(self)?);
        let (x_desc, w_desc, y_desc) = (x.desc().on(self)?, w.desc().on(self)?, y.desc().on(self)?);
        let (z_desc, b_desc) = (addends.z.desc().on(self)?, addends.bias.desc().on(self)?);
        let Blend { alpha, .. } = Blend::SET;
        let algorithm = miopenConvFwdAlgorithm_t::miopenConvolutionFwdAlgoImplicitGEMM;
        let mut work = Work::new(self, "a convolution with bias and activation");
        let (x, w, y) = (work.read(x), work.read(w), work.write(y));
        let (z, b) = (work.read(&addends.z), work.read(&addends.bias));
        let one = host(&alpha);
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named; it is told of no workspace.
        work.run(|m, h| unsafe {
            raw::convolution_bias_activation_forward(
                m,
                h,
                one,
                x_desc,
                x,
                w_desc,
                w,
                conv,
                algorithm,
                null_mut(),
                0,
                one,
                z_desc,
                z,
                b_desc,
                b,
                act,
                y_desc,
                y,
            )
        })
    }
}
