//! Softmax, forward and backward.

use crate::convert::host;
use crate::raw::activation as raw;
use crate::tensor::same_dims;
use crate::work::Work;
use crate::{Blend, Element, Handle, Result, Tensor, TensorMut};
use hip_sys::miopen::{miopenSoftmaxAlgorithm_t, miopenSoftmaxMode_t};

crate::convert::c_enum! {
    /// How the powers are computed.
    SoftmaxAlgorithm = miopenSoftmaxAlgorithm_t {
        /// As they are: a large element overflows.
        Fast = miopenSoftmaxAlgorithm_t::MIOPEN_SOFTMAX_FAST,
        /// Of the differences to the greatest element.
        Accurate = miopenSoftmaxAlgorithm_t::MIOPEN_SOFTMAX_ACCURATE,
        /// The logarithm of the result.
        Log = miopenSoftmaxAlgorithm_t::MIOPEN_SOFTMAX_LOG,
    }
}

crate::convert::c_enum! {
    /// Which elements add up to 1, of `[n, c, h, w]`.
    SoftmaxMode = miopenSoftmaxMode_t {
        /// All of one `n`.
        Instance = miopenSoftmaxMode_t::MIOPEN_SOFTMAX_MODE_INSTANCE,
        /// The channels of one place.
        Channel = miopenSoftmaxMode_t::MIOPEN_SOFTMAX_MODE_CHANNEL,
    }
}

impl Handle {
    /// `y ←` the softmax of `x` `[n, c, h, w]`, or its logarithm.
    ///
    /// # Errors
    /// [`Error::Mismatch`](crate::Error::Mismatch) for different shapes; what memory, stream or library answer.
    #[doc(alias = "miopenSoftmaxForward_V2")]
    pub fn softmax_forward<T: Element>(
        &self,
        algorithm: SoftmaxAlgorithm,
        mode: SoftmaxMode,
        blend: Blend,
        x: &Tensor<'_, T>,
        y: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        same_dims("the shape of a softmax' output", x.desc(), y.desc())?;
        let (x_desc, y_desc) = (x.desc().on(self)?, y.desc().on(self)?);
        let mut work = Work::new(self, "a softmax");
        let (x, y) = (work.read(x), work.write(y));
        let (alpha, beta) = (host(&blend.alpha), host(&blend.beta));
        let (algorithm, mode) = (algorithm.raw(), mode.raw());
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named.
        work.run(|m, h| unsafe {
            raw::softmax_forward_v2(m, h, alpha, x_desc, x, beta, y_desc, y, algorithm, mode)
        })
    }

    /// The gradient `dx` of a softmax' input, from its output and the output's gradient.
    ///
    /// # Errors
    /// As [`Handle::softmax_forward`].
    #[doc(alias = "miopenSoftmaxBackward_V2")]
    pub fn softmax_backward<T: Element>(
        &self,
        algorithm: SoftmaxAlgorithm,
        mode: SoftmaxMode,
        blend: Blend,
        y: &Tensor<'_, T>,
        dy: &Tensor<'_, T>,
        dx: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        same_dims("the shape of an output's gradient", y.desc(), dy.desc())?;
        same_dims("the shape of an input's gradient", y.desc(), dx.desc())?;
        let (y_desc, dy_desc, dx_desc) = (y.desc().on(self)?, dy.desc().on(self)?, dx.desc().on(self)?);
        let mut work = Work::new(self, "the gradient of a softmax");
        let (y, dy, dx) = (work.read(y), work.read(dy), work.write(dx));
        let (alpha, beta) = (host(&blend.alpha), host(&blend.beta));
        let (algorithm, mode) = (algorithm.raw(), mode.raw());
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named.
        work.run(|m, h| unsafe {
            raw::softmax_backward_v2(m, h, alpha, y_desc, y, dy_desc, dy, beta, dx_desc, dx, algorithm, mode)
        })
    }
}
