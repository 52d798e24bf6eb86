//! Activations, forward and backward.

use crate::convert::host;
use crate::raw::activation as raw;
use crate::tensor::{is_packed, same_dims};
use crate::work::Work;
use crate::{ActivationDesc, Blend, Element, Handle, Result, Tensor, TensorMut};

impl Handle {
    /// `y ←` the activation of each element of `x`. Both are contiguous: MIOpen's kernels ignore some strides, depending on the
    /// shape.
    ///
    /// # Errors
    /// [`Error::Mismatch`](crate::Error::Mismatch) for different shapes, or gaps between elements; the error of memory, stream or library. MIOpen supports only
    /// [`Blend::SET`].
    #[doc(alias = "miopenActivationForward")]
    pub fn activation_forward<T: Element>(
        &self,
        activation: &ActivationDesc,
        blend: Blend,
        x: &Tensor<'_, T>,
        y: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        same_dims("the shape of an activation's output", x.desc(), y.desc())?;
        is_packed("an activation's input", x.desc())?;
        is_packed("an activation's output", y.desc())?;
        let (desc, x_desc, y_desc) = (activation.on(self)?, x.desc().on(self)?, y.desc().on(self)?);
        let mut work = Work::new(self, "an activation");
        let (x, y) = (work.read(x), work.write(y));
        let (alpha, beta) = (host(&blend.alpha), host(&blend.beta));
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named.
        work.run(|m, h| unsafe { raw::activation_forward(m, h, desc, alpha, x_desc, x, beta, y_desc, y) })
    }

    /// The gradient `dx` of an activation's input, from its output, the output's gradient and its input.
    ///
    /// # Errors
    /// As [`Handle::activation_forward`].
    #[doc(alias = "miopenActivationBackward")]
    pub fn activation_backward<T: Element>(
        &self,
        activation: &ActivationDesc,
        blend: Blend,
        y: &Tensor<'_, T>,
        dy: &Tensor<'_, T>,
        x: &Tensor<'_, T>,
        dx: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        same_dims("the shape of an activation's output", x.desc(), y.desc())?;
        same_dims("the shape of an output's gradient", x.desc(), dy.desc())?;
        same_dims("the shape of an input's gradient", x.desc(), dx.desc())?;
        is_packed("an activation's input", x.desc())?;
        is_packed("an activation's output", y.desc())?;
        is_packed("an output's gradient", dy.desc())?;
        is_packed("an input's gradient", dx.desc())?;
        let desc = activation.on(self)?;
        let (y_desc, dy_desc) = (y.desc().on(self)?, dy.desc().on(self)?);
        let (x_desc, dx_desc) = (x.desc().on(self)?, dx.desc().on(self)?);
        let mut work = Work::new(self, "the gradient of an activation");
        let (y, dy, x, dx) = (work.read(y), work.read(dy), work.read(x), work.write(dx));
        let (alpha, beta) = (host(&blend.alpha), host(&blend.beta));
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named.
        work.run(|m, h| unsafe {
            raw::activation_backward(m, h, desc, alpha, y_desc, y, dy_desc, dy, x_desc, x, beta, dx_desc, dx)
        })
    }
}
