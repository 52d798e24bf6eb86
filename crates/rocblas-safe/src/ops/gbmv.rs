//! Products of a band matrix and a vector.

use super::gemv::scale_only;
use super::{check, operation};
use crate::plan::Plan;
use crate::{BandMatrix, Blas, Handle, Result, Scalar, VectorBatch, VectorBatchMut, convert};

impl Handle {
    /// `y = alpha a x + beta y`, for a band matrix `a` in any layout, transposed (`t()`) or conjugate transposed (`h()`).
    ///
    /// If beta is 0, `y` is not read. If `a` has no columns, `y` is scaled by beta.
    ///
    /// # Errors
    /// As [`Handle::gemv`].
    #[doc(alias = "rocblas_sgbmv")]
    #[doc(alias = "rocblas_dgbmv")]
    #[doc(alias = "rocblas_cgbmv")]
    #[doc(alias = "rocblas_zgbmv")]
    pub fn gbmv<'a, T: Blas>(
        &self,
        alpha: impl Into<Scalar<'a, T>>,
        a: BandMatrix<'a, T>,
        x: impl Into<VectorBatch<'a, T>>,
        beta: impl Into<Scalar<'a, T>>,
        y: impl Into<VectorBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "gbmv";
        let (alpha, x, beta, y) = (alpha.into(), x.into(), beta.into(), y.into());
        check(OP, "the length of x", x.len(), a.cols())?;
        check(OP, "the length of y", y.len(), a.rows())?;
        let trans = operation(OP, a.flag)?;
        let size = (convert::size(a.rows), convert::size(a.cols));
        let widths = (convert::size(a.kl), convert::size(a.ku));
        let (len, no_columns) = (convert::size(y.len()), x.is_empty());
        let mut plan = Plan::new(OP);
        let (alpha, beta) = (plan.scalar(&alpha)?, plan.scalar(&beta)?);
        plan.read(convert::size(a.ld), a.storage)?;
        plan.read_vector(x)?;
        plan.write_vector(y)?;
        if no_columns {
            // SAFETY: S2: y has that many elements.
            return unsafe { scale_only::<T>(self, plan, (alpha, beta), len) };
        }
        // SAFETY: S2: the operands have these sizes.
        unsafe {
            plan.submit(self, |call, o| T::gbmv(call, trans, size, widths, alpha, o[0], o[1], beta, o[2]))
        }
    }
}
