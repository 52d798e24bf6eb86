//! The lengths of the dimensions as numbers and tuples.

use super::Tensor;
use crate::axis::Axis;
use crate::error::{ErrorKind, On, Result};

impl Tensor {
    /// The length of `axis`.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`].
    pub fn dim(&self, axis: impl Axis) -> Result<usize> {
        Ok(self.dims()[axis.resolve(self.shape(), "dim").on(self)?])
    }

    /// The length of a tensor of rank 1.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for another rank.
    pub fn dims1(&self) -> Result<usize> {
        let [a] = self.lengths("dims1", "1")?;
        Ok(a)
    }

    /// The lengths of a tensor of rank 2.
    ///
    /// ```
    /// use tensor_core::{DType, Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let (rows, columns) = Tensor::zeros((2, 3), DType::F32, &Device::Cpu)?.dims2()?;
    /// assert_eq!((rows, columns), (2, 3));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for another rank.
    pub fn dims2(&self) -> Result<(usize, usize)> {
        self.lengths::<2>("dims2", "2").map(Into::into)
    }

    /// The lengths of a tensor of rank 3.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for another rank.
    pub fn dims3(&self) -> Result<(usize, usize, usize)> {
        self.lengths::<3>("dims3", "3").map(Into::into)
    }

    /// The lengths of a tensor of rank 4.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for another rank.
    pub fn dims4(&self) -> Result<(usize, usize, usize, usize)> {
        self.lengths::<4>("dims4", "4").map(Into::into)
    }

    /// The lengths of a tensor of rank 5.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for another rank.
    pub fn dims5(&self) -> Result<(usize, usize, usize, usize, usize)> {
        self.lengths::<5>("dims5", "5").map(Into::into)
    }

    /// The same as [`Tensor::elements`], under candle's name.
    pub fn elem_count(&self) -> usize {
        self.elements()
    }

    fn lengths<const N: usize>(&self, operation: &'static str, expected: &'static str) -> Result<[usize; N]> {
        let wrong = |_| self.error(operation, ErrorKind::Rank { shape: self.shape().clone(), expected });
        self.dims().try_into().map_err(wrong)
    }
}
