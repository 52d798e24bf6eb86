//! Scaled dot product attention with capped scores.

use super::Tensor;
use crate::dtype::DType;
use crate::error::Result;

const NAME: &str = "scaled_dot_product_attention_capped";

impl Tensor {
    /// [`Tensor::scaled_dot_product_attention`] whose scores are capped as by [`Tensor::softcap`] before the mask is added:
    /// softmax(`cap` · tanh(q kᵀ · scale / `cap`) + mask) v.
    ///
    /// It is made of other operations, and stores the scores `[b, hq, tq, tk]` in `f32` (`f64` for `f64`) a few times. Types of
    /// 16 and 8 bits are computed in `f32` and rounded once.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// // Scores of 0 and 1000 count as 0 and ln 3.
    /// let q = Tensor::new([1000f32], &Device::Cpu)?.reshape((1, 1, 1, 1))?;
    /// let k = Tensor::new([0f32, 1.0], &Device::Cpu)?.reshape((1, 1, 2, 1))?;
    /// let out = q.scaled_dot_product_attention_capped(&k, &k, None, false, None, 3f64.ln())?;
    /// assert!((out.flatten()?.to_vec1::<f32>()?[0] - 0.75).abs() < 1e-6);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::scaled_dot_product_attention`], and [`ErrorKind::Argument`](crate::ErrorKind::Argument) unless `cap` is
    /// finite and greater than 0.
    #[doc(alias = "softcapping")]
    pub fn scaled_dot_product_attention_capped(
        &self,
        k: &Tensor,
        v: &Tensor,
        mask: Option<&Tensor>,
        causal: bool,
        scale: Option<f64>,
        cap: f64,
    ) -> Result<Tensor> {
        self.require_cap(cap, NAME)?;
        let shape = self.scores_of(k, v, NAME)?;
        let mask = mask.map(|mask| mask.with_layout(self.mask_layout(mask, &shape, NAME)?)).transpose()?;
        let (&[batch, heads, queries, d], &[_, kv_heads, keys, dv]) = (self.dims(), v.dims()) else {
            unreachable!("the rank is 4")
        };
        if shape.elements(NAME)? == 0 {
            return Tensor::zeros([batch, heads, queries, dv], self.dtype(), &self.device());
        }
        // The queries of neighbouring heads that share a head of k and v are rows of one product.
        let shared = heads / kv_heads * queries;
        let q = self.widened()?.reshape([batch, kv_heads, shared, d])?;
        let products = q.matmul(&k.widened()?.t()?)?.reshape(&shape)?;
        let factor = scale.unwrap_or(self.usual_scale()) / cap;
        let mut scores = (products.affine(factor, 0)?.tanh()? * cap)?;
        if let Some(mask) = mask {
            scores = match mask.dtype() {
                DType::U8 => scores.without(&(mask.eq(&mask.zeros_like()?))?)?,
                _ => scores.add(&mask.widened()?)?,
            };
        }
        if causal {
            let later = Tensor::ones((), DType::U8, &self.device())?.expand([queries, keys])?.triu(1)?;
            scores = scores.without(&later)?;
        }
        // A row without any key would become NaN.
        let alone = scores.max_keepdim(-1)?;
        let alone = alone.eq(&Tensor::full(f64::NEG_INFINITY, (), scores.dtype(), &self.device())?)?;
        let weights = scores.softmax(-1)?.masked_fill(&alone, 0)?;
        let weights = weights.reshape([batch, kv_heads, shared, keys])?;
        weights.matmul(&v.widened()?)?.reshape([batch, heads, queries, dv])?.to_dtype(self.dtype())
    }

    /// Scores with −∞ where the mask is not 0.
    fn without(&self, mask: &Tensor) -> Result<Tensor> {
        self.masked_fill(mask, f64::NEG_INFINITY)
    }
}
