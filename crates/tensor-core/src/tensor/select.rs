//! Selecting elements: by a mask, by position in the last two axes, or in reverse order.

use super::Tensor;
use crate::axis::Axes;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{ErrorKind, On, Result};
use crate::scalar::Scalar;
use crate::storage::by_device;

/// The remedy for a mask of another dtype.
const COMPARE_FIRST: &str = "a mask is u8, u32 or i64: compare it with zero (ne), which gives u8";

/// Selecting by a mask.
impl Tensor {
    /// The element of `on_true` where this mask is not zero, else that of `on_false`. The mask is `u8`, `u32` or `i64`.
    /// The other two have the same dtype, and all three broadcast together.
    ///
    /// Writes the result once, and reads all three inputs once, in place.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::new([[1f32, -2.0], [-3.0, 4.0]], &Device::Cpu)?;
    /// let positive = x.gt(&x.zeros_like()?)?;
    /// let chosen = positive.where_cond(&x, &Tensor::new(0.5f32, &Device::Cpu)?)?;
    /// assert_eq!(chosen.to_vec2::<f32>()?, [[1.0, 0.5], [0.5, 4.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedDType`] for another mask, [`ErrorKind::Broadcast`], [`ErrorKind::DTypeMismatch`],
    /// [`ErrorKind::DeviceMismatch`], or an error of the device.
    #[doc(alias = "where")]
    pub fn where_cond(&self, on_true: &Tensor, on_false: &Tensor) -> Result<Tensor> {
        self.choose(on_true, on_false, "where_cond")
    }

    /// The tensor with `value`, rounded to its dtype, wherever `mask` is not zero. The mask is `u8`, `u32` or `i64` and
    /// broadcasts to the tensor's shape.
    ///
    /// Writes the result once, and reads tensor and mask once, in place.
    ///
    /// # Errors
    /// [`ErrorKind::Expand`] if the mask does not broadcast to the tensor's shape, else as [`Tensor::where_cond`].
    pub fn masked_fill(&self, mask: &Tensor, value: impl Into<Scalar>) -> Result<Tensor> {
        let device = self.device();
        mask.require_same_device(self, "masked_fill")?;
        let mask = mask.with_layout(mask.layout.expand(self.shape(), "masked_fill").on(&device)?)?;
        let value = Tensor::full(value, (), self.dtype(), &device)?;
        mask.choose(&value, self, "masked_fill")
    }

    fn choose(&self, on_true: &Tensor, on_false: &Tensor, operation: &'static str) -> Result<Tensor> {
        on_true.require_alike(on_false, operation)?;
        self.require_same_device(on_true, operation)?;
        let is_mask = matches!(self.dtype(), DType::U8 | DType::U32 | DType::I64);
        self.require(operation, is_mask, COMPARE_FIRST)?;
        let apart = |lhs: &Tensor, rhs: &Tensor| {
            let kind = ErrorKind::Broadcast { lhs: lhs.shape().clone(), rhs: rhs.shape().clone() };
            self.error(operation, kind)
        };
        let pair = on_true.shape().broadcast(on_false.shape()).ok_or_else(|| apart(on_true, on_false))?;
        let shape = self.shape().broadcast(&pair).ok_or_else(|| {
            let fits = self.shape().broadcast(on_true.shape()).is_some();
            apart(self, if fits { on_false } else { on_true })
        })?;
        let expand = |tensor: &Tensor| tensor.layout.expand(&shape, operation).on(self);
        let (layout, a, b) = (expand(self)?, expand(on_true)?, expand(on_false)?);
        let storage = by_device!(
            select::where_cond((mask, &layout), (x, &a), (y, &b)),
            mask = self.storage(),
            x = on_true.storage(),
            y = on_false.storage()
        );
        Tensor::tight(storage.on(self)?, shape, operation)
    }
}

/// Selecting by position.
impl Tensor {
    /// The elements in reverse order along `axes`. Moves the tensor once.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`] or [`ErrorKind::RepeatedAxis`], or an error of the device.
    pub fn flip(&self, axes: impl Axes) -> Result<Tensor> {
        let axes = axes.resolve_all(self.shape(), "flip").on(self)?;
        let storage = by_device!(select::flip(x, &self.layout, &axes), x = self.storage()).on(self)?;
        Tensor::tight(storage, self.shape().clone(), "flip")
    }

    /// The lower triangles of the matrices in the last two axes. Elements whose column − row is at most `diagonal` are
    /// kept, the others become 0. `diagonal` 0 is the main diagonal, 1 the one above it. Moves the tensor once.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] below rank 2, or an error of the device.
    pub fn tril(&self, diagonal: i64) -> Result<Tensor> {
        self.triangle(diagonal, false, "tril")
    }

    /// The upper triangles of the matrices in the last two axes. Elements whose column − row is at least `diagonal` are
    /// kept, the others become 0. Moves the tensor once.
    ///
    /// # Errors
    /// As [`Tensor::tril`].
    pub fn triu(&self, diagonal: i64) -> Result<Tensor> {
        self.triangle(diagonal, true, "triu")
    }

    /// A square matrix of ones on and below the main diagonal, and zeros above.
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    pub fn tril2(size: usize, dtype: DType, device: &Device) -> Result<Tensor> {
        Tensor::ones((), dtype, device)?.expand([size, size])?.triangle(0, false, "tril2")
    }

    /// A square matrix of ones on and above the main diagonal, and zeros below.
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    pub fn triu2(size: usize, dtype: DType, device: &Device) -> Result<Tensor> {
        Tensor::ones((), dtype, device)?.expand([size, size])?.triangle(0, true, "triu2")
    }

    fn triangle(&self, diagonal: i64, upper: bool, operation: &'static str) -> Result<Tensor> {
        if self.rank() < 2 {
            let kind = ErrorKind::Rank { shape: self.shape().clone(), expected: "at least 2" };
            return Err(self.error(operation, kind));
        }
        let storage =
            by_device!(select::triangle(x, &self.layout, diagonal, upper), x = self.storage()).on(self)?;
        Tensor::tight(storage, self.shape().clone(), operation)
    }
}
