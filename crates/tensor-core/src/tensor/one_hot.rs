//! Ids as rows with one element set.

use super::Tensor;
use crate::element::Element;
use crate::error::{On, Result};

impl Tensor {
    /// For each id a row of `depth` elements: `on` at the index that the id names, and `off` elsewhere. The ids are of any shape; the
    /// result has one axis more, the last.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let ids = Tensor::new([2u32, 0], &Device::Cpu)?;
    /// assert_eq!(ids.one_hot(3, 1f32, 0.0)?.to_vec2::<f32>()?, [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Tensor::scatter`] for ids: [`ErrorKind::IdOutOfRange`](crate::ErrorKind::IdOutOfRange) for an id that is
    /// negative, or `depth` or more.
    pub fn one_hot<T: Element>(&self, depth: usize, on: T, off: T) -> Result<Tensor> {
        let name = "one_hot";
        let (device, ids) = (self.device(), self.unsqueeze(-1)?);
        let mut shape = ids.shape().clone();
        let source = Tensor::full(on.to_scalar(), (), T::DTYPE, &device)?.expand(&shape)?;
        if let Some(last) = shape.dims_mut().last_mut() {
            *last = depth;
        }
        let mut out = Tensor::full(off.to_scalar(), shape, T::DTYPE, &device)?;
        out.scattered(&ids, &source, -1, name, false).on(self)?;
        Ok(out)
    }
}
