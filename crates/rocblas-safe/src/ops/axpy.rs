//! Sums of vectors.

use super::check;
use crate::plan::Plan;
use crate::{Element, Handle, Result, Scalar, VectorBatch, VectorBatchMut, convert};

impl Handle {
    /// `y = alpha x + y`. For 16-bit types alpha is `f32`, and each element is computed in `f32` and rounded once.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::BatchCount`](crate::Error::BatchCount), and the errors of a call.
    #[doc(alias = "rocblas_saxpy")]
    #[doc(alias = "rocblas_daxpy")]
    #[doc(alias = "rocblas_caxpy")]
    #[doc(alias = "rocblas_zaxpy")]
    #[doc(alias = "rocblas_axpy_ex")]
    pub fn axpy<'a, T: Element>(
        &self,
        alpha: impl Into<Scalar<'a, T::Scale>>,
        x: impl Into<VectorBatch<'a, T>>,
        y: impl Into<VectorBatchMut<'a, T>>,
    ) -> Result<()> {
        let (alpha, x, y) = (alpha.into(), x.into(), y.into());
        check("axpy", "the length of x", x.len(), y.len())?;
        let n = convert::size(y.len());
        let mut plan = Plan::new("axpy");
        let alpha = plan.scalar(&alpha)?;
        plan.read_vector(x)?;
        plan.write_vector(y)?;
        // SAFETY: S2: the vectors have that many elements.
        unsafe { plan.submit(self, |call, o| T::axpy(call, n, alpha, o[0], o[1])) }
    }
}
