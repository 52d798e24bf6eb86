//! Running sums and products.

use super::Tensor;
use crate::axis::Axis;
use crate::error::{On, Result};
use crate::storage::scan::ScanOp;

/// Running sums and products along an axis, of the shape and dtype of the tensor.
///
/// Types of 16 and 8 bits are added up in `f32`, and each element is rounded once. Integers wrap. Sums are kept on
/// several levels, so that no chain of additions is long; how terms are grouped may differ between devices.
impl Tensor {
    /// The sum of each element and all before it along `axis`.
    ///
    /// Reads the tensor once and writes it once; on a GPU it reads lines longer than 8192 elements twice if there are
    /// few, and copies before and after where the axis is not the last and few lines lie side by side.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::new([[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]], &Device::Cpu)?;
    /// assert_eq!(x.cumsum(1)?.to_vec2::<f32>()?, [[1.0, 3.0, 6.0], [4.0, 9.0, 15.0]]);
    /// assert_eq!(x.cumsum(0)?.to_vec2::<f32>()?, [[1.0, 2.0, 3.0], [5.0, 7.0, 9.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Axis`](crate::ErrorKind::Axis), or an error of the device.
    pub fn cumsum(&self, axis: impl Axis) -> Result<Tensor> {
        self.scan(axis, ScanOp::Sum)
    }

    /// The product of each element and all before it along `axis`.
    ///
    /// # Errors
    /// As [`Tensor::cumsum`].
    pub fn cumprod(&self, axis: impl Axis) -> Result<Tensor> {
        self.scan(axis, ScanOp::Prod)
    }

    fn scan(&self, axis: impl Axis, op: ScanOp) -> Result<Tensor> {
        let axis = axis.resolve(self.shape(), op.name()).on(self)?;
        let storage = self.storage.scan(&self.layout, op, axis).on(self)?;
        Tensor::tight(storage, self.shape().clone(), op.name())
    }
}
