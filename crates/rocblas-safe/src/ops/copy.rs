//! Copies and exchanges of vectors.

use super::check;
use crate::plan::Plan;
use crate::{Blas, Handle, Result, VectorBatch, VectorBatchMut, convert};

impl Handle {
    /// `y = x`.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::BatchCount`](crate::Error::BatchCount), and the errors of a call.
    #[doc(alias = "rocblas_scopy")]
    #[doc(alias = "rocblas_dcopy")]
    #[doc(alias = "rocblas_ccopy")]
    #[doc(alias = "rocblas_zcopy")]
    pub fn copy<'a, T: Blas>(
        &self,
        x: impl Into<VectorBatch<'a, T>>,
        y: impl Into<VectorBatchMut<'a, T>>,
    ) -> Result<()> {
        let (x, y) = (x.into(), y.into());
        check("copy", "the length of x", x.len(), y.len())?;
        let n = convert::size(y.len());
        let mut plan = Plan::new("copy");
        plan.read_vector(x)?;
        plan.write_vector(y)?;
        // SAFETY: S2: the vectors have that many elements.
        unsafe { plan.submit(self, |call, o| T::copy(call, n, o[0], o[1])) }
    }

    /// Exchanges the elements of `x` and `y`.
    ///
    /// # Errors
    /// As [`Handle::copy`].
    #[doc(alias = "rocblas_sswap")]
    #[doc(alias = "rocblas_dswap")]
    #[doc(alias = "rocblas_cswap")]
    #[doc(alias = "rocblas_zswap")]
    pub fn swap<'a, T: Blas>(
        &self,
        x: impl Into<VectorBatchMut<'a, T>>,
        y: impl Into<VectorBatchMut<'a, T>>,
    ) -> Result<()> {
        let (x, y) = (x.into(), y.into());
        check("swap", "the length of x", x.len(), y.len())?;
        let n = convert::size(y.len());
        let mut plan = Plan::new("swap");
        plan.write_vector(x)?;
        plan.write_vector(y)?;
        // SAFETY: S2: the vectors have that many elements.
        unsafe { plan.submit(self, |call, o| T::swap(call, n, o[0], o[1])) }
    }
}
