//! Vectors times a number.

use crate::plan::Plan;
use crate::{Complex, Element, Handle, Result, Scalar, VectorBatchMut, convert};

impl Handle {
    /// `x = alpha x`. For 16-bit types alpha is `f32`, and each element is computed in `f32` and rounded once.
    ///
    /// # Errors
    /// [`Error::BatchCount`](crate::Error::BatchCount), and the errors of a call.
    #[doc(alias = "rocblas_sscal")]
    #[doc(alias = "rocblas_dscal")]
    #[doc(alias = "rocblas_cscal")]
    #[doc(alias = "rocblas_zscal")]
    #[doc(alias = "rocblas_scal_ex")]
    pub fn scal<'a, T: Element>(
        &self,
        alpha: impl Into<Scalar<'a, T::Scale>>,
        x: impl Into<VectorBatchMut<'a, T>>,
    ) -> Result<()> {
        let (alpha, x) = (alpha.into(), x.into().forward());
        let n = convert::size(x.len());
        let mut plan = Plan::new("scal");
        let alpha = plan.scalar(&alpha)?;
        plan.write_vector(x)?;
        // SAFETY: S2: the vector has that many elements.
        unsafe { plan.submit(self, |call, o| T::scal(call, n, alpha, o[0])) }
    }

    /// `x = alpha x`, for complex `x` and real alpha.
    ///
    /// # Errors
    /// As [`Handle::scal`].
    #[doc(alias = "rocblas_csscal")]
    #[doc(alias = "rocblas_zdscal")]
    pub fn scal_real<'a, T: Complex>(
        &self,
        alpha: impl Into<Scalar<'a, T::Real>>,
        x: impl Into<VectorBatchMut<'a, T>>,
    ) -> Result<()> {
        let (alpha, x) = (alpha.into(), x.into().forward());
        let n = convert::size(x.len());
        let mut plan = Plan::new("scal_real");
        let alpha = plan.scalar(&alpha)?;
        plan.write_vector(x)?;
        // SAFETY: S2: the vector has that many elements.
        unsafe { plan.submit(self, |call, o| T::scal_real(call, n, alpha, o[0])) }
    }
}
