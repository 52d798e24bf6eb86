//! The bias of convolutions.

use crate::convert::host;
use crate::raw::convolution as raw;
use crate::tensor::has_dims;
use crate::work::Work;
use crate::{Blend, Element, Handle, Result, Tensor, TensorDesc, TensorMut};

/// The shape of a bias for outputs of this one: `[1, c, 1, …]`.
fn bias_dims(output: &TensorDesc) -> Vec<usize> {
    let mut dims = vec![1; output.dims().len()];
    if let (Some(of), Some(channels)) = (dims.get_mut(1), output.dims().get(1)) {
        *of = *channels;
    }
    dims
}

impl Handle {
    /// `y ← y + b`: adds the bias `b` `[1, c, 1, …]` to every place of `y` `[n, c, …]`.
    ///
    /// # Errors
    /// [`Error::Mismatch`](crate::Error::Mismatch) for shapes that do not fit; what memory, stream or library answer. MIOpen has no
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
