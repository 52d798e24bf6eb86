//! Products with a symmetric matrix.

use super::symmetric::symmetric;
use super::{align, check_matrix};
use crate::plan::Plan;
use crate::{Blas, Handle, MatrixBatch, MatrixBatchMut, Result, Scalar, Side, Triangle, convert};

impl Handle {
    /// `c = alpha a b + beta c` ([`Side::Left`]) or `c = alpha b a + beta c` ([`Side::Right`]), for a symmetric `a` (also where numbers are complex)
    /// of which one triangle is read, and `b` and `c` of m x n.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::BatchCount`](crate::Error::BatchCount), and the errors of a call;
    /// [`Error::NotSupported`](crate::Error::NotSupported) if `b` is not stored in the layout of `c`, or if an input is conjugated.
    #[doc(alias = "rocblas_ssymm")]
    #[doc(alias = "rocblas_dsymm")]
    #[doc(alias = "rocblas_csymm")]
    #[doc(alias = "rocblas_zsymm")]
    #[allow(clippy::too_many_arguments)]
    pub fn symm<'a, T: Blas>(
        &self,
        side: Side,
        triangle: Triangle,
        alpha: impl Into<Scalar<'a, T>>,
        a: impl Into<MatrixBatch<'a, T>>,
        b: impl Into<MatrixBatch<'a, T>>,
        beta: impl Into<Scalar<'a, T>>,
        c: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "symm";
        let (alpha, a, mut b, beta, mut c) = (alpha.into(), a.into(), b.into(), beta.into(), c.into());
        let order = if side == Side::Left { c.rows() } else { c.cols() };
        check_matrix(OP, "a", a.stored, order, order)?;
        check_matrix(OP, "b", b.stored, c.rows(), c.cols())?;
        (b.stored, c.stored) = align(OP, b.stored, c.stored)?;
        let side_fill =
            (convert::side(side.flip_if(c.stored.flag.transposed)), symmetric(OP, a.stored, triangle)?);
        let (m, n) = (c.stored.rows, c.stored.cols);
        let mut plan = Plan::new(OP);
        let (alpha, beta) = (plan.scalar(&alpha)?, plan.scalar(&beta)?);
        plan.read_matrix(a)?;
        plan.read_matrix(b)?;
        plan.write_matrix(c)?;
        plan.batch_count()?;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let size = (convert::size(m), convert::size(n));
        // SAFETY: S2: the operands have these sizes.
        unsafe { plan.submit(self, |call, o| T::symm(call, side_fill, size, alpha, o[0], o[1], beta, o[2])) }
    }
}
