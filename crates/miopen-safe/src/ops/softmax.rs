//! Softmax, forward and backward.

use crate::convert::host;
use crate::raw::activation as raw;
use crate::tensor::{is_packed, same_dims};
use crate::work::Work;
use crate::{Blend, Element, Error, Handle, Result, Tensor, TensorDesc, TensorMut};
use hip_sys::miopen::{miopenSoftmaxAlgorithm_t, miopenSoftmaxMode_t};

crate::convert::c_enum! {
    /// How softmax is computed.
    SoftmaxAlgorithm = miopenSoftmaxAlgorithm_t {
        /// By its formula: a large element overflows.
        Fast = miopenSoftmaxAlgorithm_t::MIOPEN_SOFTMAX_FAST,
        /// With the greatest element subtracted first.
        Accurate = miopenSoftmaxAlgorithm_t::MIOPEN_SOFTMAX_ACCURATE,
        /// The logarithm of the softmax.
        Log = miopenSoftmaxAlgorithm_t::MIOPEN_SOFTMAX_LOG,
    }
}

crate::convert::c_enum! {
    /// The elements that sum to 1, of `[n, c, h, w]`.
    SoftmaxMode = miopenSoftmaxMode_t {
        /// All of one `n`.
        Instance = miopenSoftmaxMode_t::MIOPEN_SOFTMAX_MODE_INSTANCE,
        /// The channels of one position.
        Channel = miopenSoftmaxMode_t::MIOPEN_SOFTMAX_MODE_CHANNEL,
    }
}

impl Handle {
    /// `y ←` the softmax of `x` `[n, c, h, w]`, or its logarithm. Both are contiguous: MIOpen's kernels ignore the last stride, and treat other
    /// orders of the dimensions as this one.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for different shapes, other than four dimensions, or gaps between elements; [`Error::Invalid`] for several sums
    /// of more elements than 24 bits count, or more sums than that; the error of memory, stream or library.
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
        check("a softmax' input", mode, x.desc())?;
        check("a softmax' output", mode, y.desc())?;
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
        check("a softmax' output", mode, y.desc())?;
        check("an output's gradient", mode, dy.desc())?;
        check("an input's gradient", mode, dx.desc())?;
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

fn check(what: &'static str, mode: SoftmaxMode, desc: &TensorDesc) -> Result<()> {
    is_packed(what, desc)?;
    let [n, channels, height, width] = *desc.dims() else {
        return Err(Error::mismatch("the dimensions of a softmax", 4, desc.dims().len()));
    };
    let summed = match mode {
        SoftmaxMode::Instance => channels * height * width,
        SoftmaxMode::Channel => channels,
    };
    check_24_bits(n, summed)
}

/// MIOpen's kernels multiply the index of an image by the length of a sum as signed 24-bit numbers.
pub(super) fn check_24_bits(images: usize, summed: usize) -> Result<()> {
    const LIMIT: usize = 1 << 23;
    if images <= 1 || (images <= LIMIT && summed < LIMIT) {
        return Ok(());
    }
    Err(Error::invalid(
        "the number of a softmax' images, and the elements of a sum",
        (images, summed),
        "MIOpen multiplies them in 24 bits: at most 8388608 and 8388607, unless there is one image. Work on smaller parts",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_counted_in_24_bits() {
        assert!(check_24_bits(1, 1 << 30).is_ok());
        assert!(check_24_bits(1 << 23, 100).is_ok());
        assert!(check_24_bits(100, (1 << 23) - 1).is_ok());
        assert!(matches!(check_24_bits(2, 1 << 23), Err(Error::Invalid { .. })));
        assert!(matches!(check_24_bits((1 << 23) + 1, 2), Err(Error::Invalid { .. })));
    }
}
