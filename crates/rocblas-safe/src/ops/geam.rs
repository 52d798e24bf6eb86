//! Sums of matrices: also the way to transpose or to copy one.

use super::{check_matrix, expressible, operation};
use crate::flag::Flag;
use crate::plan::Plan;
use crate::{Blas, Handle, MatrixBatch, MatrixBatchMut, Result, Scalar, convert};

impl Handle {
    /// `c = alpha a + beta b`, all of m x n, each in any layout, transposed (`t()`) or conjugate transposed (`h()`). If alpha or beta is 0, its matrix is
    /// not read.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::BatchCount`](crate::Error::BatchCount), and the errors of a call;
    /// [`Error::NotSupported`](crate::Error::NotSupported) for an operand that would have to be conjugated and not transposed.
    #[doc(alias = "rocblas_sgeam")]
    #[doc(alias = "rocblas_dgeam")]
    #[doc(alias = "rocblas_cgeam")]
    #[doc(alias = "rocblas_zgeam")]
    pub fn geam<'a, T: Blas>(
        &self,
        alpha: impl Into<Scalar<'a, T>>,
        a: impl Into<MatrixBatch<'a, T>>,
        beta: impl Into<Scalar<'a, T>>,
        b: impl Into<MatrixBatch<'a, T>>,
        c: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "geam";
        let (alpha, mut a, beta, mut b, mut c) = (alpha.into(), a.into(), beta.into(), b.into(), c.into());
        check_matrix(OP, "a", a.stored, c.rows(), c.cols())?;
        check_matrix(OP, "b", b.stored, c.rows(), c.cols())?;
        (c.stored, [a.stored, b.stored]) = expressible(c.stored, [a.stored, b.stored]);
        let transposed = c.stored.flag.transposed;
        let trans =
            (operation(OP, a.stored.flag.t_if(transposed))?, operation(OP, b.stored.flag.t_if(transposed))?);
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
        unsafe { plan.submit(self, |call, o| T::geam(call, trans, size, alpha, o[0], beta, o[1], o[2])) }
    }

    /// `c = alpha a + beta c`: [`Handle::geam`] in place.
    ///
    /// # Errors
    /// As there.
    pub fn geam_in_place<'a, T: Blas>(
        &self,
        alpha: impl Into<Scalar<'a, T>>,
        a: impl Into<MatrixBatch<'a, T>>,
        beta: impl Into<Scalar<'a, T>>,
        c: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "geam";
        let (alpha, mut a, beta, mut c) = (alpha.into(), a.into(), beta.into(), c.into());
        check_matrix(OP, "a", a.stored, c.rows(), c.cols())?;
        (c.stored, [a.stored]) = expressible(c.stored, [a.stored]);
        let trans =
            (operation(OP, a.stored.flag.t_if(c.stored.flag.transposed))?, operation(OP, Flag::NONE)?);
        let (m, n) = (c.stored.rows, c.stored.cols);
        let mut plan = Plan::new(OP);
        let (alpha, beta) = (plan.scalar(&alpha)?, plan.scalar(&beta)?);
        plan.read_matrix(a)?;
        plan.write_matrix(c)?;
        plan.batch_count()?;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let size = (convert::size(m), convert::size(n));
        // SAFETY: S2: the operands have these sizes; the function works in place on what is not transposed.
        unsafe { plan.submit(self, |call, o| T::geam(call, trans, size, alpha, o[0], beta, o[1], o[1])) }
    }
}
