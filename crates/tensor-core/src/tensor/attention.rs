//! Scaled dot product attention.

use super::{CAST_TO_FLOAT, Tensor};
use crate::cpu;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, On, Result};
use crate::hip::{self, ops::quant::Activations};
use crate::layout::Layout;
use crate::plan::attention::{Attention, NAME};
use crate::shape::Shape;
use crate::storage::{Backend, Storage, apart, for_backend_of};

impl Tensor {
    /// Attention: softmax(q kᵀ · scale + mask) v, for each batch and head; `self` is q. Floats only.
    ///
    /// q is `[b, hq, tq, d]`, k is `[b, hk, tk, d]`, v is `[b, hk, tk, dv]`, the result is `[b, hq, tq, dv]`. hq is a
    /// multiple of hk: hq / hk neighbouring heads of q share a head of k and v (grouped queries). `scale` defaults to
    /// 1/√d.
    ///
    /// `mask` broadcasts to `[b, hq, tq, tk]`. A `u8` mask selects the keys where it is not 0. A mask of q's dtype is
    /// added to the scores. `causal` lets query i attend to the keys 0 to i, as PyTorch's `is_causal`: if tq and tk
    /// differ, the first query and the first key are aligned. For decoding with a cache, where the *last* query sees
    /// all keys, give a mask instead, or nothing for a single query. `mask` and `causal` combine. A query that attends
    /// to no key (all masked, or no keys at all) gives 0, as in PyTorch since 2.5. A masked key has weight 0, but its
    /// value may still be multiplied: if it is not finite, the result is NaN.
    ///
    /// Types of 16 and 8 bits are computed in `f32` and rounded once. 16-bit types use matrix units, where the device
    /// has them, from 64 queries and 64 keys on (`bf16`: 256 keys). The weights of `v` are then split into two 16-bit
    /// numbers, with a combined precision of 2⁻¹⁶ (`bf16`) or 2⁻²¹ (`f16`). Strided operands are read in place. The
    /// scores are never stored: a HIP device needs no memory besides the result. Moves q and the result once, and k and
    /// v once for each tile of 64 queries.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// // Equal scores: the mean of the values that the query sees.
    /// let q = Tensor::new([[0f32], [0.0]], &Device::Cpu)?.reshape([1, 1, 2, 1])?;
    /// let v = Tensor::new([[2f32], [4.0]], &Device::Cpu)?.reshape([1, 1, 2, 1])?;
    /// let out = q.scaled_dot_product_attention(&q, &v, None, true, None)?;
    /// assert_eq!(out.flatten()?.to_vec1::<f32>()?, [2.0, 3.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] unless q, k and v have four axes; [`ErrorKind::Argument`] if their lengths do not match;
    /// [`ErrorKind::Expand`] if the mask does not broadcast; [`ErrorKind::DTypeMismatch`],
    /// [`ErrorKind::DeviceMismatch`], [`ErrorKind::UnsupportedDType`] for integers, [`ErrorKind::Overflow`], or an
    /// error of the device.
    #[doc(alias = "sdpa")]
    #[doc(alias = "flash_attention")]
    pub fn scaled_dot_product_attention(
        &self,
        k: &Tensor,
        v: &Tensor,
        mask: Option<&Tensor>,
        causal: bool,
        scale: Option<f64>,
    ) -> Result<Tensor> {
        self.attention_rounding([k, v], mask, causal, scale, None)
    }

    /// As [`Tensor::scaled_dot_product_attention`]. `rounded` is given the result in 8 bits, where a kernel does both.
    pub(crate) fn attention_rounding(
        &self,
        [k, v]: [&Tensor; 2],
        mask: Option<&Tensor>,
        causal: bool,
        scale: Option<f64>,
        rounded: Option<&mut Option<Activations>>,
    ) -> Result<Tensor> {
        let scores = self.scores_of(k, v, NAME)?;
        let mask_layout = mask.map(|mask| self.mask_layout(mask, &scores, NAME)).transpose()?;
        let attention = Attention {
            q: self.layout.clone(),
            k: k.layout.clone(),
            v: v.layout.clone(),
            mask: mask_layout,
            causal,
            scale: scale.unwrap_or(self.usual_scale()),
        };
        let shape = Shape::from(attention.result());
        shape.elements(NAME).on(self)?;
        let storage = match (self.storage(), k.storage(), v.storage()) {
            (Storage::Hip(q), Storage::Hip(k), Storage::Hip(v)) => {
                let mask = self.mask_beside(mask)?;
                hip::ops::attention::attention(q, k, v, mask, &attention, rounded).map(Storage::Hip)
            }
            (Storage::Cpu(q), Storage::Cpu(k), Storage::Cpu(v)) => {
                let mask = self.mask_beside(mask)?;
                cpu::ops::attention::attention(q, k, v, mask, &attention).map(Storage::Cpu)
            }
            (q, k, v) => Err(apart(NAME, &[q, k, v])),
        };
        Tensor::tight(storage.on(self)?, shape, NAME)
    }

    /// The shape `[b, hq, tq, tk]` of the scores, if the operands fit.
    pub(super) fn scores_of(&self, k: &Tensor, v: &Tensor, name: &'static str) -> Result<Shape> {
        for other in [k, v] {
            self.require_alike(other, name)?;
        }
        self.require(name, self.dtype().is_float(), CAST_TO_FLOAT)?;
        for tensor in [self, k, v] {
            if tensor.rank() != 4 {
                return Err(
                    self.error(name, ErrorKind::Rank { shape: tensor.shape().clone(), expected: "4" })
                );
            }
        }
        let (&[batch, heads, queries, d], &[_, kv_heads, keys, _]) = (self.dims(), k.dims()) else {
            unreachable!("the rank is 4")
        };
        if k.dims() != [batch, kv_heads, keys, d] {
            return Err(self.misfit(k, v, "batches and head sizes of q and k must be equal", name));
        }
        if v.dims()[..3] != [batch, kv_heads, keys] {
            return Err(self.misfit(k, v, "batches, heads and lengths of k and v must be equal", name));
        }
        if heads.checked_rem(kv_heads).unwrap_or(heads) != 0 {
            return Err(self.misfit(k, v, "the heads of q must be a multiple of those of k and v", name));
        }
        Ok(Shape::from([batch, heads, queries, keys]))
    }

    /// The layout of a mask for scores of this shape.
    pub(super) fn mask_layout(&self, mask: &Tensor, scores: &Shape, name: &'static str) -> Result<Layout> {
        if mask.dtype() == DType::U8 {
            // A u8 mask goes with any dtype, so only the devices must match.
            self.require_same_device(mask, name)?;
        } else {
            self.require_alike(mask, name)?;
        }
        mask.layout.expand(scores, name).on(self)
    }

    /// 1/√d.
    pub(crate) fn usual_scale(&self) -> f64 {
        // With d = 0 all scores are 0.
        let d = self.dims().last().copied().unwrap_or(1).max(1);
        1.0 / (d as f64).sqrt()
    }

    fn mask_beside<'a, S: Backend>(&self, mask: Option<&'a Tensor>) -> Result<Option<&'a S>> {
        mask.map(|mask| for_backend_of(self.storage(), mask.storage(), NAME)).transpose()
    }

    fn misfit(&self, k: &Tensor, v: &Tensor, rule: &str, name: &'static str) -> Error {
        let what = format!("q {}, k {} and v {} do not fit: {rule}", self.shape(), k.shape(), v.shape());
        self.error(name, ErrorKind::Argument { what })
    }
}
