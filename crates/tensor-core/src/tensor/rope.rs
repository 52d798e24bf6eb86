//! Rotary position embeddings.

use super::{CAST_TO_FLOAT, Tensor};
use crate::error::{ErrorKind, On, Result};
use crate::layout::Layout;
use crate::plan::rope::Rope;
use crate::shape::Shape;
use crate::storage::by_device;

/// Rotary position embeddings. Pairs of numbers are rotated by an angle that depends on the position.
///
/// A pair (x, y) becomes (x·cos − y·sin, x·sin + y·cos). Each product and sum is rounded once in the compute type
/// (`f32` for types of 16 and 8 bits), then the result is rounded to the dtype, so that every device gives the same
/// bits. `cos` and `sin` have the tensor's dtype and shape `[t, d / 2]`, or `[b, t, d / 2]` with angles per batch. Of
/// longer tables the first t rows are used. Strided operands are read in place. Moves twice the tensor's bytes, and the
/// angles once per head.
impl Tensor {
    /// Rotates pairs of one number from the first half of the last axis and one from the second, as LLaMA's code does.
    /// The tensor is `[b, h, t, d]`.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::new([1f32, 2.0, 3.0, 4.0], &Device::Cpu)?.reshape([1, 1, 1, 4])?;
    /// let (cos, sin) = (Tensor::new([[0f32, 1.0]], &Device::Cpu)?, Tensor::new([[1f32, 0.0]], &Device::Cpu)?);
    /// // (1, 3) by a right angle, (2, 4) not at all.
    /// assert_eq!(x.rope(&cos, &sin)?.flatten()?.to_vec1::<f32>()?, [-3.0, 2.0, 1.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] unless the tensor has four axes and the angles two or three; [`ErrorKind::Argument`] if the
    /// last axis is odd, or the angles do not match; [`ErrorKind::DTypeMismatch`], [`ErrorKind::DeviceMismatch`],
    /// [`ErrorKind::UnsupportedDType`] for integers, or an error of the device.
    pub fn rope(&self, cos: &Tensor, sin: &Tensor) -> Result<Tensor> {
        self.turned(cos, sin, "rope", false, false)
    }

    /// Rotates pairs of neighbours along the last axis, as GPT-J's code does. The tensor is `[b, h, t, d]`.
    ///
    /// # Errors
    /// As [`Tensor::rope`].
    pub fn rope_i(&self, cos: &Tensor, sin: &Tensor) -> Result<Tensor> {
        self.turned(cos, sin, "rope_i", true, false)
    }

    /// As [`Tensor::rope`], for a tensor with axes `[b, t, h, d]`.
    ///
    /// # Errors
    /// As [`Tensor::rope`].
    pub fn rope_thd(&self, cos: &Tensor, sin: &Tensor) -> Result<Tensor> {
        self.turned(cos, sin, "rope_thd", false, true)
    }

    /// [`Tensor::rope`] of this tensor and of another one that differs at most in the number of heads: queries and keys. On a
    /// HIP device both are one launch.
    ///
    /// # Errors
    /// As [`Tensor::rope`].
    #[doc(alias = "rotary_embedding")]
    pub fn rope_pair(&self, other: &Tensor, cos: &Tensor, sin: &Tensor) -> Result<(Tensor, Tensor)> {
        self.both_turned(other, cos, sin, "rope_pair", false)
    }

    /// [`Tensor::rope_i`] of two tensors, as [`Tensor::rope_pair`].
    ///
    /// # Errors
    /// As [`Tensor::rope`].
    pub fn rope_i_pair(&self, other: &Tensor, cos: &Tensor, sin: &Tensor) -> Result<(Tensor, Tensor)> {
        self.both_turned(other, cos, sin, "rope_i_pair", true)
    }

    fn turned(
        &self,
        cos: &Tensor,
        sin: &Tensor,
        name: &'static str,
        interleaved: bool,
        time_first: bool,
    ) -> Result<Tensor> {
        let Some(rope) = self.rope_plan(cos, sin, name, interleaved, time_first)? else {
            return self.zeros_like();
        };
        let storage = by_device!(
            rope::rope(x, cos, sin, &rope),
            x = self.storage(),
            cos = cos.storage(),
            sin = sin.storage()
        );
        Tensor::tight(storage.on(self)?, self.shape().clone(), name)
    }

    fn both_turned(
        &self,
        other: &Tensor,
        cos: &Tensor,
        sin: &Tensor,
        name: &'static str,
        interleaved: bool,
    ) -> Result<(Tensor, Tensor)> {
        self.require_alike(other, name)?;
        let of = |x: &Tensor| x.rope_plan(cos, sin, name, interleaved, false);
        let plans = (of(self)?, of(other)?);
        // The angles of both are the same rows.
        if [0, 2, 3].iter().any(|axis| self.dims()[*axis] != other.dims()[*axis]) {
            let what = format!("{} and {} differ in more than heads", self.shape(), other.shape());
            return Err(self.error(name, ErrorKind::Argument { what }));
        }
        let (Some(own), Some(others)) = plans else {
            // One or both are empty, for which no kernel is launched.
            let alone = |x: &Tensor| x.turned(cos, sin, name, interleaved, false);
            return Ok((alone(self)?, alone(other)?));
        };
        let storages = by_device!(
            rope::rope_pair([x, y], cos, sin, [&own, &others]),
            x = self.storage(),
            y = other.storage(),
            cos = cos.storage(),
            sin = sin.storage()
        );
        let (own, others) = storages.on(self)?;
        let alike = |storage, of: &Tensor| Tensor::tight(storage, of.shape().clone(), name);
        Ok((alike(own, self)?, alike(others, other)?))
    }

    /// What the devices need to know; `None` if there is nothing to rotate.
    pub(crate) fn rope_plan(
        &self,
        cos: &Tensor,
        sin: &Tensor,
        name: &'static str,
        interleaved: bool,
        time_first: bool,
    ) -> Result<Option<Rope>> {
        self.require_alike(cos, name)?;
        self.require_alike(sin, name)?;
        self.require(name, self.dtype().is_float(), CAST_TO_FLOAT)?;
        if self.rank() != 4 {
            return Err(self.error(name, ErrorKind::Rank { shape: self.shape().clone(), expected: "4" }));
        }
        let x = if time_first { self.layout.transpose(1, 2) } else { self.layout.clone() };
        let &[batch, _, times, d] = x.dims() else { unreachable!("the rank is 4") };
        if d % 2 != 0 {
            let what = format!("the last axis of {} is odd, and pairs are turned", self.shape());
            return Err(self.error(name, ErrorKind::Argument { what }));
        }
        let angles = |table: &Tensor, which: &str| -> Result<Layout> {
            let mut layout = table.layout.clone();
            match table.rank() {
                2 => layout = layout.unsqueeze(0),
                3 => {}
                _ => {
                    let kind = ErrorKind::Rank { shape: table.shape().clone(), expected: "2 or 3" };
                    return Err(self.error(name, kind));
                }
            }
            let &[batches, rows, pairs] = layout.dims() else { unreachable!("the rank is 3") };
            if pairs != d / 2 || rows < times || (table.rank() == 3 && batches != batch) {
                let what = format!(
                    "{which} {} does not fit {}: expected [{times}, {half}] or [{batch}, {times}, {half}], or more times",
                    table.shape(),
                    self.shape(),
                    half = d / 2,
                );
                return Err(self.error(name, ErrorKind::Argument { what }));
            }
            layout.narrow(1, 0, times, name).on(self)
        };
        let (cos_layout, sin_layout) = (angles(cos, "cos")?, angles(sin, "sin")?);
        if self.elements() == 0 {
            // The expanded angles may be too large to count.
            return Ok(None);
        }
        let all = Shape::from([batch, times, d / 2]);
        let stretched = |layout: Layout| layout.expand(&all, name).on(self);
        let (cos, sin) = (stretched(cos_layout)?, stretched(sin_layout)?);
        Ok(Some(Rope { x, cos, sin, interleaved, time_first, name }))
    }
}
