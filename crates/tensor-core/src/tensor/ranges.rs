//! Numbers at equal distances.

use super::Tensor;
use crate::cpu;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::scalar::Scalar;
use crate::shape::Shape;

impl Tensor {
    /// `count` numbers at equal distances from `start` to `end`, both included: a tensor of rank 1. Element `i` is
    /// `start + (i·(end − start))/(count − 1)`, computed in `f64` and then rounded once; the last one is `end`, and a single one
    /// `start`.
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
        let (first, last) = (start.to_scalar().to_f64(), end.to_scalar().to_f64());
        if !first.is_finite() || !last.is_finite() {
            let what = format!("from {first} to {last} is no range: both ends must be finite");
            return Err(Error::new("linspace", ErrorKind::Argument { what }).on(device));
        }
        let intervals = count.saturating_sub(1);
        let distance = last - first;
        let number = |i: usize| {
            let sum = first + i as f64 * distance / intervals as f64;
            // The distance may be infinite although both ends are finite.
            let share = i as f64 / intervals as f64;
            if sum.is_finite() { sum } else { first * (1.0 - share) + last * share }
        };
        let mut elements = cpu::zeros::<T>(count, "linspace")?;
        for (i, slot) in elements.iter_mut().enumerate() {
            *slot = match i {
                0 => start,
                _ if i == intervals => end,
                _ => T::from_scalar(Scalar::Float(number(i))),
            };
        }
        Tensor::from_elements(T::store(elements), Shape::from(count), device, "linspace")
    }
}
