//! Activations that are not rows of the tables of operations.

use super::{CAST_TO_FLOAT, Tensor};
use crate::axis::Axis;
use crate::dtype::DType;
use crate::error::{ErrorKind, On, Result};

/// Activations made of other operations. Floats only; types of 16 and 8 bits are computed in `f32` and rounded once. Each
/// but [`Tensor::swiglu`] moves the tensor once for every operation that it is made of. They fail with
/// [`ErrorKind::UnsupportedDType`] for integers, or with an error of the device.
impl Tensor {
    /// [`Tensor::silu_mul`] of both halves along the last axis: silu(a) · b, where a is the first one. Reads each element once.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// // silu(0) is 0, and silu of a large number is the number.
    /// let x = Tensor::new([[0f32, 100.0, 7.0, 0.5]], &Device::Cpu)?;
    /// assert_eq!(x.swiglu()?.to_vec2::<f32>()?, [[0.0, 50.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Axis`] for a scalar, [`ErrorKind::Argument`] for an axis of odd length, and those above.
    pub fn swiglu(&self) -> Result<Tensor> {
        let name = "swiglu";
        let axis = (-1).resolve(self.shape(), name).on(self)?;
        let length = self.dims()[axis];
        if length % 2 == 1 {
            let what = format!("the last axis of {} has no two halves", self.shape());
            return Err(self.error(name, ErrorKind::Argument { what }));
        }
        self.require(name, self.dtype().is_float(), CAST_TO_FLOAT)?;
        let half = length / 2;
        self.narrow(axis, 0, half)?.silu_mul(&self.narrow(axis, half, half)?)
    }

    /// x · tanh(softplus(x)).
    ///
    /// # Errors
    /// Those above.
    pub fn mish(&self) -> Result<Tensor> {
        self.in_f32("mish", |x| x.softplus()?.tanh()?.mul(x))
    }

    /// (x + 3) / 6, and no less than 0 nor more than 1. NaN propagates.
    ///
    /// # Errors
    /// Those above.
    pub fn hard_sigmoid(&self) -> Result<Tensor> {
        self.in_f32("hard_sigmoid", |x| ((x + 3.0)? / 6.0)?.clamp(0, 1))
    }

    /// `gamma` · x for x > 0, else `gamma` · `alpha` · (eˣ − 1).
    ///
    /// # Errors
    /// Those above.
    pub fn selu(&self, alpha: f64, gamma: f64) -> Result<Tensor> {
        self.in_f32("selu", |x| x.elu(alpha)? * gamma)
    }

    /// `cap` · tanh(x / `cap`): about x for small numbers, and between −`cap` and `cap` for all.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] unless `cap` is finite and greater than 0, and those above.
    pub fn softcap(&self, cap: f64) -> Result<Tensor> {
        self.require_cap(cap, "softcap")?;
        self.in_f32("softcap", |x| (x / cap)?.tanh()? * cap)
    }

    pub(super) fn require_cap(&self, cap: f64, operation: &'static str) -> Result<()> {
        // Other floats are computed in `f32`, which has to have the cap too.
        let cap_there = if self.dtype() == DType::F64 { cap } else { f64::from(cap as f32) };
        if cap_there > 0.0 && cap_there.is_finite() {
            return Ok(());
        }
        let what =
            format!("the cap is {cap}, not a finite number above 0 in the type that it is computed in");
        Err(self.error(operation, ErrorKind::Argument { what }))
    }

    /// `function` of the tensor in `f32`, rounded back, if it has a float type of 16 or 8 bits; otherwise of the tensor.
    fn in_f32(
        &self,
        operation: &'static str,
        function: impl FnOnce(&Tensor) -> Result<Tensor>,
    ) -> Result<Tensor> {
        self.require(operation, self.dtype().is_float(), CAST_TO_FLOAT)?;
        function(&self.widened()?)?.to_dtype(self.dtype())
    }

    /// A float tensor in the type that it is computed in.
    pub(super) fn widened(&self) -> Result<Tensor> {
        if self.dtype() == DType::F64 { self.share() } else { self.to_dtype(DType::F32) }
    }
}
