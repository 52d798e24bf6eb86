//! Moves between channels and the pixels of a plane.

use super::Tensor;
use crate::error::{ErrorKind, Result};

/// Moves between channels and the pixels of a plane, as in PyTorch. The tensor is `[batch, channels, height, width]` of any
/// dtype, and is moved once.
impl Tensor {
    /// `[b, c·f², h, w]` as `[b, c, h·f, w·f]`, for the factor f: the f² channels of each result's channel become squares of
    /// f × f pixels.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::arange(0f32, 4.0, &Device::Cpu)?.reshape((1, 4, 1, 1))?;
    /// assert_eq!(x.pixel_shuffle(2)?.reshape((2, 2))?.to_vec2::<f32>()?, [[0.0, 1.0], [2.0, 3.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] unless there are four axes, [`ErrorKind::Argument`] if f² does not divide the channels,
    /// [`ErrorKind::OutOfMemory`], or an error of the device.
    pub fn pixel_shuffle(&self, factor: usize) -> Result<Tensor> {
        let name = "pixel_shuffle";
        self.require_rank(name, 4, "4")?;
        let (b, c, h, w) = self.dims4()?;
        let square = factor.checked_mul(factor);
        let Some(out) = square.filter(|square| *square > 0 && c % square == 0).map(|square| c / square)
        else {
            let what = format!("{factor} × {factor} does not divide the {c} channels of {}", self.shape());
            return Err(self.error(name, ErrorKind::Argument { what }));
        };
        // Each product is at most the number of elements, unless another length is 0.
        self.reshape([b, out, factor, factor, h, w])?.permute([0, 1, 4, 2, 5, 3])?.reshape([
            b,
            out,
            h.saturating_mul(factor),
            w.saturating_mul(factor),
        ])
    }

    /// `[b, c, h·f, w·f]` as `[b, c·f², h, w]`, for the factor f: the inverse of [`Tensor::pixel_shuffle`].
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] unless there are four axes, [`ErrorKind::Argument`] if f does not divide height and width,
    /// [`ErrorKind::OutOfMemory`], or an error of the device.
    pub fn pixel_unshuffle(&self, factor: usize) -> Result<Tensor> {
        let name = "pixel_unshuffle";
        self.require_rank(name, 4, "4")?;
        let (b, c, h, w) = self.dims4()?;
        if factor == 0 || h % factor != 0 || w % factor != 0 {
            let what = format!("{factor} does not divide the height and width of {}", self.shape());
            return Err(self.error(name, ErrorKind::Argument { what }));
        }
        let (h, w) = (h / factor, w / factor);
        let channels = c.saturating_mul(factor).saturating_mul(factor);
        self.reshape([b, c, h, factor, w, factor])?.permute([0, 1, 3, 5, 2, 4])?.reshape([b, channels, h, w])
    }
}
