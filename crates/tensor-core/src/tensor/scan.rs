//! Cumulative sums and products.

use super::Tensor;
use crate::axis::Axis;
use crate::error::{On, Result};
use crate::plan::scan::ScanOp;
use crate::storage::by_device;

/// Cumulative sums and products along an axis, with the shape and dtype of the tensor.
///
/// Types of 16 and 8 bits are accumulated in `f32`, and each element is rounded once. Integers wrap. Sums are
/// hierarchical, which keeps chains of additions short. The grouping of terms may differ between devices.
impl Tensor {
    /// The sum of all elements along `axis` up to each one, inclusive.
    ///
    /// Reads and writes the tensor once. A GPU reads lines longer than 8192 elements twice if there are few lines. It
    /// copies before and after if the axis is not the last one and few lines are adjacent.
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

    /// The product of all elements along `axis` up to each one, inclusive.
    ///
    /// # Errors
    /// As [`Tensor::cumsum`].
    pub fn cumprod(&self, axis: impl Axis) -> Result<Tensor> {
        self.scan(axis, ScanOp::Prod)
    }

    fn scan(&self, axis: impl Axis, op: ScanOp) -> Result<Tensor> {
        let axis = axis.resolve(self.shape(), op.name()).on(self)?;
        let storage = by_device!(scan::scan(x, &self.layout, op, axis), x = self.storage()).on(self)?;
        Tensor::tight(storage, self.shape().clone(), op.name())
    }
}
