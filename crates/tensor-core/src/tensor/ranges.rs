//! Evenly spaced numbers.

use super::Tensor;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, ErrorKind, On, Result};
use crate::scalar::Scalar;
use crate::shape::Shape;
use crate::storage::new_on;

impl Tensor {
    /// `count` evenly spaced numbers from `start` to `end`, inclusive: a tensor of rank 1. Element `i` is
    /// `start + (i·(end − start))/(count − 1)`, computed in `f64` and rounded once. The last element is exactly `end`;
    /// a single one is `start`. Moves the bytes of the result.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::linspace(0f32, 1.0, 5, &Device::Cpu)?;
    /// assert_eq!(x.to_vec1::<f32>()?, [0.0, 0.25, 0.5, 0.75, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if an end is not finite, and the errors of [`Tensor::zeros`].
    pub fn linspace<T: Element>(start: T, end: T, count: usize, device: &Device) -> Result<Tensor> {
        let ends = [start.to_scalar(), end.to_scalar()];
        let [first, last] = ends.map(Scalar::to_f64);
        if !first.is_finite() || !last.is_finite() {
            let what = format!("from {first} to {last} is no range: both ends must be finite");
            return Err(Error::new("linspace", ErrorKind::Argument { what }).on(device));
        }
        let storage = new_on!(device, range::linspace(T::DTYPE, count, ends)).on(device)?;
        Tensor::tight(storage, Shape::from(count), "linspace")
    }
}
