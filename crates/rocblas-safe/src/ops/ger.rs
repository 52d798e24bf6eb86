//! Rank-1 updates.

use super::check;
use crate::plan::Plan;
use crate::raw::Operand;
use crate::{Blas, Error, Handle, MatrixBatchMut, Result, Scalar, VectorBatch, convert};
use hip_sys::rocblas::rocblas_operation;
use std::ptr::from_ref;

impl Handle {
    /// `a = alpha x yᵀ + a`, without conjugation, for `a` of m x n in any layout.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::BatchCount`], and the errors of a call.
    #[doc(alias = "rocblas_sger")]
    #[doc(alias = "rocblas_dger")]
    #[doc(alias = "rocblas_cgeru")]
    #[doc(alias = "rocblas_zgeru")]
    pub fn ger<'a, T: Blas>(
        &self,
        alpha: impl Into<Scalar<'a, T>>,
        x: impl Into<VectorBatch<'a, T>>,
        y: impl Into<VectorBatch<'a, T>>,
        a: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "ger";
        let (alpha, mut x, mut y, a) = (alpha.into(), x.into(), y.into(), a.into());
        check(OP, "the length of x", x.len(), a.rows())?;
        check(OP, "the length of y", y.len(), a.cols())?;
        if a.stored.flag.transposed {
            (x, y) = (y, x);
        }
        let (m, n) = (convert::size(a.stored.rows), convert::size(a.stored.cols));
        let mut plan = Plan::new(OP);
        let alpha = plan.scalar(&alpha)?;
        plan.read_vector(x)?;
        plan.read_vector(y)?;
        plan.write_matrix(a)?;
        // SAFETY: S2: the operands have these sizes.
        unsafe { plan.submit(self, |call, o| T::ger(call, m, n, alpha, o[0], o[1], o[2])) }
    }

    /// `a = alpha x yᴴ + a`, for `a` of m x n in any layout. Of real numbers it is [`Handle::ger`].
    ///
    /// BLAS can conjugate only the vector that runs along the stored rows, so for a row-major `a` this is a product of matrices with one column and
    /// one row.
    ///
    /// # Errors
    /// As [`Handle::ger`]; [`Error::NotSupported`] if `a` is row-major and complex, and an increment is negative or alpha on the device.
    #[doc(alias = "rocblas_cgerc")]
    #[doc(alias = "rocblas_zgerc")]
    pub fn gerc<'a, T: Blas>(
        &self,
        alpha: impl Into<Scalar<'a, T>>,
        x: impl Into<VectorBatch<'a, T>>,
        y: impl Into<VectorBatch<'a, T>>,
        a: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "gerc";
        let (alpha, x, y, a) = (alpha.into(), x.into(), y.into(), a.into());
        if !T::COMPLEX {
            return self.ger(alpha, x, y, a);
        }
        check(OP, "the length of x", x.len(), a.rows())?;
        check(OP, "the length of y", y.len(), a.cols())?;
        let transposed = a.stored.flag.transposed;
        let is_empty = x.is_empty() || y.is_empty();
        let (m, n) = (convert::size(a.stored.rows), convert::size(a.stored.cols));
        let on_device = matches!(alpha, Scalar::Device(_));
        if transposed && (on_device || x.line.inc < 0 || y.line.inc < 0) {
            let what = "a row-major complex result with a negative increment or alpha on the device";
            return Err(Error::NotSupported { op: OP, what, remedy: "store the result by columns" });
        }
        let mut plan = Plan::new(OP);
        let alpha = plan.scalar(&alpha)?;
        plan.read_vector(x)?;
        plan.read_vector(y)?;
        plan.write_matrix(a)?;
        plan.batch_count()?;
        if is_empty {
            return Ok(());
        }
        if !transposed {
            // SAFETY: S2: the operands have these sizes.
            return unsafe { plan.submit(self, |call, o| T::gerc(call, m, n, alpha, o[0], o[1], o[2])) };
        }
        // As stored: the conjugate of y, as a column, times x, as a row.
        let trans = (
            rocblas_operation::rocblas_operation_conjugate_transpose,
            rocblas_operation::rocblas_operation_none,
        );
        let one = T::ZERO_ONE.1;
        let beta = from_ref(&one).cast();
        // SAFETY: S2: vectors are rows whose elements are an increment apart; the operands have these sizes.
        unsafe {
            plan.submit(self, |call, o: &[Operand]| {
                T::gemm(call, trans, (m, n, 1), alpha, o[1], o[0], beta, o[2])
            })
        }
    }
}
