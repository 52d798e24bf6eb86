//! Matrix products.

use std::borrow::Cow;

use super::{CAST_TO_FLOAT, Tensor};
use crate::error::{ErrorKind, On, Result};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::storage::by_device;

impl Tensor {
    /// The matrix product over the last two axes. The axes before them are a batch and broadcast. Floats only.
    ///
    /// As in PyTorch, a tensor of rank 1 counts as a row on the left and as a column on the right, and that axis is
    /// dropped from the result. Types of 16 and 8 bits are accumulated in `f32` and rounded once. Strided operands are
    /// read in place.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let a = Tensor::new([[1f32, 2.0], [3.0, 4.0]], &Device::Cpu)?;
    /// let b = Tensor::new([[5f32], [6.0]], &Device::Cpu)?;
    /// assert_eq!(a.matmul(&b)?.to_vec2::<f32>()?, [[17.0], [39.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InnerDimensions`], [`ErrorKind::Broadcast`] of the batch axes, [`ErrorKind::Rank`] for a scalar,
    /// [`ErrorKind::DTypeMismatch`], [`ErrorKind::DeviceMismatch`], [`ErrorKind::UnsupportedDType`] for integers, or an
    /// error of the device.
    pub fn matmul(&self, other: &Tensor) -> Result<Tensor> {
        self.require_alike(other, "matmul")?;
        self.require("matmul", self.dtype().is_float(), CAST_TO_FLOAT)?;
        for tensor in [self, other] {
            if tensor.rank() == 0 {
                let kind = ErrorKind::Rank { shape: tensor.shape().clone(), expected: "at least 1" };
                return Err(self.error("matmul", kind));
            }
        }
        let (row, column) = (self.rank() == 1, other.rank() == 1);
        let lhs = if row { Cow::Owned(self.layout.unsqueeze(0)) } else { Cow::Borrowed(&self.layout) };
        let rhs = if column { Cow::Owned(other.layout.unsqueeze(1)) } else { Cow::Borrowed(&other.layout) };
        let (m, k) = last_two(&lhs);
        let (k2, n) = last_two(&rhs);
        if k != k2 {
            let kind = ErrorKind::InnerDimensions { lhs: self.shape().clone(), rhs: other.shape().clone() };
            return Err(self.error("matmul", kind));
        }
        let Some(batch) = batch_of(&lhs).broadcast(&batch_of(&rhs)) else {
            let kind = ErrorKind::Broadcast { lhs: self.shape().clone(), rhs: other.shape().clone() };
            return Err(self.error("matmul", kind));
        };
        let shape = with_matrix(&batch, (!row).then_some(m), (!column).then_some(n));
        if shape.elements("matmul").on(self)? == 0 {
            // The expanded operands may be too large to count.
            return Tensor::zeros(shape, self.dtype(), &self.device());
        }
        let lhs = of_batch(lhs, &batch).on(self)?;
        let rhs = of_batch(rhs, &batch).on(self)?;
        let storage =
            by_device!(matmul::matmul(a, &lhs, b, &rhs), a = self.storage(), b = other.storage()).on(self)?;
        Tensor::tight(storage, shape, "matmul")
    }
}

/// Rows and columns of a layout of rank 2 or more.
fn last_two(layout: &Layout) -> (usize, usize) {
    let dims = layout.dims();
    (dims[dims.len() - 2], dims[dims.len() - 1])
}

/// The dimensions before the matrix.
fn batch_of(layout: &Layout) -> Shape {
    Shape::from(&layout.dims()[..layout.rank() - 2])
}

/// The layout with this batch, whose dimensions are often its own.
fn of_batch<'a>(layout: Cow<'a, Layout>, batch: &Shape) -> Result<Cow<'a, Layout>> {
    if layout.dims()[..layout.rank() - 2] == **batch {
        return Ok(layout);
    }
    let (rows, columns) = last_two(&layout);
    layout.expand(&with_matrix(batch, Some(rows), Some(columns)), "matmul").map(Cow::Owned)
}

/// `batch`, followed by the rows and columns that are given.
fn with_matrix(batch: &Shape, rows: Option<usize>, columns: Option<usize>) -> Shape {
    batch.iter().copied().chain(rows).chain(columns).collect()
}
